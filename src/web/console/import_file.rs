//! An uploaded file: looked at, imported, with what became of each row.

use std::{sync::Arc, time::Duration};

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{Redirect, Response},
};

use super::{
    super::{
        desk::Desk,
        extract::TokenPath,
        page::{Shell, filters, render, words},
        people::{Seat, StaffSeat, zone},
        problem::{Problem, ProblemCode},
        uploads::{MOST_LINES, Progress, Refused, Upload},
    },
    import::{may, regions},
};
use crate::{
    domain::{
        actor::Actor,
        authority::{Matter, who},
        refusal::Lang,
    },
    engine::office,
    import::{self, Import, Line, Riders, Summary},
    intake::{Row, RowKind},
    store,
};

/// While an import runs, the page comes anew after so many seconds.
const EVERY: &str = "2";

/// While an import runs, it is looked at no more often whether its owner still may.
const LOOK_EVERY: Duration = Duration::from_millis(50);

struct Shown {
    spot: String,
    kind: &'static str,
    text: String,
    more: String,
}

#[derive(Template)]
#[template(path = "console/import_file.html")]
struct FilePage {
    shell: Shell,
    token: String,
    name: String,
    mapping: String,
    source: String,
    /// `waiting`, `running`, `done`, `broken`, `unread`.
    state: &'static str,
    trouble: Option<String>,
    summary: String,
    done_rows: u64,
    all_rows: u64,
    rows: Vec<Shown>,
    /// Codes of rows that can not be read, and how often each.
    codes: Vec<(String, u64)>,
    refused: Vec<Refused>,
    refused_more: bool,
}

fn found(desk: &Desk, seat: &Seat, token: &str) -> Result<Arc<Upload>, Problem> {
    may(seat)?;
    let upload = desk.uploads().get(token, seat.actor(), desk.now());
    upload.ok_or_else(|| {
        let gone = words(seat.lang(), "import-gone", &[]);
        Problem::new(ProblemCode::NotFound, seat.lang()).with(gone)
    })
}

/// The file: what it holds, how far its import has come, what became of it.
pub(super) async fn file(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TokenPath(token): TokenPath,
) -> Result<Response, Problem> {
    let upload = found(&desk, &seat, &token)?;
    let regions = regions(&desk, &seat).await?;
    let lang = seat.lang();
    let all_rows = upload.preview.as_ref().map_or(0, |preview| preview.summary.rows);
    let (state, summary, refused, broke) = match upload.progress() {
        Progress::Waiting if upload.preview.is_err() => ("unread", None, Vec::new(), None),
        Progress::Waiting => ("waiting", None, Vec::new(), None),
        Progress::Running(summary, refused) => ("running", Some(summary), refused, None),
        Progress::Done(summary, refused) => ("done", Some(summary), refused, None),
        Progress::Broken(summary, refused, why) => ("broken", Some(summary), refused, Some(why)),
    };
    let preview = upload.preview.as_ref();
    let unread = preview.err().map(|error| error.sentence(lang));
    let cut = preview.ok().and_then(|preview| preview.broken.as_ref());
    let read = preview.ok().map(|preview| preview.summary.clone()).unwrap_or_default();
    let shown = summary.as_ref().unwrap_or(&read);
    let page = FilePage {
        shell: seat.shell(&desk, &regions, zone(&regions, desk.now())),
        name: upload.name.clone(),
        mapping: upload.mapping_name.clone(),
        source: upload.source.as_str().to_owned(),
        state,
        trouble: broke.or(unread).or_else(|| cut.map(|cut| cut.sentence(lang))),
        summary: shown.sentence(lang),
        done_rows: summary.as_ref().map_or(0, |summary| summary.rows),
        all_rows,
        rows: preview
            .map(|preview| preview.rows.iter().map(|row| row_shown(row, lang)).collect())
            .unwrap_or_default(),
        codes: shown.codes.iter().map(|(code, count)| (code.clone(), *count)).collect(),
        refused_more: refused.len() >= MOST_LINES,
        refused,
        token,
    };
    let mut response = render(&page, lang, StatusCode::OK);
    if state == "running" {
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(EVERY));
    }
    Ok(response)
}

