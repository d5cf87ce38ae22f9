//! Who would be asked, before anything is sent: the order with its reasons, and why not the others.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{
    super::{
        answer_page::name_of,
        chip::{Chip, distance},
        desk::Desk,
        extract::{Query, TaskPath},
        page::{Shell, filters, render, words},
        people::{StaffSeat, zone},
        problem::{Problem, ProblemCode},
    },
    reasons::why,
};
use crate::{
    domain::{id::TaskId, round, task::StateName},
    engine::rounds::Options,
    store,
};

/// Another circle, batch or length.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    radius_m: String,
    #[serde(default)]
    batch: String,
    #[serde(default)]
    seconds: String,
}

/// A rider who would be asked.
struct Line {
    rank: u32,
    id: String,
    rider: String,
    distance: Option<String>,
    why: String,
    /// The key of the form that offers it to this rider alone.
    key: String,
}

#[derive(Template)]
#[template(path = "console/candidates.html")]
struct Page {
    shell: Shell,
    id: TaskId,
    chip: Chip,
    revision: i64,
    radius: Option<String>,
    /// The options, as they hold, or as they were typed if something is wrong with them.
    radius_m: String,
    batch: String,
    seconds: String,
    count: usize,
    lines: Vec<Line>,
    left_out: Vec<(String, String, Option<String>)>,
    farther: u32,
    /// The key of the form that sends it; none if it can not be sent.
    send: Option<String>,
    may_offer: bool,
    /// What can not be so among what was typed.
    wrong: Option<&'static str>,
}

impl Page {
    fn is_wrong(&self, field: &str) -> bool {
        self.wrong == Some(field)
    }
}

fn number(text: &str, field: &'static str) -> Result<Option<u32>, &'static str> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| field),
    }
}

fn options(asked: &Asked) -> Result<Options, &'static str> {
    let options = Options {
        radius_m: number(&asked.radius_m, "radius_m")?,
        batch: number(&asked.batch, "batch")?,
        seconds: number(&asked.seconds, "seconds")?,
    };
    options.wrong().map_or(Ok(options), Err)
}

/// The page.
pub(super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TaskPath(id): TaskPath,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let lang = seat.lang();
    let failed = |error: store::Error| Problem::read(&error, lang);
    let missing = || Problem::new(ProblemCode::NotFound, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let task = tx.task(id).await.map_err(failed)?.ok_or_else(missing)?;
    let region = regions.iter().find(|found| found.region.id == task.region);
    let region = region.ok_or_else(missing)?;
    let (options, wrong) = match options(&asked) {
        Ok(options) => (options, None),
        Err(field) => (Options::default(), Some(field)),
    };
    let preview = desk.rounds().preview(id, options).await.map_err(failed)?.ok_or_else(missing)?;
    let ranking = &preview.looked.ranking;
    let riders = ranking.candidates.iter().map(|one| one.rider);
    let riders: Vec<_> = riders.chain(ranking.left_out.iter().map(|(rider, ..)| *rider)).collect();
    let names = tx.names(&riders, &[]).await.map_err(failed)?;
    let zone = zone(std::slice::from_ref(region), now);
    let key = || format!("page-{}", desk.token().unwrap_or_default());
    let far = |metres: u32| distance(f64::from(metres));
    let lines = ranking.candidates.iter().map(|one| Line {
        rank: one.rank,
        id: one.rider.to_string(),
        rider: name_of(&one.rider.to_string(), &names, lang),
        distance: one.factors.distance_m.map(far),
        why: why(&one.factors, lang),
        key: key(),
    });
    let left_out = ranking.left_out.iter().map(|(rider, reason, metres)| {
        let name = name_of(&rider.to_string(), &names, lang);
        (name, words(lang, &format!("left-out-{reason}"), &[]), metres.map(far))
    });
    let open = preview.task.state.name() == StateName::Open && preview.task.release_at <= now;
    let may = seat.may(round::AS);
    let radius_m = preview.looked.radius_m.map(|metres| metres.to_string());
    let holding =
        (radius_m.unwrap_or_default(), preview.batch.to_string(), preview.seconds.to_string());
    let (radius_m, batch, seconds) =
        if wrong.is_some() { (asked.radius_m, asked.batch, asked.seconds) } else { holding };
    let page = Page {
        shell: seat.shell(&desk, std::slice::from_ref(region), zone),
        id,
        chip: Chip::of(&preview.task, now, lang),
        revision: preview.task.revision.0,
        radius: preview.looked.radius_m.map(far),
        radius_m,
        batch,
        seconds,
        count: ranking.candidates.len(),
        lines: lines.collect(),
        left_out: left_out.collect(),
        farther: preview.looked.farther,
        send: (open && may && wrong.is_none()).then(key),
        may_offer: open && may,
        wrong,
    };
    let status = if wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(render(&page, lang, status))
}
