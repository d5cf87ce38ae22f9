//! One task: where it stands, its story, and a form for each thing that can be done.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};
use serde::Deserialize;

use super::{
    super::{
        answer_page::{self, Banner},
        chip::{Chip, money},
        desk::Desk,
        extract::{Query, TaskPath},
        forms::{Typed, Wrong, reasons},
        live::Mark,
        mask::masked,
        page::{Shell, When, filters, render},
        people::{Seat, StaffSeat, zone},
        problem::{Problem, ProblemCode},
        trouble::Trouble,
    },
    reveal::RevealForm,
    riders::{self, Choice},
    rounds::{self, RoundsPart},
    story::{Line, Record, reason_words},
};
use crate::{
    domain::{authority::Matter, command::Verb, id::TaskId, legal::legal, order::Stop},
    engine::office::Shown,
    store,
};

/// A form for one verb.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) verb: Verb,
    /// The request key that it was rendered with: sent twice, it has one effect.
    pub(super) key: String,
    /// What was typed before, if it was refused.
    pub(super) typed: Typed,
    /// What can not be used of it.
    pub(super) wrong: Option<Wrong>,
    pub(super) reasons: &'static [&'static str],
    /// Whether the browser should show it open.
    pub(super) open: bool,
}

impl Form {
    /// Whether it is this field that can not be used.
    fn is_wrong(&self, field: &str) -> bool {
        self.wrong.is_some_and(|wrong| wrong.field == field)
    }
}

struct OfferLine {
    rider: String,
    at: When,
    until: When,
    answer: String,
    answered: Option<When>,
    reason: Option<String>,
}

#[derive(Template)]
#[template(path = "console/task.html")]
struct Page {
    shell: Shell,
    id: TaskId,
    chip: Chip,
    revision: i64,
    detail_revision: i64,
    region: String,
    source: String,
    rider: Option<String>,
    rider_phone: Option<String>,
    mode: Option<&'static str>,
    until: Option<When>,
    offer_seconds: u32,
    expiring: bool,
    release: Option<When>,
    pickup: Stop,
    dropoff: Stop,
    ready: Option<When>,
    due: Option<When>,
    due_field: String,
    fee: Option<String>,
    priority: i64,
    vehicle: Option<&'static str>,
    note: String,
    tracking: Option<String>,
    erased: Option<When>,
    reveal: Option<RevealForm>,
    banner: Option<Banner>,
    trouble: Option<Trouble>,
    forms: Vec<Form>,
    choices: Vec<Choice>,
    lines: Vec<Line>,
    offers: Vec<OfferLine>,
    part: RoundsPart,
}

/// Whose answer is to be shown, and after which verb.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    answer: Option<String>,
    verb: Option<String>,
    wish: Option<String>,
}

/// What is special about this showing of the page.
#[derive(Clone, Debug, Default)]
pub(super) struct Showing {
    /// The key of the answer to be shown.
    pub(super) answer: Option<String>,
    /// The verb that was asked for.
    pub(super) verb: Option<Verb>,
    /// What was typed into its form.
    pub(super) typed: Typed,
    /// What can not be used of it.
    pub(super) wrong: Option<Wrong>,
    /// Why it has no outcome.
    pub(super) trouble: Option<Trouble>,
    /// The key of a wish whose answer is to be shown.
    pub(super) wish: Option<String>,
    /// Whole phone numbers, for this once.
    pub(super) shown: Shown,
    /// Whether it was asked for, so that it can be asked for again: it follows what happens.
    pub(super) live: bool,
}

/// The page.
pub(super) async fn page(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TaskPath(id): TaskPath,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let verb = asked.verb.as_deref().and_then(Verb::parse);
    let typed = match &asked.answer {
        Some(key) => seat.draft(key).await,
        None => Typed::default(),
    };
    let (answer, wish) = (asked.answer, asked.wish);
    let showing = Showing { answer, verb, typed, wish, live: true, ..Showing::default() };
    show(&desk, &seat, id, showing, StatusCode::OK).await
}

/// Renders a task as it is now.
pub(super) async fn show(
    desk: &Desk,
    seat: &Seat,
    id: TaskId,
    showing: Showing,
    status: StatusCode,
) -> Result<Response, Problem> {
    let lang = seat.lang();
    let page = read(desk, seat, id, showing).await;
    let page = page.map_err(|error| Problem::read(&error, lang))?;
    let page = page.ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    Ok(render(&page, lang, status))
}

