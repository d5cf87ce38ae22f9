//! `dispatch-desk import`: one file, from the command line.

use std::{
    fs::File,
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
};

use indicatif::ProgressBar;

use super::{
    Errors, Import, Line, Riders, SourceName, Summary, preview_each, riders::BadRiders, run,
};
use crate::{
    domain::{geo::Place, id::RegionId, order::Stop, policy::Region, refusal::Lang},
    engine::executor::{Executor, Settings},
    intake::{FileError, Given, Mapping, MappingError, Row, RowKind, rows},
    store::{self, Db},
};

/// How many rows a dry run shows.
const SHOWN: usize = 10;

/// What is wanted, as it stands on the command line.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The file.
    pub file: PathBuf,
    /// The name of a mapping, or a file of one.
    pub mapping: String,
    /// The region, as `G1`.
    pub region: String,
    /// Whose orders they are; the mapping's name if not given.
    pub source: Option<String>,
    /// The date of times without one, as `2026-11-30`.
    pub base_date: Option<String>,
    /// Where goods are fetched: `LAT,LNG,ADDRESS`.
    pub pickup: Option<String>,
    /// A file that says which rider a label means.
    pub riders: Option<PathBuf>,
    /// Only say what would be.
    pub dry_run: bool,
    /// Where to write the refused rows.
    pub errors: Option<PathBuf>,
    /// The language of sentences.
    pub lang: String,
}

