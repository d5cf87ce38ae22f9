//! What a rider sees: offers first, then what is mine, then what may be grabbed, then what lately went elsewhere.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{
    super::{
        answer_page::{self, Banner},
        desk::Desk,
        extract::Query,
        forms::{Typed, reasons},
        live::Mark,
        page::{Shell, Taste, When, filters, render},
        people::{RiderSeat, Seat, zone},
        problem::{Problem, ProblemCode},
        trouble::Trouble,
    },
    card::{Cards, TaskCard},
    lost::{Lost, lost},
};
use crate::{
    domain::{command::Verb, facts::Duty, id::TaskId, policy::RegionMode, task::StateName},
    store::{self},
};

/// Tasks of the pool on one page.
const PAGE: i64 = 20;
/// The page comes anew by itself after so many seconds: what is pushed may be lost, what is pulled is the truth.
const EVERY: u32 = 15;
/// The same while a grab waits for its outcome.
const SOON: u32 = 2;
/// What went elsewhere is shown for so long, in milliseconds.
const LATELY_MS: i64 = 30 * 60_000;

struct Gone {
    id: TaskId,
    at: When,
    /// `expired`, `withdrawn`, `declined`, `cancelled`.
    answer: String,
}

#[derive(Template)]
#[template(path = "rider/home.html")]
struct Page {
    shell: Shell,
    duty: &'static str,
    duties: &'static [Duty],
    /// Whose page it is.
    rider: crate::domain::id::RiderId,
    holds: i64,
    capacity: u32,
    banner: Option<Banner>,
    trouble: Option<Trouble>,
    offers: Vec<TaskCard>,
    asked: Vec<TaskCard>,
    /// A key for each "no, thanks".
    no_key: String,
    /// The grab waits for the end of a fair window, until then.
    waits: Option<When>,
    mine: Vec<TaskCard>,
    pool: Vec<TaskCard>,
    next: Option<TaskId>,
    lost: Vec<Lost>,
    gone: Vec<Gone>,
    decline_reasons: &'static [&'static str],
    hand_back_reasons: &'static [&'static str],
}

/// What is special about this showing of the page.
#[derive(Clone, Debug, Default)]
pub(super) struct Showing {
    /// Why what was sent has no outcome.
    pub(super) trouble: Option<Trouble>,
    /// The task that it was about, and what was typed.
    pub(super) before: Option<(TaskId, Typed)>,
    /// Whether it was asked for, so that it can be asked for again: it follows what happens.
    pub(super) live: bool,
    /// Whether it comes anew by itself: an answer stays until it was read.
    pub(super) quiet: bool,
}

/// Whose answer is to be shown, and from where on the pool goes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    answer: Option<String>,
    verb: Option<String>,
    beyond: Option<i64>,
    /// The tasks that could be grabbed on the page that is shown, with dots between them.
    seen: Option<String>,
}

/// The rider's page.
pub(super) async fn page(
    State(desk): State<Desk>,
    RiderSeat(seat): RiderSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let waits = asked.verb.as_deref() == Some("wait");
    let quiet = (asked.answer.is_none() || waits) && asked.beyond.is_none();
    let showing = Showing { live: true, quiet, ..Showing::default() };
    show(&desk, &seat, asked, showing, StatusCode::OK).await
}

/// Renders the page as things are now.
pub(super) async fn show(
    desk: &Desk,
    seat: &Seat,
    asked: Asked,
    showing: Showing,
    status: StatusCode,
) -> Result<Response, Problem> {
    let page = read(desk, seat, asked, showing).await;
    let page = page.map_err(|error| Problem::read(&error, seat.lang()))?;
    let page = page.ok_or_else(|| Problem::new(ProblemCode::NotSignedIn, seat.lang()))?;
    Ok(render(&page, seat.lang(), status))
}

