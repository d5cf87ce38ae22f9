//! A file of another system, uploaded: what was chosen for it, and a first look into it.

use askama::Template;
use axum::{
    extract::{Extension, Multipart, State, multipart::MultipartRejection},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};

use super::super::{
    desk::Desk,
    form_token,
    page::{Shell, filters, render, words},
    people::{Seat, StaffSeat, zone},
    problem::{Problem, ProblemCode},
    uploads::{FILE_LIMIT, ROWS_LIMIT, Upload},
};
use crate::{
    domain::{
        command::{Actor, Stop, Verb},
        id::RegionId,
        refusal::Lang,
        table,
    },
    import::{self, Preview, SourceName, preview_each},
    intake::{FileError, Given, Mapping, RowKind},
    store::{self, NamedRegion},
};

/// Rows of each kind that are shown before an import.
const SHOWN: usize = 10;

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

/// What was chosen beside the file.
#[derive(Clone, Debug, Default)]
struct Typed {
    mapping: String,
    region: String,
    source: String,
    base_date: String,
    pickup: String,
}

pub(super) fn may(seat: &Seat) -> Result<(), Problem> {
    if table::who(Verb::Create).contains(&seat.caller.role) {
        Ok(())
    } else {
        Err(Problem::new(ProblemCode::Forbidden, seat.lang()))
    }
}

pub(super) async fn regions(desk: &Desk, seat: &Seat) -> Result<Vec<NamedRegion>, Problem> {
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
    expected: Option<Extension<form_token::Expected>>,
    fields: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    may(&seat)?;
    let lang = seat.lang();
    let Some(Extension(expected)) = expected else { return Err(form_token::refused(lang)) };
    let mut fields = fields.map_err(|_| Problem::new(ProblemCode::BodyInvalid, lang))?;
    let mut ours = false;
    let mut typed = Typed::default();
    let mut file = None;
    loop {
        let broken = |error: axum::extract::multipart::MultipartError| {
            let code = match error.status() {
                StatusCode::PAYLOAD_TOO_LARGE => ProblemCode::BodyTooLarge,
                StatusCode::INTERNAL_SERVER_ERROR => ProblemCode::TimedOut,
                _ => ProblemCode::BodyMalformed,
            };
            Problem::new(code, lang)
        };
        let Some(field) = fields.next_field().await.map_err(broken)? else { break };
        let name = field.name().unwrap_or_default().to_owned();
        if name == form_token::FIELD {
            ours = expected.is(&field.text().await.map_err(broken)?);
            continue;
        }
        // It stands first in the form: nothing is read of a file that another site has sent.
        if !ours {
            return Err(form_token::refused(lang));
        }
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
    if !ours {
        return Err(form_token::refused(lang));
    }
    let regions = regions(&desk, &seat).await?;
    match chosen(&typed, &regions) {
        Ok((.., source)) if speaks(&desk, &source, lang).await? => {
            let taken = words(lang, "wrong-source-taken", &[("source", source.as_str())]);
            show_form(&desk, &seat, typed, Some(taken)).await
        }
        Ok((mapping, given, source)) => {
            let Some((name, bytes)) = file.filter(|(_, bytes)| !bytes.is_empty()) else {
                let none = words(lang, "import-no-file", &[]);
                return show_form(&desk, &seat, typed, Some(none)).await;
            };
            let preview = look(&bytes, &mapping, &given);
            let rows = preview.as_ref().map_or(0, |preview| preview.summary.rows);
            if rows > ROWS_LIMIT {
                let many = words(lang, "import-too-many-rows", &[("v", &rows.to_string())]);
                return show_form(&desk, &seat, typed, Some(many)).await;
            }
            let upload = Upload {
                owner: seat.actor().clone(),
                at: desk.now(),
                preview,
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

/// Whether a source speaks for itself: a shop that has a token.
async fn speaks(desk: &Desk, source: &SourceName, lang: Lang) -> Result<bool, Problem> {
    let failed = |error: store::Error| Problem::read(&error, lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let shop = Actor::Intake(source.as_str().to_owned());
    Ok(!tx.tokens_of(&shop, now).await.map_err(failed)?.is_empty())
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
