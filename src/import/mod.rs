//! Brings the rows of a file to the desk, and says for each what became of it.
//!
//! Every row of a task is a command of the source (`Actor::Intake`) under its own key, so a file can be imported
//! again, after a crash or out of doubt, without a second task: what is there already is said to be there.
//!
//! | file | |
//! |---|---|
//! | [`run`], [`preview`] | the import, and what it would be |
//! | `outcome`, `summary` | what became of a row, and of all |
//! | `riders` | which rider a label in a file of positions means |
//! | `errors` | the list of refused rows, for people with a spreadsheet |
//! | `command` | `dispatch-desk import` |

mod command;
mod errors;
mod outcome;
mod riders;
mod summary;

use std::{collections::BTreeMap, io::BufRead, time::Duration};

use futures_util::StreamExt;

pub use command::{CommandError, Finished, Request, command};
pub use errors::Errors;
pub use outcome::{Line, Outcome};
pub use riders::{BadRiders, Riders};
pub use summary::Summary;

use crate::{
    domain::{
        command::{Actor, Command, What},
        id::{RegionId, RiderId},
        refusal::Lang,
    },
    engine::executor::{Error, Executor},
    intake::{FileError, Given, Mapping, PositionRow, Row, RowKind, Rows, Spot, TaskRow, rows},
    store,
};

/// How many commands are under way at once: as many as a batch takes.
pub const IN_FLIGHT: usize = 256;
/// How often a command is asked again when the desk is busy or away, and how long to wait before.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// The name of a source of orders: a lower-case letter, then up to 39 of `a–z 0–9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceName(String);

impl SourceName {
    /// Takes a name; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        Actor::source(text).map(|_| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The mappings that come with the program, each with a line of description.
pub fn mappings() -> Vec<(&'static str, String)> {
    Mapping::names()
}

/// Who imports, and where to.
#[derive(Debug)]
pub struct Import<'a> {
    /// The desk.
    pub executor: &'a Executor,
    /// Whose orders they are; keys of different sources never meet.
    pub source: SourceName,
    /// The region of the riders whose positions are kept.
    pub region: RegionId,
    /// Which rider a label means.
    pub riders: Riders,
    /// The language of the desk's sentences.
    pub lang: Lang,
}

/// How an import ended.
#[derive(Debug)]
pub struct Report {
    /// What became of the rows.
    pub summary: Summary,
    /// Why the file could not be read to its end.
    pub broken: Option<FileError>,
}

/// What is known of a row before it is its turn in the report.
enum Waiting {
    Done(Line),
    Position(Spot, PositionRow),
    Broken(FileError),
}

/// Imports rows. `on_line` hears of each row, in the order of the file.
///
/// # Errors
/// [`store::Error`] if riders or positions can not be read or kept. What happens to a single row is in its [`Line`].
pub async fn run<R: BufRead>(
    rows: Rows<'_, R>,
    import: &Import<'_>,
    mut on_line: impl FnMut(&Line, &Summary),
) -> store::Result<Report> {
    let mut summary = Summary::default();
    let mut fixes = Fixes { import, known: BTreeMap::new(), last: BTreeMap::new() };
    let mut broken = None;
    let asked = futures_util::stream::iter(rows).map(|row| ask(row, import));
    let mut answers = std::pin::pin!(asked.buffered(IN_FLIGHT));
    while let Some(waiting) = answers.next().await {
        let line = match waiting {
            Waiting::Done(line) => line,
            Waiting::Position(spot, position) => fixes.take(spot, position).await?,
            Waiting::Broken(error) => {
                broken = Some(error);
                break;
            }
        };
        summary.count(&line);
        on_line(&line, &summary);
    }
    summary.fixes = fixes.keep().await?;
    Ok(Report { summary, broken })
}

async fn ask(row: Result<Row, FileError>, import: &Import<'_>) -> Waiting {
    let Row { spot, what } = match row {
        Ok(row) => row,
        Err(error) => return Waiting::Broken(error),
    };
    let (outcome, flags) = match what {
        RowKind::Position(position) => return Waiting::Position(spot, position),
        RowKind::Task(task) => {
            let flags = task.flags.clone();
            (create(*task, import).await, flags)
        }
        RowKind::Refused { field, problem } => (Outcome::Unread { field, problem }, Vec::new()),
        RowKind::Blank => (Outcome::Blank, Vec::new()),
    };
    Waiting::Done(Line { spot, outcome, flags })
}

