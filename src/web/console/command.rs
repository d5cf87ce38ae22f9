//! A form that was sent: decided, then shown. Sent twice, gone back to or reloaded, it has one effect and one answer.

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};

use super::{
    super::{
        desk::Desk,
        extract::{Form, InPath, TaskPath},
        forms::{self, Typed, Wrong},
        page::Zone,
        people::{Seat, StaffSeat, zone},
        problem::{Problem, ProblemCode},
        trouble::Trouble,
    },
    task::{Showing, show},
};
use crate::domain::{
    answer::Outcome,
    command::{Command, DetailChanges, RequestKey, Verb, What},
    id::{Revision, TaskId},
};

/// A form for one of the table's verbs.
pub(super) async fn command(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TaskPath(id): TaskPath,
    InPath((_, verb)): InPath<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let missing = || Problem::new(ProblemCode::NotFound, seat.lang());
    let verb = Verb::parse(&verb).ok_or_else(missing)?;
    let act = forms::act(verb, &typed).ok_or_else(missing)?;
    let parsed = forms::based_on(&typed).and_then(|based| Ok((based, act?)));
    match parsed {
        Err(wrong) => unusable(&desk, &seat, id, verb, typed, wrong).await,
        Ok(((key, revision), act)) => {
            let what = What::Change { task: id, revision, act };
            decided(&desk, &seat, id, verb, typed, key, what).await
        }
    }
}

/// The form for what is written on a task.
pub(super) async fn edit(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TaskPath(id): TaskPath,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let verb = Verb::Edit;
    let zone = zone_of(&desk, &seat).await?;
    let parsed = forms::based_on(&typed).and_then(|based| Ok((based, changes(&typed, zone)?)));
    match parsed {
        Err(wrong) => unusable(&desk, &seat, id, verb, typed, wrong).await,
        Ok(((key, Revision(revision)), changes)) => {
            let detail_revision = Revision(revision);
            let what = What::Edit { task: id, detail_revision, changes: Box::new(changes) };
            decided(&desk, &seat, id, verb, typed, key, what).await
        }
    }
}

async fn zone_of(desk: &Desk, seat: &Seat) -> Result<Zone, Problem> {
    let failed = |error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    Ok(zone(&regions, now))
}

/// What the form changes: the fields that differ from what they were when it was rendered.
fn changes(typed: &Typed, zone: Zone) -> Result<DetailChanges, Wrong> {
    let changed = |field: &str| {
        let (before, now) = (typed.lines(&format!("was_{field}")), typed.lines(field));
        (typed.0.contains_key(field) && now != before).then_some(now)
    };
    // A line has no line ends: browsers leave out those of a text that a script wrote.
    let line = |field: &str| {
        let one = |text: String| text.replace(['\r', '\n'], "");
        changed(field)
            .map(one)
            .filter(|now| *now != one(typed.raw(&format!("was_{field}")).to_owned()))
    };
    let due_at = match changed("due_at") {
        None => None,
        Some(text) => match zone.instant(&text) {
            Some(at) => Some(at),
            None => return Err(Wrong { field: "due_at", words: "wrong-time" }),
        },
    };
    let priority = match changed("priority").map(|text| text.trim().parse()) {
        None => None,
        Some(Ok(priority)) => Some(priority),
        Some(Err(_)) => return Err(Wrong { field: "priority", words: "wrong-number" }),
    };
    let (note, pickup_address, dropoff_address) =
        (changed("note"), line("pickup_address"), line("dropoff_address"));
    let empty = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
    if empty(&pickup_address) {
        return Err(Wrong { field: "pickup_address", words: "wrong-empty" });
    }
    if empty(&dropoff_address) {
        return Err(Wrong { field: "dropoff_address", words: "wrong-empty" });
    }
    Ok(DetailChanges { note, pickup_address, dropoff_address, due_at, release_at: None, priority })
}

/// The page again, with what was typed and what is wrong with it.
async fn unusable(
    desk: &Desk,
    seat: &Seat,
    id: TaskId,
    verb: Verb,
    typed: Typed,
    wrong: Wrong,
) -> Result<Response, Problem> {
    let showing = Showing { verb: Some(verb), typed, wrong: Some(wrong), ..Showing::default() };
    show(desk, seat, id, showing, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// Has the command decided, and leads to the page that shows its answer.
async fn decided(
    desk: &Desk,
    seat: &Seat,
    id: TaskId,
    verb: Verb,
    typed: Typed,
    key: RequestKey,
    what: What,
) -> Result<Response, Problem> {
    let (actor, lang) = (seat.actor().clone(), seat.lang());
    let command = Command { actor, key: Some(key.clone()), lang, what };
    match desk.executor().execute(command).await {
        Ok(reply) => {
            let refused = reply.answer().is_ok_and(|answer| answer.outcome == Outcome::Refused);
            if refused {
                seat.keep_draft(key.as_str(), &typed).await;
            }
            let to = format!("/tasks/{id}?answer={}&verb={verb}#answer", key.as_str());
            Ok(Redirect::to(&to).into_response())
        }
        Err(error) => {
            let path = if verb == Verb::Edit { "detail" } else { verb.as_str() };
            let action = format!("/tasks/{id}/{path}");
            let (trouble, status) = Trouble::of(&error, action, &typed, lang);
            let trouble = Some(trouble);
            let showing = Showing { verb: Some(verb), typed, trouble, ..Showing::default() };
            // A task that may not be known of is not shown, whatever was asked of it.
            show(desk, seat, id, showing, status).await
        }
    }
}
