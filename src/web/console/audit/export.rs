//! The log as a file: what an auditor has searched for, in pieces, while they are read.

use std::{io, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use tokio::sync::mpsc;

use super::{
    super::super::{
        desk::Desk,
        exports::Turn,
        extract::Query,
        page::words,
        people::{Seat, StaffSeat, zone},
        problem::{Problem, ProblemCode},
    },
    filter::{Asked, Reach},
};
use crate::{
    domain::{
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::{Matter, who},
        command::Actor,
        id::RegionId,
    },
    engine::{
        export::{Export, Form},
        office::Office,
    },
    store,
};

/// Whoever takes nothing for so long has gone.
const PATIENCE: Duration = Duration::from_mins(1);

/// The export for spreadsheets.
pub(in super::super) async fn csv(
    desk: State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    export(&desk.0, &seat, &asked, Form::Csv).await
}

/// The export for programs.
pub(in super::super) async fn jsonl(
    desk: State<Desk>,
    StaffSeat(seat): StaffSeat,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    export(&desk.0, &seat, &asked, Form::Jsonl).await
}

async fn export(desk: &Desk, seat: &Seat, asked: &Asked, form: Form) -> Result<Response, Problem> {
    let lang = seat.lang();
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let regions = seat.regions(&mut tx, now).await.map_err(failed)?;
    let reach = Reach::of(seat, &mut tx, now).await.map_err(failed)?;
    tx.rollback().await.map_err(failed)?;
    let zone = zone(&regions, now);
    let search = asked.search(&reach, zone).map_err(|wrong| {
        let field = words(lang, &format!("audit-field-{}", wrong.field), &[]);
        let why = words(lang, wrong.words, &[]);
        Problem::new(ProblemCode::QueryInvalid, lang).with(format!("{field}: {why}"))
    })?;
    let turn = desk.exports().take(seat.actor());
    let turn = turn.ok_or_else(|| Problem::new(ProblemCode::TooManyExports, lang).after(10))?;
    note(desk, seat, asked, form).await?;
    let export = Export::new(desk.db().clone(), form, search, zone.zone);
    let kind = match form {
        Form::Csv => "text/csv; charset=utf-8; header=present",
        Form::Jsonl => "application/jsonl; charset=utf-8",
    };
    let stamp = zone.field(now).replace(['-', ':'], "");
    let name = format!("attachment; filename=\"audit-{stamp}.{}\"", form.ending());
    let reader = Reader {
        desk: desk.clone(),
        actor: seat.actor().clone(),
        regions: seat.caller.regions.clone(),
    };
    let mut response = stream(export, turn, reader).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// Who takes the log away stands in the log.
async fn note(desk: &Desk, seat: &Seat, asked: &Asked, form: Form) -> Result<(), Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    // The account may have changed since the session was read.
    let office = Office::open_for(desk.executor(), seat.actor(), Matter::Audit).await;
    let mut office = office.map_err(|error| Problem::of_office(&error, seat.lang()))?;
    let event = AdminEvent::new(AdminAction::Exported, AdminSubject::Desk);
    office.note(
        event
            .with("form", form.ending())
            .with("shown", asked.shown())
            .with("fields", asked.narrowed().join(",")),
    );
    office.commit().await.map_err(failed)
}

/// Who reads an export, and with which regions they began.
struct Reader {
    desk: Desk,
    actor: Actor,
    regions: Vec<RegionId>,
}

impl Reader {
    /// Whether they may still read all of it: a slow reader may be shut out in the middle (`S05`).
    async fn may(&self) -> store::Result<bool> {
        let Actor::Staff(staff) = self.actor else { return Ok(false) };
        let mut tx = self.desk.db().read().await?;
        let staff = tx.staff_account(staff).await?.map(|account| account.staff);
        Ok(staff.is_some_and(|staff| {
            !staff.disabled
                && who(Matter::Audit).contains(&staff.role)
                && self.regions.iter().all(|region| staff.regions.contains(region))
        }))
    }
}

/// The pieces, as they are taken. They are read by a task of its own, which ends by itself once nobody takes them.
fn stream(mut export: Export, turn: Turn, reader: Reader) -> Body {
    let (pieces, taken) = mpsc::channel::<io::Result<Bytes>>(1);
    tokio::spawn(async move {
        let _turn = turn;
        loop {
            let next = match reader.may().await {
                Ok(true) => export.next().await,
                Ok(false) => {
                    tracing::info!(reader = %reader.actor, "an export ended: its reader may not read it any more");
                    let cut = Err(io::Error::other("no right to it any more"));
                    let _ = pieces.send_timeout(cut, PATIENCE).await;
                    return;
                }
                Err(error) => Err(error),
            };
            let piece = match next {
                Ok(Some(piece)) if piece.is_empty() => continue,
                Ok(Some(piece)) => Ok(Bytes::from(piece)),
                Ok(None) => return,
                Err(error) => {
                    tracing::error!(%error, "an export broke off");
                    // The connection is cut, so that nobody takes it for whole.
                    Err(io::Error::other("the export broke off"))
                }
            };
            let is_over = piece.is_err();
            let sent = pieces.send_timeout(piece, PATIENCE).await;
            if is_over || sent.is_err() {
                return;
            }
        }
    });
    let next = |mut taken: mpsc::Receiver<io::Result<Bytes>>| async move {
        taken.recv().await.map(|piece| (piece, taken))
    };
    Body::from_stream(futures_util::stream::unfold(taken, next))
}
