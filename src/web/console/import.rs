//! A file of another system: uploaded, looked at, imported, with what became of each row.

use std::sync::Arc;

use askama::Template;
use axum::{
    extract::{Multipart, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};

use super::super::{
    desk::Desk,
    extract::TokenPath,
    page::{Shell, filters, render, words},
    people::{Seat, StaffSeat, zone},
    problem::{Problem, ProblemCode},
    uploads::{FILE_LIMIT, MOST_LINES, Progress, Refused, Upload},
};
use crate::{
    domain::{
        command::{Stop, Verb},
        id::RegionId,
        refusal::Lang,
        table,
    },
    import::{self, Import, Line, Preview, Riders, SourceName, Summary, preview_each},
    intake::{FileError, Given, Mapping, Row, RowKind},
    store::{self, NamedRegion},
};

/// Rows of each kind that are shown before an import.
const SHOWN: usize = 10;
/// While an import runs, the page comes anew after so many seconds.
const EVERY: &str = "2";

#[derive(Template)]
#[template(path = "console/import.html")]
struct FormPage {
    shell: Shell,
    mappings: Vec<(&'static str, String)>,
    regions: Vec<(i64, String)>,
    typed: Typed,
    trouble: Option<String>,
    limit_mib: usize,
}

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

/// What was chosen beside the file.
#[derive(Clone, Debug, Default)]
struct Typed {
    mapping: String,
    region: String,
    source: String,
    base_date: String,
    pickup: String,
}

fn may(seat: &Seat) -> Result<(), Problem> {
    if table::who(Verb::Create).contains(&seat.caller.role) {
        Ok(())
    } else {
        Err(Problem::new(ProblemCode::Forbidden, seat.lang()))
    }
}

async fn regions(desk: &Desk, seat: &Seat) -> Result<Vec<NamedRegion>, Problem> {
    let failed = |error: store::Error| Problem::read(&error, seat.lang());
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    seat.regions(&mut tx, now).await.map_err(failed)
}

async fn show_form(
    desk: &Desk,
    seat: &Seat,
    typed: Typed,
    trouble: Option<String>,
) -> Result<Response, Problem> {
    let regions = regions(desk, seat).await?;
    let status = if trouble.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let page = FormPage {
        shell: seat.shell(desk, &regions, zone(&regions, desk.now())),
        mappings: import::mappings(),
        regions: regions.into_iter().map(|found| (found.region.id.0, found.name)).collect(),
        typed,
        trouble,
        limit_mib: FILE_LIMIT >> 20,
    };
    Ok(render(&page, seat.lang(), status))
}

/// The form.
pub(super) async fn form(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
) -> Result<Response, Problem> {
    may(&seat)?;
    let typed = Typed { source: "import".to_owned(), ..Typed::default() };
    show_form(&desk, &seat, typed, None).await
}

/// The file, uploaded: read at once, imported only when somebody has looked at it.
pub(super) async fn upload(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    mut fields: Multipart,
) -> Result<Response, Problem> {
    may(&seat)?;
    let lang = seat.lang();
    let mut typed = Typed::default();
    let mut file = None;
    loop {
        let large = |error: &axum::extract::multipart::MultipartError| {
            error.status() == StatusCode::PAYLOAD_TOO_LARGE
        };
        let broken = |error: axum::extract::multipart::MultipartError| {
            let code =
                if large(&error) { ProblemCode::BodyTooLarge } else { ProblemCode::BodyMalformed };
            Problem::new(code, lang)
        };
        let Some(field) = fields.next_field().await.map_err(broken)? else { break };
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            let of = field.file_name().unwrap_or_default().to_owned();
            file = Some((of, field.bytes().await.map_err(broken)?.to_vec()));
            continue;
        }
        let text = field.text().await.map_err(broken)?.trim().to_owned();
        match name.as_str() {
            "mapping" => typed.mapping = text,
            "region" => typed.region = text,
            "source" => typed.source = text,
            "base_date" => typed.base_date = text,
            "pickup" => typed.pickup = text,
            _ => {}
        }
    }
    let regions = regions(&desk, &seat).await?;
    match chosen(&typed, &regions) {
        Ok((mapping, given, source)) => {
            let Some((name, bytes)) = file.filter(|(_, bytes)| !bytes.is_empty()) else {
                let none = words(lang, "import-no-file", &[]);
                return show_form(&desk, &seat, typed, Some(none)).await;
            };
            let upload = Upload {
                owner: seat.actor().clone(),
                at: desk.now(),
                preview: look(&bytes, &mapping, &given),
                progress: std::sync::Mutex::default(),
                mapping_name: typed.mapping,
                name,
                bytes,
                mapping,
                given,
                source,
            };
            let token = desk.token().map_err(|_| Problem::new(ProblemCode::Unavailable, lang))?;
            desk.uploads().put(token.clone(), upload, desk.now());
            Ok(Redirect::to(&format!("/import/{token}")).into_response())
        }
        Err(key) => show_form(&desk, &seat, typed, Some(words(lang, key, &[]))).await,
    }
}

/// The counts of a file, and a few rows of both kinds: what would be imported, and what would not.
fn look(bytes: &[u8], mapping: &Mapping, given: &Given) -> Result<Preview, FileError> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let mut preview = preview_each(bytes, mapping, given, 0, |row| {
        let refused = matches!(row.what, RowKind::Refused { .. });
        let kept = if refused { &mut bad } else { &mut good };
        if kept.len() < SHOWN && row.what != RowKind::Blank {
            kept.push(row.clone());
        }
    })?;
    good.extend(bad);
    preview.rows = good;
    Ok(preview)
}

