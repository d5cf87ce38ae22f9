//! The customer's page: one line of truth and a time, behind an unguessable link.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use serde::Deserialize;

mod steps;

use self::steps::{Step, steps};
use super::{
    answer_page::{self, Banner},
    desk::Desk,
    extract::{Form, Query, TokenPath},
    forms::{self, Typed},
    live::{self, Mark},
    pace,
    page::{Shell, Taste, When, Zone, encode, filters, render, words},
    problem::{Problem, ProblemCode},
    trouble::Trouble,
};
use crate::{
    domain::{
        answer::Answer,
        command::{Actor, Command, Role, Verb, What},
        id::{RiderId, StaffId, TaskId, Timestamp},
        legal::legal,
        task::{Stage, StateName},
    },
    store::{self, Card, NamedRegion, Names},
};

/// The page comes anew by itself after so many seconds.
const EVERY: u32 = 20;

/// The routes of customers.
pub(super) fn router() -> Router<Desk> {
    Router::new()
        .route("/t/{token}", get(page))
        .route("/t/{token}/stream", get(live::pages::customer))
        .route("/t/{token}/cancel", post(cancel))
}

#[derive(Template)]
#[template(path = "track/task.html")]
struct Page {
    shell: Shell,
    token: String,
    id: TaskId,
    revision: i64,
    /// `track-…`: the one line of truth.
    line: &'static str,
    since: When,
    rider: Option<String>,
    dropoff: String,
    due: Option<When>,
    steps: Vec<Step>,
    banner: Option<Banner>,
    trouble: Option<Trouble>,
    /// The key of the form that cancels; none if it can not be cancelled any more.
    cancel: Option<String>,
    reasons: &'static [&'static str],
    /// The reason that was chosen before.
    chosen: String,
}

/// Whose answer is to be shown.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    answer: Option<String>,
    /// What was chosen before, so that it need not be chosen again.
    #[serde(default)]
    reason: String,
}

async fn page(
    State(desk): State<Desk>,
    taste: Taste,
    TokenPath(token): TokenPath,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    show(&desk, &taste, token, asked, None, StatusCode::OK).await
}

async fn show(
    desk: &Desk,
    taste: &Taste,
    token: String,
    asked: Asked,
    trouble: Option<Trouble>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let page = read(desk, taste, token, asked, trouble).await;
    let page = page.map_err(|error| Problem::read(&error, taste.lang))?;
    let page = page.ok_or_else(|| Problem::new(ProblemCode::NotFound, taste.lang))?;
    let mut response = render(&page, taste.lang, status);
    // The link is a secret: it is not to be found by searching.
    let robots = HeaderValue::from_static("noindex, nofollow");
    response.headers_mut().insert("x-robots-tag", robots);
    Ok(response)
}

async fn read(
    desk: &Desk,
    taste: &Taste,
    token: String,
    asked: Asked,
    trouble: Option<Trouble>,
) -> store::Result<Option<Page>> {
    let lang = taste.lang;
    let mut tx = desk.db().read().await?;
    let Some(card) = tx.card_tracked(&token).await? else { return Ok(None) };
    let now = tx.now().await?;
    let regions = tx.regions(now).await?;
    let region = regions.iter().find(|found| found.region.id == card.task.region);
    let zone = Zone { zone: region.map_or(chrono_tz::UTC, |found| found.region.time_zone), now };
    let customer = Actor::Customer(card.task.id);
    let answer = match &asked.answer {
        Some(key) => answer_page::stored(&mut tx, &customer, key).await?,
        None => None,
    };
    let events = tx.events_of(card.task.id).await?;
    let at = |action: Verb| {
        let last = events.iter().rev().find(|event| event.action == action.as_str());
        last.map(|event| zone.when(Timestamp(event.occurred_at)))
    };
    let asking = Asking::of(&mut tx, card.task.id).await?;
    let owned = card.task.state.stage().is_some();
    let can = can(&card, &customer, region, now);
    let (number, _) = tx.head().await?;
    // What was sent by a form can not be asked for again; an answer stays until it was read.
    let mark = trouble.is_none().then(|| Mark {
        kind: "track",
        stream: format!("/t/{token}/stream"),
        number,
        task: None,
        poll_s: if asked.answer.is_none() { EVERY } else { 0 },
        sounds: false,
    });
    Ok(Some(Page {
        shell: Shell { live: mark, ..Shell::new(desk, taste, zone) },
        id: card.task.id,
        revision: card.task.revision.0,
        line: line(&card, asking, now),
        since: zone.when(card.task.changed_at),
        // An invitation is not ownership: the customer sees nobody until somebody has accepted.
        rider: card.rider_name.clone().filter(|_| owned),
        dropoff: card.detail.dropoff.address.clone(),
        due: card.detail.due_at.map(|at| zone.when(at)),
        steps: steps(&card, &at),
        banner: answer
            .map(for_customers)
            .map(|answer| Banner::of(&answer, Some(Verb::Cancel), &Names::default(), zone, lang)),
        trouble,
        cancel: can
            .contains(&Verb::Cancel)
            .then(|| format!("page-{}", desk.token().unwrap_or_default())),
        reasons: &["customer_request", "wrong_address", "duplicate", "other"],
        chosen: asked.reason,
        token,
    }))
}

