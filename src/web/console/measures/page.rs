//! The page: a region, a while, and the figures.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    super::super::{
        desk::Desk,
        extract::Query,
        page::{Shell, filters, render},
        people::{StaffSeat, zone},
        problem::{Problem, ProblemCode},
    },
    figures::{Chart, Figure, charts, of_node, of_window},
};
use crate::{
    domain::id::RegionId,
    store::{self, Measures, Window},
};

/// How long a while may be, in hours; the first one is shown if none is chosen.
const HOURS: [i64; 3] = [24, 1, 168];

/// What was chosen.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct Asked {
    region: String,
    hours: String,
}

#[derive(Template)]
#[template(path = "console/measures.html")]
struct Page {
    shell: Shell,
    regions: Vec<(String, String)>,
    region: String,
    hours: i64,
    choices: [i64; 3],
    /// What is shown as one table each: the key of its title, and its figures.
    parts: [(&'static str, Vec<Figure>); 2],
    charts: Vec<Chart>,
    /// How many tasks were created, if there were more than are looked at.
    most: Option<i64>,
}

/// The figures of a region of the reader's.
pub(in super::super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let region = match asked.region.as_str() {
        "" => regions.first().map(|found| found.region.id),
        text => {
            let found = RegionId::parse(text).filter(|id| seat.caller.regions.contains(id));
            Some(found.ok_or_else(|| Problem::new(ProblemCode::NotFound, seat.lang()))?)
        }
    };
    let chosen = asked.hours.parse().ok().filter(|hours| HOURS.contains(hours));
    let hours = chosen.unwrap_or(HOURS[0]);
    let measures = match region {
        Some(region) => {
            // What happens at this very moment counts, too.
            let (from, until) = (now.plus_ms(-hours * 3_600_000), now.plus_ms(1));
            let window = Window { region, from, until };
            tx.measures(window).await.map_err(failed)?
        }
        None => Measures::default(),
    };
    tx.rollback().await.map_err(failed)?;
    let is_cut = i64::try_from(measures.waited_ms.len()) == Ok(Measures::MOST_WAITED);
    let shown = Page {
        shell: seat.shell(&desk, &regions, zone(&regions, now)),
        regions: regions
            .iter()
            .map(|found| (found.region.id.to_string(), found.name.clone()))
            .collect(),
        region: region.map(|id| id.to_string()).unwrap_or_default(),
        hours,
        choices: [1, 24, 168],
        parts: [
            ("measures-of-window", of_window(&measures, hours * 60)),
            ("measures-of-node", of_node(&desk.executor().meters().read(), desk.hub().figures())),
        ],
        charts: charts(&measures),
        most: is_cut.then_some(Measures::MOST_WAITED),
    };
    Ok(render(&shown, seat.lang(), StatusCode::OK))
}