/// Why an import could not run, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// Something on the command line means nothing.
    #[error("{0}")]
    Usage(String),
    /// The file can not be read.
    #[error("{}: {}", .0.code(), .0.sentence(*.1))]
    File(FileError, Lang),
    /// The mapping can not be used.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The list of riders can not be used.
    #[error(transparent)]
    Riders(#[from] BadRiders),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Something could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The list of refused rows could not be written.
    #[error(transparent)]
    Errors(#[from] csv::Error),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Every row was taken, or was there already.
    AllTaken,
    /// Somebody has to look at some rows.
    SomeRefused,
}

/// Runs it, and writes the summary to `out`.
///
/// # Errors
/// [`CommandError`]. Rows that were created before stay; the same file can be imported again.
pub async fn command(
    request: &Request,
    db: &Db,
    out: &mut impl Write,
) -> Result<Finished, CommandError> {
    let usage = |what: String| CommandError::Usage(what);
    let lang = Lang::parse(&request.lang)
        .ok_or_else(|| usage(format!("no language {}: zh-CN or en", request.lang)))?;
    let mapping = mapping(&request.mapping)?;
    let wanted = request.source.as_deref().unwrap_or(&request.mapping);
    let source = SourceName::parse(wanted).ok_or_else(|| {
        usage(format!(
            "\"{wanted}\" is no source: a lower-case letter, then a-z 0-9 _ -, 40 at most"
        ))
    })?;
    let region = region(&request.region, db).await?;
    let mut given = Given::new(region.id, region.time_zone);
    given.base_date = match &request.base_date {
        None => None,
        Some(text) => {
            Some(text.parse().map_err(|_| usage(format!("\"{text}\" is no date: 2026-11-30")))?)
        }
    };
    given.pickup = request.pickup.as_deref().map(pickup).transpose()?;
    let riders = match &request.riders {
        None => Riders::by_number(),
        Some(file) => Riders::parse(&std::fs::read_to_string(file)?)?,
    };
    let file = File::open(&request.file)
        .map_err(|error| usage(format!("{}: {error}", request.file.display())))?;
    // Hidden by itself where stderr is no terminal.
    let bar = ProgressBar::new(file.metadata()?.len());
    let input = BufReader::new(bar.wrap_read(file));
    let told = |error| CommandError::File(error, lang);
    let mut refused = Refused { errors: None, failed: None };
    let list =
        |file: &PathBuf| -> Result<_, CommandError> { Ok(Errors::new(File::create(file)?, lang)?) };
    if request.dry_run {
        refused.errors = request.errors.as_ref().map(list).transpose()?;
        let each = |row: &Row| refused.note(|errors| errors.note_row(row));
        let preview = preview_each(input, &mapping, &given, SHOWN, each).map_err(told)?;
        bar.finish_and_clear();
        for row in &preview.rows {
            writeln!(out, "{}: {}", row.spot, shown(&row.what, lang))?;
        }
        refused.finish()?;
        return told_summary(&preview.summary, preview.broken, lang, out);
    }
    let rows = rows(input, &mapping, &given).map_err(told)?;
    refused.errors = request.errors.as_ref().map(list).transpose()?;
    let executor = Executor::start(db.clone(), Settings::default());
    let import = Import { executor: &executor, source, region: region.id, riders, lang };
    let each = |line: &Line, _: &Summary| refused.note(|errors| errors.note(line));
    let report = run(rows, &import, each).await;
    executor.stop().await;
    bar.finish_and_clear();
    let report = report?;
    // The summary first: what was created stays created, whatever became of the list.
    let finished = told_summary(&report.summary, report.broken, lang, out);
    refused.finish()?;
    finished
}

/// The list of refused rows, if one is wanted, and what first kept it from being written.
struct Refused {
    errors: Option<Errors<File>>,
    failed: Option<csv::Error>,
}

impl Refused {
    fn note(&mut self, note: impl FnOnce(&mut Errors<File>) -> csv::Result<()>) {
        if let Some(Err(error)) = self.errors.as_mut().map(note) {
            self.failed.get_or_insert(error);
        }
    }

    fn finish(self) -> Result<(), CommandError> {
        match (self.failed, self.errors) {
            (Some(error), _) => Err(error.into()),
            (None, Some(errors)) => Ok(errors.finish()?),
            (None, None) => Ok(()),
        }
    }
}

fn told_summary(
    summary: &Summary,
    broken: Option<FileError>,
    lang: Lang,
    out: &mut impl Write,
) -> Result<Finished, CommandError> {
    writeln!(out, "{}", summary.sentence(lang))?;
    for (code, count) in &summary.codes {
        writeln!(out, "  {code}: {count}")?;
    }
    for (flag, count) in &summary.flags {
        writeln!(out, "  {}: {count}", flag.words(lang))?;
    }
    match broken {
        Some(error) => Err(CommandError::File(error, lang)),
        None if summary.refusals() > 0 => Ok(Finished::SomeRefused),
        None => Ok(Finished::AllTaken),
    }
}

/// A row as a dry run shows it.
fn shown(what: &RowKind, lang: Lang) -> String {
    match what {
        RowKind::Task(task) => {
            format!(
                "{} → {} [{}]",
                task.new.pickup.address,
                task.new.dropoff.address,
                task.key.as_str()
            )
        }
        RowKind::Position(position) => {
            format!(
                "{} {} {}, {}",
                position.rider, position.at, position.place.lat, position.place.lng
            )
        }
        RowKind::Refused { field, problem } => {
            let field = field.as_deref().unwrap_or("-");
            format!("{} ({field}) {}", problem.code(), problem.sentence(lang))
        }
        RowKind::Blank => "-".to_owned(),
    }
}

fn mapping(name: &str) -> Result<Mapping, CommandError> {
    let is_file = Path::new(name).extension().is_some_and(|ending| ending == "toml");
    Ok(if is_file {
        let text = std::fs::read_to_string(name);
        let text = text.map_err(|error| CommandError::Usage(format!("{name}: {error}")))?;
        Mapping::from_toml(&text)?
    } else {
        Mapping::named(name)?
    })
}

async fn region(text: &str, db: &Db) -> Result<Region, CommandError> {
    let unknown = || CommandError::Usage(format!("there is no region {text}"));
    let wanted = RegionId::parse(text).ok_or_else(unknown)?;
    let mut tx = db.begin().await?;
    let locked = tx.lock_regions(&[], &[wanted]).await?;
    let now = tx.now().await?;
    let found = tx.policies(locked, now).await?.pop();
    tx.rollback().await?;
    found.ok_or_else(unknown)
}

fn pickup(text: &str) -> Result<Stop, CommandError> {
    let usage = || CommandError::Usage(format!("\"{text}\" is no pickup: LAT,LNG,ADDRESS"));
    let mut parts = text.splitn(3, ',').map(str::trim);
    let mut number = || parts.next().and_then(|part| part.parse::<f64>().ok()).ok_or_else(usage);
    let place = Place { lat: number()?, lng: number()? };
    let address = parts.next().filter(|address| !address.is_empty()).ok_or_else(usage)?;
    if !place.is_on_earth() {
        return Err(usage());
    }
    let address = address.to_owned();
    Ok(Stop { lat: place.lat, lng: place.lng, address, name: None, phone: None })
}
