//! A new task by hand.

use askama::Template;
use axum::{
    extract::{Form, State},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};

use super::{
    super::{
        desk::Desk,
        forms::{Typed, Wrong},
        page::{Shell, filters, render},
        people::{Seat, StaffSeat, zone},
        problem::Problem,
    },
    task::trouble_words,
};
use crate::{
    domain::{
        answer::Answer,
        command::{Command, NewTask, RequestKey, Stop, What},
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
    trouble: Option<String>,
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
    trouble: Option<String>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let (regions, now) = regions(desk, seat).await?;
    // The key stays with what was typed, unless it is used up: then a new try is a new request.
    let used_up = trouble.is_some();
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
    show(&desk, &seat, Typed::default(), None, None, StatusCode::OK).await
}

/// The form, sent.
pub(super) async fn create(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
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
            let problem = Problem::of(&error, lang);
            let words = trouble_words(&problem, lang);
            let status = problem.status();
            return show(&desk, &seat, typed, None, Some(words), status).await;
        }
    };
    let answer: Option<Answer> = reply.answer().ok();
    let code = answer.as_ref().and_then(|answer| Code::parse(answer.code.as_deref()?));
    match answer.and_then(|answer| answer.task) {
        Some(task) => {
            let to = format!("/tasks/{}?answer={}&verb=create#answer", task.id, key.as_str());
            Ok(Redirect::to(&to).into_response())
        }
        None => {
            let words = code.map(|code| code.sentence(lang).to_owned()).unwrap_or_default();
            let status = StatusCode::CONFLICT;
            show(&desk, &seat, typed, None, Some(words), status).await
        }
    }
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
        note: text("note"),
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