async fn create(row: TaskRow, import: &Import<'_>) -> Outcome {
    let command = Command {
        actor: Actor::Intake(import.source.as_str().to_owned()),
        key: Some(row.key),
        lang: import.lang,
        what: What::Create(Box::new(row.new)),
    };
    let mut tries = 0;
    loop {
        // The same key again: whatever the desk did before, it does once.
        let answer = import.executor.execute(command.clone()).await;
        let passing = matches!(answer, Err(Error::Busy | Error::Unavailable { .. }));
        tries += 1;
        if !passing || tries == TRIES {
            return Outcome::of(answer);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The last position of each rider, kept once at the end.
struct Fixes<'a> {
    import: &'a Import<'a>,
    /// Labels that were asked for, and whom they mean.
    known: BTreeMap<String, Option<RiderId>>,
    last: BTreeMap<RiderId, PositionRow>,
}

impl Fixes<'_> {
    async fn take(&mut self, spot: Spot, position: PositionRow) -> store::Result<Line> {
        let known = self.known.get(&position.rider).copied();
        let rider = if let Some(rider) = known {
            rider
        } else {
            let found = self.find(&position.rider).await?;
            self.known.insert(position.rider.clone(), found);
            found
        };
        let outcome = match rider {
            None => Outcome::RiderUnknown(position.rider),
            Some(rider) => {
                let last = self.last.get(&rider).map(|last| last.seq);
                if last.is_none_or(|last| last < position.seq) {
                    self.last.insert(rider, position);
                }
                Outcome::Position(rider)
            }
        };
        Ok(Line { spot, outcome, flags: Vec::new() })
    }

    async fn find(&self, label: &str) -> store::Result<Option<RiderId>> {
        let Some(rider) = self.import.riders.of(label) else { return Ok(None) };
        let mut tx = self.import.executor.db().read().await?;
        let found = tx.rider(rider).await?;
        tx.rollback().await?;
        Ok(found.filter(|found| found.region == self.import.region).map(|found| found.id))
    }

    /// Keeps them, and says how many were newer than what was known.
    async fn keep(self) -> store::Result<u64> {
        if self.last.is_empty() {
            return Ok(0);
        }
        let mut tx = self.import.executor.db().begin().await?;
        let mut kept = 0;
        for (rider, position) in self.last {
            kept += tx.put_fix(rider, position.seq, position.at, position.place).await?;
        }
        tx.commit().await?;
        Ok(kept)
    }
}

/// What an import would be: the first rows, and the counts of all. Nothing is asked of any desk.
#[derive(Debug)]
pub struct Preview {
    /// The first rows.
    pub rows: Vec<Row>,
    /// The counts of all rows.
    pub summary: Summary,
    /// Why the file could not be read to its end.
    pub broken: Option<FileError>,
}

/// Reads a whole file and keeps its first rows, to be looked at before an import.
///
/// # Errors
/// [`FileError`], if nothing of it can be read.
pub fn preview(
    input: impl BufRead,
    mapping: &Mapping,
    given: &Given,
    first: usize,
) -> Result<Preview, FileError> {
    preview_each(input, mapping, given, first, |_| {})
}

/// The same, and `on_row` hears of every row.
///
/// # Errors
/// [`FileError`], if nothing of it can be read.
pub fn preview_each(
    input: impl BufRead,
    mapping: &Mapping,
    given: &Given,
    first: usize,
    mut on_row: impl FnMut(&Row),
) -> Result<Preview, FileError> {
    let mut preview = Preview { rows: Vec::new(), summary: Summary::default(), broken: None };
    for row in rows(input, mapping, given)? {
        match row {
            Ok(row) => {
                preview.summary.count_row(&row);
                on_row(&row);
                if preview.rows.len() < first {
                    preview.rows.push(row);
                }
            }
            Err(error) => preview.broken = Some(error),
        }
    }
    Ok(preview)
}
