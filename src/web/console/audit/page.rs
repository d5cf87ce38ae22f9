//! A page of what an auditor has found.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    super::super::{
        desk::Desk,
        extract::Query,
        forms::Wrong,
        pace,
        page::{Shell, When, filters, render, words},
        people::{StaffSeat, zone},
        problem::Problem,
    },
    filter::{ACTORS, Asked, NO_REGION, Reach, SHOWS, link},
    row::{self, Row, Writer},
};
use crate::{
    domain::{
        admin::AdminAction,
        command::Verb,
        id::Timestamp,
        refusal::{Code, Lang},
    },
    engine::housekeeping::ANSWERS_MS,
    store::{self, Found, Place},
};

/// Rows on a page.
const PAGE: usize = 50;
/// Rows are counted up to here: whoever has more narrows the search down.
const MOST: usize = 1_000;

/// What the log is sealed up to.
struct Sealed {
    head: String,
    event: i64,
    attempt: i64,
    at: When,
}

struct Tab {
    name: &'static str,
    query: String,
    current: bool,
}

#[derive(Template)]
#[template(path = "console/audit.html")]
struct Page {
    shell: Shell,
    asked: Asked,
    show: &'static str,
    wrong: Option<Wrong>,
    tabs: Vec<Tab>,
    regions: Vec<(String, String)>,
    /// For whoever may read what belongs to none.
    no_region: Option<&'static str>,
    actors: [&'static str; 5],
    whats: Vec<String>,
    rows: Vec<Row>,
    /// How many were found, and which page this is.
    count: String,
    /// How far back it has looked, if it gave up.
    until: Option<When>,
    query: String,
    next: Option<String>,
    following: u32,
    is_first: bool,
    is_narrow: bool,
    sealed: Option<Sealed>,
    answer_days: i64,
}

impl Page {
    fn is_wrong(&self, field: &str) -> bool {
        self.wrong.is_some_and(|wrong| wrong.field == field)
    }
}

/// The page.
pub(in super::super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    pace::search(&desk, &seat)?;
    let lang = seat.lang();
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let reach = Reach::of(&seat, &mut tx, now).await.map_err(failed)?;
    let zone = zone(&regions, now);
    let searched = asked
        .search(&reach, zone)
        .and_then(|search| asked.start(&search).map(|start| (search, start)));
    let (mut found, mut count, mut wrong) = (Found::default(), String::new(), None);
    match searched {
        Ok((search, start)) => {
            let first = Place::start_of(search.until);
            let all = tx.search(&search, first, MOST + 1).await.map_err(failed)?;
            count = counted(&all, asked.page(), lang);
            found = tx.search(&search, start, PAGE).await.map_err(failed)?;
        }
        Err(unusable) => wrong = Some(unusable),
    }
    let names = row::names(&mut tx, &found.entries).await.map_err(failed)?;
    let sealed = tx.last_seal().await.map_err(failed)?.map(|last| Sealed {
        head: last.head().to_string(),
        event: last.events.last,
        attempt: last.attempts.last,
        at: zone.when(last.at),
    });
    tx.rollback().await.map_err(failed)?;
    let writer = Writer { names: &names, regions: &regions, zone, lang };
    let show = asked.shown();
    let tab = |name| Tab { name, query: asked.query(name), current: name == show };
    let gave_up = found.next.filter(|_| found.entries.len() < PAGE);
    let shown = Page {
        shell: seat.shell(&desk, &regions, zone),
        show,
        wrong,
        tabs: SHOWS.into_iter().map(tab).collect(),
        regions: regions
            .iter()
            .map(|found| (found.region.id.to_string(), found.name.clone()))
            .collect(),
        no_region: reach.every.then_some(NO_REGION),
        actors: ACTORS,
        whats: whats(),
        rows: found.entries.iter().map(|entry| writer.row(entry)).collect(),
        count,
        until: gave_up.map(|place| zone.when(Timestamp(place.at))),
        query: asked.query(show),
        next: found.next.map(link),
        following: asked.page().saturating_add(1),
        is_first: asked.page() == 1,
        is_narrow: asked.is_narrow(),
        sealed,
        answer_days: ANSWERS_MS / 86_400_000,
        asked,
    };
    let status =
        if shown.wrong.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(render(&shown, lang, status))
}

/// What can be looked for: what is done to tasks and to the desk, and the codes of answers.
fn whats() -> Vec<String> {
    let verbs = Verb::ALL.iter().map(ToString::to_string);
    let admin = AdminAction::ALL.iter().map(ToString::to_string);
    let codes = Code::ALL.iter().map(ToString::to_string);
    verbs.chain(admin).chain(codes).chain(["done".to_owned()]).collect()
}

/// How many were found, as far as they were counted, and which page of how many it is.
fn counted(all: &Found, page: u32, lang: Lang) -> String {
    let (page, count) = (page.to_string(), all.entries.len());
    let pages = count.div_ceil(PAGE).max(1).to_string();
    if count > MOST {
        let most = MOST.to_string();
        words(lang, "audit-count-many", &[("count", &most), ("page", &page)])
    } else if all.next.is_some() {
        words(lang, "audit-count-some", &[("count", &count.to_string()), ("page", &page)])
    } else {
        let count = count.to_string();
        words(lang, "audit-count", &[("count", &count), ("page", &page), ("pages", &pages)])
    }
}