async fn read(
    desk: &Desk,
    seat: &Seat,
    asked: Asked,
    showing: Showing,
) -> store::Result<Option<Page>> {
    let Some(me) = seat.actor().rider() else { return Ok(None) };
    let mut tx = desk.db().read().await?;
    let now = tx.now().await?;
    let Some(account) = tx.rider_account(me).await? else { return Ok(None) };
    let regions = seat.regions(&mut tx, now).await?;
    let zone = zone(&regions, now);
    let mode = regions.first().map_or(RegionMode::Reserve, |found| found.region.policy.mode);
    let answer = match &asked.answer {
        Some(key) => answer_page::stored(&mut tx, seat.actor(), key).await?,
        None => None,
    };
    let mut before = showing.before;
    if let (Some(key), Some(about)) = (&asked.answer, answer.as_ref().and_then(|a| a.task.as_ref()))
    {
        before = Some((about.id, seat.draft(key).await));
    }
    let cards = Cards { desk, seat, zone, mode, now, from: account.place(), before };
    let held = tx.cards_held_by(me).await?;
    let (offers, mine): (Vec<_>, Vec<_>) =
        held.iter().partition(|card| card.task.state.name() == StateName::Offered);
    let (region, vehicle) = (account.rider.region, account.rider.vehicle);
    let beyond = TaskId(asked.beyond.unwrap_or(0));
    let on_duty = account.rider.duty == Duty::On;
    let mut pool =
        if on_duty { tx.pool(region, vehicle, now, beyond, PAGE + 1).await? } else { Vec::new() };
    let most = usize::try_from(PAGE).unwrap_or_default();
    let more = pool.len() > most;
    pool.truncate(most);
    // Who takes a break is not asked; a ticket that was given before is still good.
    let invitations = desk.rounds().invitations(&mut tx, me, now).await?;
    let mut tickets = Vec::with_capacity(invitations.len());
    let mut asked_cards = Vec::with_capacity(invitations.len());
    for invitation in &invitations {
        if let Some(card) = tx.card(invitation.task).await? {
            tickets.push(cards.asked(&card, &invitation.ticket));
            asked_cards.push(card);
        }
    }
    let waits = match (&asked.answer, &answer) {
        (Some(key), None) => tx.intent(&seat.actor().principal(), key).await?,
        _ => None,
    };
    let shown: Vec<_> = asked_cards.iter().chain(&pool).cloned().collect();
    let next = pool.last().filter(|_| more).map(|card| card.task.id);
    let lost = lost(&mut tx, asked.seen.as_deref(), region, &held, &shown, next).await?;
    let (number, _) = tx.head().await?;
    // Whoever waits for the end of a fair window wants to know soon.
    let every = if waits.is_some() { SOON } else { EVERY };
    let mark = Mark {
        kind: "rider",
        stream: "/rider/stream".to_owned(),
        number,
        task: None,
        poll_s: if showing.quiet { every } else { 0 },
        sounds: true,
    };
    let verb = asked.verb.as_deref().and_then(Verb::parse);
    let (riders, staff) = answer.as_ref().map(answer_page::named).unwrap_or_default();
    let names = tx.names(&riders, &staff).await?;
    let lately = tx.offers_to(me, now.plus_ms(-LATELY_MS), 10).await?;
    let gone = lately.iter().filter_map(|offer| {
        use crate::domain::task::OfferAnswer;
        let (answer, at) = offer.answered.filter(|(answer, _)| *answer != OfferAnswer::Accepted)?;
        Some(Gone { id: offer.task, at: zone.when(at), answer: format!("offer-{answer}") })
    });
    desk.note_shown(me, invitations, now);
    Ok(Some(Page {
        shell: Shell { live: showing.live.then_some(mark), ..seat.shell(desk, &regions, zone) },
        lost,
        duty: account.rider.duty.as_str(),
        duties: Duty::ALL,
        rider: me,
        holds: account.holds,
        capacity: account.rider.capacity,
        banner: answer.map(|answer| Banner::of(&answer, verb, &names, zone, seat.lang())),
        trouble: showing.trouble,
        offers: offers.into_iter().map(|card| cards.card(card)).collect(),
        asked: tickets,
        no_key: desk.token().map_or_else(|_| String::new(), |token| format!("page-{token}")),
        waits: waits.map(|(_, until)| zone.when(until)),
        mine: mine.into_iter().map(|card| cards.card(card)).collect(),
        next,
        pool: pool.iter().map(|card| cards.card(card)).collect(),
        gone: gone.collect(),
        decline_reasons: reasons(Verb::Decline),
        hand_back_reasons: reasons(Verb::HandBack),
    }))
}

#[derive(Template)]
#[template(path = "rider/closed.html")]
struct Closed {
    shell: Shell,
    phone: String,
    wrong: Option<String>,
}

/// For whoever is not signed in: how to come in.
pub(super) async fn closed(State(desk): State<Desk>, taste: Taste) -> Response {
    door(&desk, &taste, "", None, StatusCode::UNAUTHORIZED)
}

/// The way in: phone number and password, with what was typed and what is wrong about it.
pub(in crate::web) fn door(
    desk: &Desk,
    taste: &Taste,
    phone: &str,
    wrong: Option<String>,
    status: StatusCode,
) -> Response {
    let page = Closed { shell: Shell::bare(desk, taste), phone: phone.to_owned(), wrong };
    render(&page, taste.lang, status)
}
