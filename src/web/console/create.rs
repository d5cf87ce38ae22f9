//! A new task by hand.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};

use super::super::{
    desk::Desk,
    extract::Form,
    forms::{Typed, Wrong},
    page::{Shell, filters, render},
    people::{Seat, StaffSeat, zone},
    problem::{Problem, ProblemCode},
    trouble::Trouble,
};
use crate::{
    domain::{
        answer::Answer,
        command::{Command, NewTask, RequestKey, Stop, Verb, What},
        id::RegionId,
        refusal::Code,
        task::Vehicle,
    },
    store::{self, NamedRegion},
};

#[derive(Template)]
#[template(path = "console/new.html")]
struct Page {
    shell: Shell,
    key: String,
    regions: Vec<(i64, String)>,
    vehicles: &'static [Vehicle],
    typed: Typed,
    wrong: Option<Wrong>,
    trouble: Option<Trouble>,
}

impl Page {
    /// Whether it is this field that can not be used.
    fn is_wrong(&self, field: &str) -> bool {
        self.wrong.is_some_and(|wrong| wrong.field == field)
    }
}

/// Who may not make tasks gets no form to fill in.
fn may_create(seat: &Seat) -> Result<(), Problem> {
    let no = || Problem::new(ProblemCode::Forbidden, seat.lang());
    if seat.may(Verb::Create) { Ok(()) } else { Err(no()) }
}

async fn regions(
    desk: &Desk,
    seat: &Seat,
) -> Result<(Vec<NamedRegion>, crate::domain::id::Timestamp), Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    Ok((seat.regions(&mut tx, now).await.map_err(failed)?, now))
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    typed: Typed,
    wrong: Option<Wrong>,
    trouble: Option<Trouble>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let (regions, now) = regions(desk, seat).await?;
    // The key stays with what was typed, unless an answer is kept under it: then a new try is a new request.
    let used_up = trouble.as_ref().is_some_and(|trouble| trouble.again.is_none());
    let key = match typed.get("key") {
        key if !key.is_empty() && !used_up => key.to_owned(),
        _ => format!("page-{}", desk.token().unwrap_or_default()),
    };
    let page = Page {
        shell: seat.shell(desk, &regions, zone(&regions, now)),
        key,
        regions: regions.into_iter().map(|found| (found.region.id.0, found.name)).collect(),
        vehicles: Vehicle::ALL,
        typed,
        wrong,
        trouble,
    };
    Ok(render(&page, seat.lang(), status))
}

/// The form.
pub(super) async fn form(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
) -> Result<Response, Problem> {
    may_create(&seat)?;
    show(&desk, &seat, Typed::default(), None, None, StatusCode::OK).await
}

/// The form, sent.
pub(super) async fn create(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    may_create(&seat)?;
    let (known, now) = regions(&desk, &seat).await?;
    let parsed = RequestKey::parse(typed.get("key"))
        .ok_or(Wrong { field: "key", words: "wrong-key" })
        .and_then(|key| Ok((key, new_task(&typed, &known, now)?)));
    let (key, new) = match parsed {
        Ok(parsed) => parsed,
        Err(wrong) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return show(&desk, &seat, typed, Some(wrong), None, status).await;
        }
    };
    let (actor, lang) = (seat.actor().clone(), seat.lang());
    let command =
        Command { actor, key: Some(key.clone()), lang, what: What::Create(Box::new(new)) };
    let reply = match desk.executor().execute(command).await {
        Ok(reply) => reply,
        Err(error) => {
            let (trouble, status) = Trouble::of(&error, "/tasks/new".to_owned(), &typed, lang);
            return show(&desk, &seat, typed, None, Some(trouble), status).await;
        }
    };
    let answer: Option<Answer> = reply.answer().ok();
    let code = answer.as_ref().and_then(|answer| Code::parse(answer.code.as_deref()?));
    if let Some(task) = answer.and_then(|answer| answer.task) {
        let to = format!("/tasks/{}?answer={}&verb=create#answer", task.id, key.as_str());
        return Ok(Redirect::to(&to).into_response());
    }
    let words = code.map(|code| format!("{} ({code})", code.sentence(lang))).unwrap_or_default();
    show(&desk, &seat, typed, None, Some(Trouble::saying(words)), StatusCode::CONFLICT).await
}

/// What was typed as a new task.
fn new_task(
    typed: &Typed,
    regions: &[NamedRegion],
    now: crate::domain::id::Timestamp,
) -> Result<NewTask, Wrong> {
    let wrong = |field, words| Wrong { field, words };
    let region = typed.get("region").parse().map(RegionId).ok();
    let region = region.and_then(|id| regions.iter().find(|found| found.region.id == id));
    let region = region.ok_or(wrong("region", "wrong-region"))?;
    let time = |field: &'static str| match typed.get(field) {
        "" => Ok(None),
        text => {
            let zone = zone(std::slice::from_ref(region), now);
            zone.instant(text).map(Some).ok_or(wrong(field, "wrong-time"))
        }
    };
    let text = |field: &str| Some(typed.get(field).to_owned()).filter(|text| !text.is_empty());
    let stop = |end: [&'static str; 4]| {
        let [address, place, name, phone] = end;
        let at = typed.get(place).split_once([',', '，']).and_then(|(lat, lng)| {
            Some((lat.trim().parse::<f64>().ok()?, lng.trim().parse::<f64>().ok()?))
        });
        let (lat, lng) = at
            .filter(|(lat, lng)| lat.abs() <= 90.0 && lng.abs() <= 180.0)
            .ok_or(wrong(place, "wrong-place"))?;
        let address = text(address).ok_or(wrong(address, "wrong-empty"))?;
        Ok(Stop { lat, lng, address, name: text(name), phone: text(phone) })
    };
    let fee = match typed.get("fee") {
        "" => None,
        text => Some(minor(text).ok_or(wrong("fee", "wrong-money"))?),
    };
    let vehicle = match typed.get("vehicle") {
        "" => None,
        text => Some(Vehicle::parse(text).ok_or(wrong("vehicle", "wrong-vehicle"))?),
    };
    let priority = match typed.get("priority") {
        "" => 0,
        text => text.parse().map_err(|_| wrong("priority", "wrong-number"))?,
    };
    Ok(NewTask {
        region: region.region.id,
        pickup: stop(["pickup_address", "pickup_place", "pickup_name", "pickup_phone"])?,
        dropoff: stop(["dropoff_address", "dropoff_place", "dropoff_name", "dropoff_phone"])?,
        release_at: time("release_at")?,
        ready_at: time("ready_at")?,
        due_at: time("due_at")?,
        vehicle,
        priority,
        fee,
        note: Some(typed.lines("note").trim_end().to_owned()).filter(|note| !note.is_empty()),
    })
}

/// `12`, `12.5` or `12.50` in minor units.
fn minor(text: &str) -> Option<i64> {
    let (whole, cents) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || cents.len() > 2 || !digits(whole) || !digits(cents) {
        return None;
    }
    let cents = format!("{cents:0<2}").parse::<i64>().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents)
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn money_is_read_exactly() {
        assert_eq!(
            ["12", "12.5", "0.07", "12.345", "1e3", "-1", ".5"].map(minor),
            [Some(1200), Some(1250), Some(7), None, None, None, None]
        );
    }
}