fn row_shown(row: &Row, lang: Lang) -> Shown {
    let (kind, text, more) = match &row.what {
        RowKind::Task(task) => {
            let route = format!("{} → {}", task.new.pickup.address, task.new.dropoff.address);
            let flags: Vec<_> = task.flags.iter().map(|flag| flag.words(lang)).collect();
            ("import-row-task", route, flags.join(" · "))
        }
        RowKind::Position(position) => {
            let place = format!("{}, {}", position.place.lat, position.place.lng);
            ("import-row-position", format!("{} · {place}", position.rider), String::new())
        }
        RowKind::Refused { field, problem } => {
            let field = field.clone().unwrap_or_default();
            ("import-row-refused", problem.sentence(lang), field)
        }
        RowKind::Blank => ("import-row-blank", String::new(), String::new()),
    };
    Shown { spot: row.spot.to_string(), kind, text, more }
}

/// Imports the file. Asked for twice, it runs once; what is there already is not created again.
pub(super) async fn run(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TokenPath(token): TokenPath,
) -> Result<Redirect, Problem> {
    let upload = found(&desk, &seat, &token)?;
    if upload.preview.is_ok() && upload.start() {
        let (region, source) = (upload.given.region, upload.source.as_str());
        let begun = desk.executor().begin_import(seat.actor(), region, source).await;
        if let Err(error) = begun {
            upload.note(Progress::Waiting);
            let problem = Problem::of_office(&error, seat.lang());
            return Err(match error {
                office::Error::Invalid(_) => {
                    problem.with(words(seat.lang(), "wrong-source-taken", &[("source", source)]))
                }
                _ => problem,
            });
        }
        let (desk, lang) = (desk.clone(), seat.lang());
        tokio::spawn(async move {
            tokio::select! {
                () = import_all(&desk, &upload, lang) => {}
                () = shut_out(&desk, &upload) => {
                    tracing::info!(by = %upload.owner, "an import ended: its owner may not go on with it");
                    let (summary, refused) = match upload.progress() {
                        Progress::Running(summary, refused) => (summary, refused),
                        _ => Default::default(),
                    };
                    let why = words(lang, "import-shut-out", &[]);
                    upload.note(Progress::Broken(summary, refused, why));
                }
            }
        });
    }
    Ok(Redirect::to(&format!("/import/{token}")))
}

/// Waits until whoever imports may not do so any more: an import of many rows takes its time.
async fn shut_out(desk: &Desk, upload: &Upload) {
    let mut head = desk.executor().head();
    loop {
        // As soon as anything changes, but not with every row.
        let _ = head.changed().await;
        if matches!(still_may(desk, upload).await, Ok(false)) {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

async fn still_may(desk: &Desk, upload: &Upload) -> store::Result<bool> {
    let Actor::Staff(staff) = upload.owner else { return Ok(false) };
    let mut tx = desk.db().read().await?;
    let staff = tx.staff_alive(&[staff]).await?.pop();
    Ok(staff.is_some_and(|staff| {
        who(Matter::Import).contains(&staff.role) && staff.regions.contains(&upload.given.region)
    }))
}

async fn import_all(desk: &Desk, upload: &Upload, lang: Lang) {
    let mut refused: Vec<Refused> = Vec::new();
    let import = Import {
        executor: desk.executor(),
        source: upload.source.clone(),
        region: upload.given.region,
        riders: Riders::by_number(),
        lang,
    };
    let rows = match crate::intake::rows(upload.bytes.as_slice(), &upload.mapping, &upload.given) {
        Ok(rows) => rows,
        Err(error) => {
            upload.note(Progress::Broken(Summary::default(), refused, error.sentence(lang)));
            return;
        }
    };
    let on_line = |line: &Line, summary: &Summary| {
        if line.outcome.is_refusal() && refused.len() < MOST_LINES {
            refused.push(Refused {
                spot: line.spot.to_string(),
                field: line.outcome.field().unwrap_or_default().to_owned(),
                code: line.outcome.code().unwrap_or_default(),
                sentence: line.outcome.sentence(lang),
            });
        }
        if summary.rows.is_multiple_of(100) {
            upload.note(Progress::Running(summary.clone(), refused.clone()));
        }
    };
    let ended = import::run(rows, &import, on_line).await;
    upload.note(match ended {
        Ok(report) => match report.broken {
            None => Progress::Done(report.summary, refused),
            Some(error) => Progress::Broken(report.summary, refused, error.sentence(lang)),
        },
        Err(error) => {
            let problem = Problem::read(&error, lang);
            Progress::Broken(Summary::default(), refused, problem.sentence().to_owned())
        }
    });
}