/// Customers read what was first, but not the name or number of who was asked or who works at the desk.
fn for_customers(mut answer: Answer) -> Answer {
    if let Some(first) = &mut answer.beaten_by {
        let desk = StaffId::parse(&first.by).is_some() && first.by.starts_with('D');
        let rider = RiderId::parse(&first.by).is_some() && first.by.starts_with('R');
        match (desk, rider) {
            (true, _) => answer_page::THE_DESK.clone_into(&mut first.by),
            (_, true) => answer_page::A_RIDER.clone_into(&mut first.by),
            (false, false) => {}
        }
    }
    answer
}

fn can(card: &Card, customer: &Actor, region: Option<&NamedRegion>, now: Timestamp) -> Vec<Verb> {
    let mode = region.map(|found| found.region.policy.mode);
    let mode = mode.unwrap_or(crate::domain::policy::RegionMode::Reserve);
    legal(&card.task, customer, Role::Customer, mode, now)
}

/// How far the search for a rider has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    /// It has begun, or has not.
    Near,
    /// In a wider circle than at first.
    Wider,
    /// Nobody took it: dispatchers look after it.
    ByHand,
}

impl Asking {
    async fn of(tx: &mut store::Tx, task: TaskId) -> store::Result<Self> {
        let by_hand = tx.pooled(task).await?.is_some();
        let last = tx.rounds_of(task).await?.pop();
        Ok(match last {
            _ if by_hand => Self::ByHand,
            Some(round) if round.rung > 0 || round.step > 1 => Self::Wider,
            Some(_) | None => Self::Near,
        })
    }
}

/// The one line of truth.
fn line(card: &Card, asking: Asking, now: Timestamp) -> &'static str {
    match (card.task.state.name(), card.task.state.stage()) {
        (StateName::Cancelled, _) => "track-cancelled",
        (StateName::Open, _) if card.task.release_at > now => "track-planned",
        (StateName::Open | StateName::Offered, _) if asking == Asking::ByHand => "track-by-hand",
        (StateName::Open, _) if asking == Asking::Wider => "track-wider",
        (StateName::Open, _) => "track-open",
        (StateName::Offered, _) => "track-offered",
        (StateName::Assigned, Some(Stage::AtPickup)) => "track-at-pickup",
        (StateName::Assigned, Some(Stage::PickedUp)) => "track-picked-up",
        (StateName::Assigned, Some(Stage::Delivered)) => "track-delivered",
        (StateName::Assigned, Some(Stage::Waiting) | None) => "track-assigned",
    }
}

async fn cancel(
    State(desk): State<Desk>,
    taste: Taste,
    TokenPath(token): TokenPath,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let lang = taste.lang;
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let card = tx.card_tracked(&token).await.map_err(failed)?;
    drop(tx);
    let task = card.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?.task.id;
    let act = forms::act(Verb::Cancel, &typed)
        .ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    let parsed = forms::based_on(&typed).and_then(|based| Ok((based, act?)));
    let asked = Asked { reason: typed.get("reason").to_owned(), ..Asked::default() };
    let ((key, revision), act) = match parsed {
        Ok(parsed) => parsed,
        Err(wrong) => {
            let trouble = Some(Trouble::saying(words(lang, wrong.words, &[])));
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return show(&desk, &taste, token, asked, trouble, status).await;
        }
    };
    let what = What::Change { task, revision, act };
    let actor = Actor::Customer(task);
    pace::keep(&desk, &actor, task, lang)?;
    let command = Command { actor, key: Some(key.clone()), lang, what };
    match desk.executor().execute(command).await {
        Ok(_) => {
            let (key, reason) = (key.as_str(), encode(typed.get("reason")));
            let to = format!("/t/{token}?answer={key}&reason={reason}#answer");
            Ok(Redirect::to(&to).into_response())
        }
        Err(error) => {
            let (trouble, status) = Trouble::of(&error, format!("/t/{token}/cancel"), &typed, lang);
            show(&desk, &taste, token, asked, Some(trouble), status).await
        }
    }
}