async fn read(
    desk: &Desk,
    seat: &Seat,
    id: TaskId,
    showing: Showing,
) -> store::Result<Option<Page>> {
    let lang = seat.lang();
    let mut tx = desk.db().read().await?;
    let now = tx.now().await?;
    // The task last: one of another region costs as many reads as one that is not there (`S15`).
    let regions = seat.regions(&mut tx, now).await?;
    let Some(card) = tx.card(id).await? else { return Ok(None) };
    let Some(region) = regions.iter().find(|found| found.region.id == card.task.region) else {
        return Ok(None);
    };
    let zone = zone(std::slice::from_ref(region), now);
    let answer = match &showing.answer {
        Some(key) => answer_page::stored(&mut tx, seat.actor(), key).await?,
        None => None,
    };
    let rounds = rounds::Read::of(&mut tx, seat, id, showing.wish.as_deref()).await?;
    let mut more = answer.as_ref().map(answer_page::named).unwrap_or_default();
    more.0.extend(rounds::riders_of(&rounds.ledger));
    let record = Record::read(&mut tx, id, more).await?;
    let policy = &region.region.policy;
    let can = legal(&card.task, seat.actor(), seat.caller.role, policy.mode, now);
    let asks_for_rider = can.iter().any(|verb| takes_rider(*verb));
    let choices = if asks_for_rider {
        riders::choices(&mut tx, &card, &region.region, now, lang).await?
    } else {
        Vec::new()
    };
    let banner = answer.map(|answer| Banner::of(&answer, showing.verb, &record.names, zone, lang));
    let offers = record.offers.iter().map(|offer| OfferLine {
        rider: answer_page::name_of(&offer.rider.to_string(), &record.names, lang),
        at: zone.when(offer.at),
        until: zone.when(offer.until),
        answer: match offer.answered {
            Some((answer, _)) => format!("offer-{answer}"),
            None => "offer-waiting".to_owned(),
        },
        answered: offer.answered.map(|(_, at)| zone.when(at)),
        reason: offer.reason.as_deref().map(|reason| reason_words(reason, lang)),
    });
    let (task, detail) = (&card.task, &card.detail);
    let rider_phone = match task.state.rider() {
        Some(rider) => tx.rider_account(rider).await?.and_then(|account| account.phone),
        None => None,
    };
    let (number, _) = tx.head().await?;
    let shown = &showing.shown;
    let stop = |stop: &Stop, whole: &Option<String>| Stop {
        phone: whole.clone().or_else(|| stop.phone.as_deref().map(masked)),
        ..stop.clone()
    };
    let name = answer_page::name_of;
    // Whoever has the customer's link can cancel by it: who may not cancel does not get it.
    let tracking = detail.tracking_token.as_ref().filter(|_| seat.may(Verb::Cancel));
    Ok(Some(Page {
        shell: Shell {
            live: showing.live.then(|| Mark::console("task", number, Some(id.0))),
            ..seat.shell(desk, std::slice::from_ref(region), zone)
        },
        id,
        chip: Chip::of(task, now, lang),
        revision: task.revision.0,
        detail_revision: detail.revision.0,
        region: region.name.clone(),
        source: task.source.clone(),
        rider: task.state.rider().map(|rider| name(&rider.to_string(), &record.names, lang)),
        mode: task.state.mode().map(crate::domain::task::Mode::as_str),
        until: task.state.offer_until().map(|at| zone.when(at)),
        offer_seconds: policy.offer_seconds,
        expiring: task.is_expiring(now),
        release: (task.release_at > now).then(|| zone.when(task.release_at)),
        pickup: stop(&detail.pickup, &shown.pickup),
        dropoff: stop(&detail.dropoff, &shown.dropoff),
        ready: detail.ready_at.map(|at| zone.when(at)),
        due: detail.due_at.map(|at| zone.when(at)),
        due_field: detail.due_at.map_or_else(String::new, |at| zone.field(at)),
        fee: detail.fee.map(money),
        priority: task.priority,
        vehicle: task.vehicle.map(crate::domain::task::Vehicle::as_str),
        note: detail.note.clone().unwrap_or_default(),
        tracking: tracking.map(|token| format!("/t/{token}")),
        erased: detail.erased_at.map(|at| zone.when(at)),
        reveal: RevealForm::of(detail, rider_phone.is_some(), &showing)
            .filter(|_| seat.may_matter(Matter::Reveal)),
        rider_phone: shown.rider.clone().or_else(|| rider_phone.as_deref().map(masked)),
        banner,
        forms: forms(desk, &can, &showing),
        trouble: showing.trouble,
        choices,
        lines: record.lines(zone, lang),
        offers: offers.rev().collect(),
        part: rounds.part(desk, seat, task, &record.names, zone),
    }))
}

const fn takes_rider(verb: Verb) -> bool {
    matches!(verb, Verb::Offer | Verb::Assign | Verb::Reassign)
}

/// A form for each verb that is possible now, in the order in which they are used most.
fn forms(desk: &Desk, can: &[Verb], showing: &Showing) -> Vec<Form> {
    const ORDER: [Verb; 6] =
        [Verb::Offer, Verb::Withdraw, Verb::Reassign, Verb::Assign, Verb::Cancel, Verb::Edit];
    let form = |verb: Verb| {
        let asked = showing.verb == Some(verb);
        // What was typed for one rider is of use for another way of getting one.
        let again = asked || (takes_rider(verb) && showing.verb.is_some_and(takes_rider));
        Form {
            verb,
            key: desk.token().map_or_else(|_| String::new(), |token| format!("page-{token}")),
            typed: if again { showing.typed.clone() } else { Typed::default() },
            wrong: showing.wrong.filter(|_| asked),
            reasons: reasons(verb),
            // What was typed is to be seen.
            open: asked
                || verb == Verb::Offer
                || verb == Verb::Withdraw
                || (again && verb == Verb::Reassign && !showing.typed.0.is_empty()),
        }
    };
    ORDER.into_iter().filter(|verb| can.contains(verb)).map(form).collect()
}
