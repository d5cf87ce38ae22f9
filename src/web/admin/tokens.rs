//! Tokens of scripts: for whom they speak, what they may do, and where.

use askama::Template;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};

use super::{Came, Opened, came, fields, form_key, regions::wrong, saved, secret};
use crate::{
    domain::{
        actor::Actor,
        command::Verb,
        id::{RegionId, RiderId, StaffId},
        scope::{Actions, Scope},
    },
    engine::office::NewToken,
    store::{self, ApiToken},
    web::{
        desk::Desk,
        extract::{Form, InPath},
        forms::Typed,
        page::{Shell, When, filters, render},
        peer::Peer,
        people::{Seat, StaffSeat},
        problem::Problem,
        reauth,
    },
};

/// The most on the page.
const PAGE: i64 = 200;
/// A day in milliseconds.
const DAY_MS: i64 = 86_400_000;
/// What tokens can be narrowed to; `expire` is the program's own.
const VERBS: &[Verb] = &[
    Verb::Create,
    Verb::Edit,
    Verb::Offer,
    Verb::Withdraw,
    Verb::Reassign,
    Verb::Assign,
    Verb::Cancel,
    Verb::Grab,
    Verb::Accept,
    Verb::Decline,
    Verb::HandBack,
    Verb::Arrive,
    Verb::PickUp,
    Verb::Deliver,
];

struct Row {
    token: ApiToken,
    regions: String,
    created: When,
    expires: Option<When>,
    used: Option<When>,
    ended: Option<When>,
    over: bool,
}

#[derive(Template)]
#[template(path = "admin/tokens.html")]
struct List {
    shell: Shell,
    rows: Vec<Row>,
    key: String,
    verbs: &'static [Verb],
    regions: Vec<(i64, String)>,
    typed: Typed,
    wrong: Option<String>,
}

impl List {
    fn has(&self, kind: &str, of: &impl std::fmt::Display) -> bool {
        self.typed.0.contains_key(&format!("{kind}{of}"))
    }
}

/// Whether this reader may see a token: it speaks for a source of orders, or for somebody whom they keep.
async fn sees(opened: &mut Opened, of: &[RegionId], token: &ApiToken) -> store::Result<bool> {
    Ok(match &token.actor {
        Actor::Staff(staff) => {
            let found = opened.tx.staff_account(*staff).await?;
            found.is_some_and(|found| match found.staff.regions.as_slice() {
                [] => opened.every,
                theirs => theirs.iter().all(|region| of.contains(region)),
            })
        }
        Actor::Rider(rider) => {
            opened.tx.rider(*rider).await?.is_some_and(|rider| of.contains(&rider.region))
        }
        Actor::Intake(_) => {
            let regions = token.scope.regions.as_ref();
            regions.map_or(opened.every, |regions| regions.iter().all(|region| of.contains(region)))
        }
        Actor::System | Actor::Customer(_) => false,
    })
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    typed: Typed,
    wrong: Option<String>,
    status: StatusCode,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut opened = Opened::of(desk, seat).await?;
    let mut rows = Vec::new();
    for token in opened.tx.tokens(PAGE).await.map_err(failed)? {
        if !sees(&mut opened, &seat.caller.regions, &token).await.map_err(failed)? {
            continue;
        }
        let zone = opened.zone;
        let names = token.scope.regions.iter().flatten();
        let names: Vec<_> = names.map(|region| opened.name_of(*region)).collect();
        rows.push(Row {
            regions: names.join(" · "),
            created: zone.when(token.created_at),
            expires: token.expires_at.map(|at| zone.when(at)),
            used: token.used_at.map(|at| zone.when(at)),
            ended: token.revoked_at.map(|at| zone.when(at)),
            over: token.revoked_at.is_some() || token.expires_at.is_some_and(|at| at <= zone.now),
            token,
        });
    }
    let page = List {
        shell: seat.shell(desk, &opened.regions, opened.zone),
        rows,
        key: form_key(desk),
        verbs: VERBS,
        regions: opened.choices(),
        typed,
        wrong,
    };
    Ok(render(&page, seat.lang(), status))
}

/// The list, with the form for one more.
pub(super) async fn list(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
) -> Result<Response, Problem> {
    show(&desk, &seat, Typed::default(), None, StatusCode::OK).await
}

/// For whom a token is to speak: `D1`, `R17`, or the name of a source.
fn of(typed: &Typed) -> Option<Actor> {
    let text = typed.get("of");
    let number = |letter: char| text.starts_with(letter).then_some(text);
    let staff = number('D').and_then(StaffId::parse).map(Actor::Staff);
    let rider = number('R').and_then(RiderId::parse).map(Actor::Rider);
    staff.or(rider).or_else(|| Actor::source(text))
}

fn actions(typed: &Typed) -> Option<Actions> {
    match typed.get("actions") {
        "these" => {
            let ticked = |verb: &&Verb| typed.0.contains_key(&format!("verb-{verb}"));
            let verbs: Vec<_> = VERBS.iter().filter(ticked).copied().collect();
            (!verbs.is_empty()).then_some(Actions::These(verbs))
        }
        text => Actions::parse(text),
    }
}

/// One more; it is shown this once.
pub(super) async fn make(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    from: Peer,
    Form(mut typed): Form<Typed>,
) -> Result<Response, Problem> {
    let proven = reauth::owner(&desk, &seat, &typed, from).await?;
    // It is never sent back.
    typed.0.remove("present");
    if let Err(unproven) = proven {
        let wrong = Some(unproven.words(seat.lang()));
        return Ok(unproven.answer(show(&desk, &seat, typed, wrong, StatusCode::OK).await?));
    }
    let days = match typed.get("days") {
        "" => Ok(None),
        text => text.parse::<i64>().map(Some).map_err(|_| "expires_at"),
    };
    let regions = fields::regions(&typed);
    let regions = if regions.is_empty() { None } else { Some(regions) };
    let read = of(&typed).ok_or("of").and_then(|of| {
        let actions = actions(&typed).ok_or("actions")?;
        let until = |days: i64| desk.now().plus_ms(days.clamp(0, 36_500) * DAY_MS);
        Ok((of, Scope { actions, regions }, days?.map(until)))
    });
    let came = match read {
        Err(field) => wrong(&seat, field),
        Ok((of, scope, expires_at)) => {
            let new = NewToken { of: &of, label: typed.get("label"), scope, expires_at };
            let key = fields::key(&typed);
            match desk.executor().make_token(seat.actor(), &new, key.as_ref()).await {
                Ok(token) => return secret::token(&desk, &seat, of.to_string(), token).await,
                Err(error) => came(error, seat.lang())?,
            }
        }
    };
    match came {
        Came::Before(page) => Ok(page.into_response()),
        other => show(&desk, &seat, typed, other.wrong(), other.status()).await,
    }
}

/// A token is over at once.
pub(super) async fn end(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    InPath(id): InPath<String>,
    Form(_): Form<Typed>,
) -> Result<Response, Problem> {
    let ended = desk.executor().end_token(seat.actor(), &id.replace('\0', "")).await;
    ended.map_err(|error| Problem::of_office(&error, seat.lang()))?;
    Ok(saved("/admin/tokens"))
}
