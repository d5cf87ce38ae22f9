//! The board: what waits, counted and listed.

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde::Deserialize;

use super::super::{
    chip::{Chip, span},
    desk::Desk,
    extract::Query,
    live::Mark,
    page::{Shell, When, Zone, filters, render, words},
    people::{StaffSeat, zone},
    problem::Problem,
};
use crate::{
    domain::{
        id::{TaskId, Timestamp},
        order::Stop,
        refusal::Lang,
        task::{Stage, StateName},
    },
    store::{self, Card, Counts, Listing, Span, Tx},
};

/// Tasks on one page.
const PAGE: i64 = 50;
/// "Lately" on the board, in milliseconds: 15 minutes.
const LATELY_MS: i64 = 15 * 60_000;
/// An offer is about to lapse from here on, in milliseconds: 10 seconds.
const SOON_MS: i64 = 10_000;
/// The page can come anew by itself, after so many seconds.
const EVERY: [u32; 3] = [5, 15, 60];

/// What a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Show {
    name: &'static str,
    lists: &'static [(StateName, Option<Stage>)],
    latest_first: bool,
}

const SHOWS: [Show; 6] = [
    Show { name: "open", lists: &[(StateName::Open, None)], latest_first: false },
    Show { name: "offered", lists: &[(StateName::Offered, None)], latest_first: false },
    Show {
        name: "assigned",
        lists: &[
            (StateName::Assigned, Some(Stage::Waiting)),
            (StateName::Assigned, Some(Stage::AtPickup)),
        ],
        latest_first: false,
    },
    Show {
        name: "picked_up",
        lists: &[(StateName::Assigned, Some(Stage::PickedUp))],
        latest_first: false,
    },
    Show {
        name: "delivered",
        lists: &[(StateName::Assigned, Some(Stage::Delivered))],
        latest_first: true,
    },
    Show { name: "cancelled", lists: &[(StateName::Cancelled, None)], latest_first: true },
];

struct Tab {
    name: &'static str,
    count: i64,
    current: bool,
    /// How many of them are about to lapse.
    soon: i64,
}

struct Row {
    id: TaskId,
    chip: Chip,
    age: String,
    pickup: String,
    dropoff: String,
    due: Option<When>,
    late: bool,
    rider: Option<String>,
    until: Option<When>,
    revision: i64,
    region: String,
}

#[derive(Template)]
#[template(path = "console/board.html")]
struct Page {
    shell: Shell,
    tabs: Vec<Tab>,
    counts: Counts,
    refused: String,
    show: &'static str,
    rows: Vec<Row>,
    next: Option<TaskId>,
    is_first: bool,
    many_regions: bool,
    every: Option<u32>,
    choices: [u32; 3],
}

/// Which list, from where on, and how often anew.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    show: Option<String>,
    beyond: Option<i64>,
    every: Option<u32>,
}

/// The board.
pub(super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let zone = zone(&regions, now);
    let show = SHOWS.iter().find(|show| asked.show.as_deref() == Some(show.name));
    let show = show.unwrap_or(&SHOWS[0]);
    let today = regions.iter().map(|found| found.region.day_start(now)).min().unwrap_or(now);
    let when = Span { today, lately: now.plus_ms(-LATELY_MS), soon: now.plus_ms(SOON_MS) };
    let counts = tx.counts(&seat.caller.regions, &when).await.map_err(failed)?;
    let (cards, next) =
        list(&mut tx, &seat.caller.regions, show, asked.beyond).await.map_err(failed)?;
    let (number, _) = tx.head().await.map_err(failed)?;
    let name = |card: &Card| {
        let found = regions.iter().find(|found| found.region.id == card.task.region);
        found.map_or_else(String::new, |found| found.name.clone())
    };
    let rows = cards.iter().map(|card| row(card, name(card), zone, now, seat.lang())).collect();
    let every = asked.every.filter(|every| EVERY.contains(every));
    let page = Page {
        shell: Shell {
            live: Some(Mark::console("board", number, None)),
            ..seat.shell(&desk, &regions, zone)
        },
        tabs: tabs(&counts, show),
        counts,
        refused: if counts.refused >= Counts::MOST_REFUSED {
            format!("{}+", counts.refused)
        } else {
            counts.refused.to_string()
        },
        show: show.name,
        rows,
        next,
        is_first: asked.beyond.is_none(),
        many_regions: regions.len() > 1,
        every,
        choices: EVERY,
    };
    let mut response = render(&page, seat.lang(), StatusCode::OK);
    if let Some(Ok(every)) = every.map(|every| HeaderValue::from_str(&every.to_string())) {
        // Works in every browser without a script; the page has a link to end it.
        response.headers_mut().insert(header::REFRESH, every);
    }
    Ok(response)
}

fn tabs(counts: &Counts, show: &Show) -> Vec<Tab> {
    let figures = [
        counts.open,
        counts.offered,
        counts.assigned,
        counts.picked_up,
        counts.delivered,
        counts.cancelled,
    ];
    let tab = |(of, count): (&Show, i64)| Tab {
        name: of.name,
        count,
        current: of == show,
        soon: if of.name == "offered" { counts.expiring } else { 0 },
    };
    SHOWS.iter().zip(figures).map(tab).collect()
}

/// A page of a list, and where the next one starts.
async fn list(
    tx: &mut Tx,
    regions: &[crate::domain::id::RegionId],
    show: &Show,
    beyond: Option<i64>,
) -> store::Result<(Vec<Card>, Option<TaskId>)> {
    let latest_first = show.latest_first;
    let start = if latest_first { i64::MAX } else { 0 };
    let beyond = TaskId(beyond.unwrap_or(start));
    let mut cards = Vec::new();
    for (state, stage) in show.lists {
        let (state, stage, limit) = (*state, *stage, PAGE + 1);
        let listing = Listing { regions, state, stage, beyond, latest_first, limit };
        cards.extend(tx.listed(&listing).await?);
    }
    cards.sort_by_key(|card| card.task.id);
    if latest_first {
        cards.reverse();
    }
    let most = usize::try_from(PAGE).unwrap_or_default();
    let more = cards.len() > most;
    cards.truncate(most);
    let next = cards.last().filter(|_| more).map(|card| card.task.id);
    Ok((cards, next))
}

fn row(card: &Card, region: String, zone: Zone, now: Timestamp, lang: Lang) -> Row {
    let rider = card.task.state.rider();
    let address = |stop: &Stop| match card.detail.erased_at {
        Some(_) => words(lang, "address-erased", &[]),
        None => stop.address.clone(),
    };
    Row {
        id: card.task.id,
        chip: Chip::of(&card.task, now, lang),
        age: span(now.ms_since(card.task.changed_at)),
        pickup: address(&card.detail.pickup),
        dropoff: address(&card.detail.dropoff),
        due: card.detail.due_at.map(|at| zone.when(at)),
        late: !card.task.is_over() && card.detail.due_at.is_some_and(|due| now > due),
        rider: rider.map(|id| match &card.rider_name {
            Some(name) => format!("{name} ({id})"),
            None => id.to_string(),
        }),
        until: card.task.state.offer_until().map(|at| zone.when(at)),
        revision: card.task.revision.0,
        region,
    }
}