/// What was chosen, or the words for what can not be used of it.
fn chosen(
    typed: &Typed,
    regions: &[NamedRegion],
) -> Result<(Mapping, Given, SourceName), &'static str> {
    let mapping = Mapping::named(&typed.mapping).map_err(|_| "wrong-mapping")?;
    let region = typed.region.parse().map(RegionId).ok();
    // The region is one of the uploader's own: a source by itself could order anywhere.
    let region = region.and_then(|id| regions.iter().find(|found| found.region.id == id));
    let region = &region.ok_or("wrong-region")?.region;
    let source = SourceName::parse(&typed.source).ok_or("wrong-source")?;
    let mut given = Given::new(region.id, region.time_zone);
    if !typed.base_date.is_empty() {
        given.base_date = Some(typed.base_date.parse().map_err(|_| "wrong-date")?);
    }
    if !typed.pickup.is_empty() {
        given.pickup = Some(stop(&typed.pickup).ok_or("wrong-pickup")?);
    }
    Ok((mapping, given, source))
}

/// `31.23, 121.47, street and number`.
fn stop(text: &str) -> Option<Stop> {
    let mut parts = text.splitn(3, [',', '，']).map(str::trim);
    let (lat, lng) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let address = parts.next().filter(|address| !address.is_empty())?.to_owned();
    let stop = Stop { lat, lng, address, name: None, phone: None };
    stop.place().is_on_earth().then_some(stop)
}

fn found(desk: &Desk, seat: &Seat, token: &str) -> Result<Arc<Upload>, Problem> {
    may(seat)?;
    let upload = desk.uploads().get(token, seat.actor());
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
        tracing::info!(by = %seat.actor(), source = upload.source.as_str(), "a file is imported");
        let (desk, lang) = (desk.clone(), seat.lang());
        tokio::spawn(async move { import_all(&desk, &upload, lang).await });
    }
    Ok(Redirect::to(&format!("/import/{token}")))
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

#[cfg(test)]
mod tests {
    use super::stop;

    #[test]
    fn a_pickup_is_a_position_and_an_address() {
        let read = stop("31.23, 121.47, 人民大道 100 号, 2 楼");
        assert_eq!(read.map(|stop| stop.address).as_deref(), Some("人民大道 100 号, 2 楼"));
        for bad in ["", "31.23,121.47", "91, 0, x", "x, y, z"] {
            assert_eq!(stop(bad), None, "{bad}");
        }
    }
}
