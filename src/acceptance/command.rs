//! From the command line to the verdict.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use super::{
    evidence,
    judge::{self, RunVerdict},
    known_bad::{Fault, Small},
    record::{Break, Chain, Line, read},
    report,
    runner::{self, Options, Progress, SetClock, Target},
    scenario::{self, Scenario},
    table::{TABLES, Table},
};
use crate::{
    clock::SystemClock,
    domain::refusal::Lang,
    stand::{self, Kind, People, PrivateDesk},
};

/// What is asked.
#[derive(Clone, Debug)]
pub enum Asked {
    /// A private desk.
    Private(Kind),
    /// A product at an address, with a file of credentials.
    At {
        /// Where.
        origin: String,
        /// Whose.
        credentials: PathBuf,
    },
    /// A small server with a known fault, or with none.
    Small(Option<Fault>),
}

/// A run, as it was asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is asked.
    pub asked: Asked,
    /// The table: a name of one that comes along, or a file.
    pub table: String,
    /// Only these scenarios.
    pub scenarios: Vec<String>,
    /// A folder of scenarios, instead of those that come along.
    pub scenario_folder: Option<PathBuf>,
    /// How it is run.
    pub options: Options,
    /// Where the evidence goes.
    pub out: PathBuf,
    /// The language of the first report.
    pub lang: Lang,
}

/// Why there is no verdict.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for can not be.
    #[error("{0}")]
    Request(String),
    /// A scenario can not be used.
    #[error(transparent)]
    Scenario(#[from] scenario::BadScenario),
    /// The table can not be used.
    #[error(transparent)]
    Table(#[from] super::table::BadTable),
    /// There is no private desk.
    #[error("a private desk can not be started: {0}")]
    Stand(#[from] stand::Error),
    /// There is no small server.
    #[error("a small server can not be started: {0}")]
    Small(io::Error),
    /// Somebody has broken it off.
    #[error(
        "stopped before the end: there is no verdict; on a running product, tasks of the scenario that was played may be left"
    )]
    Stopped,
    /// The run could not be made.
    #[error(transparent)]
    Run(#[from] runner::Error),
    /// The record can not be judged.
    #[error(transparent)]
    Judge(#[from] judge::NoCase),
    /// A line of the record can not be read.
    #[error("the record can not be read: {0}")]
    Record(#[from] Break),
    /// A file can not be read or written.
    #[error("{file}: {error}")]
    File {
        /// Which one.
        file: String,
        /// Why not.
        error: io::Error,
    },
}

fn of_file(file: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let file = file.display().to_string();
    move |error| Error::File { file, error }
}

/// The table of that name, or in that file.
fn table(name: &str) -> Result<(Table, String), Error> {
    if let Some((name, text)) = TABLES.iter().find(|(known, _)| *known == name) {
        return Ok((Table::parse(name, text)?, (*text).to_owned()));
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(of_file(path))?;
    Ok((Table::parse(name, &text)?, text))
}

/// The scenarios that are asked for.
fn scenarios(request: &Request) -> Result<Vec<Scenario>, Error> {
    let all = match &request.scenario_folder {
        Some(folder) => scenario::from_folder(folder)?,
        None => scenario::built_in()?,
    };
    if request.scenarios.is_empty() {
        return Ok(all);
    }
    let known = |id: &String| all.iter().any(|scenario| scenario.id == *id);
    if let Some(stranger) = request.scenarios.iter().find(|id| !known(id)) {
        return Err(Error::Request(format!("there is no scenario {stranger}")));
    }
    Ok(all.into_iter().filter(|scenario| request.scenarios.contains(&scenario.id)).collect())
}

/// Plays, judges and writes the evidence, unless `stopped` comes first.
///
/// # Errors
/// [`Error`] if there is no verdict; a failed run is one.
pub async fn run(
    request: &Request,
    progress: &(dyn Fn(Progress<'_>) + Send + Sync),
    stopped: impl Future<Output = ()>,
) -> Result<RunVerdict, Error> {
    let (table, text) = table(&request.table)?;
    let scenarios = scenarios(request)?;
    let mode = table.mode;
    let (target, desk, small) = match &request.asked {
        Asked::Private(kind) => {
            let desk = Arc::new(PrivateDesk::start(kind, mode).await?);
            (private(&desk), Some(desk), None)
        }
        Asked::At { origin, credentials } => (at(origin, credentials)?, None, None),
        Asked::Small(fault) => {
            let small = Small::start(*fault, mode).await.map_err(Error::Small)?;
            (small.target(), None, Some(small))
        }
    };
    // Whoever breaks it off leaves no server and no database behind.
    let played = tokio::select! {
        played = play(request, target, (table, text), &scenarios, progress) => played,
        () = stopped => Err(Error::Stopped),
    };
    // Nobody else holds it by now: the target went with the run.
    if let Some(desk) = desk.and_then(Arc::into_inner) {
        desk.end().await;
    }
    if let Some(small) = small {
        small.stop().await;
    }
    played?;
    let (verdict, broken) = judge_folder(&request.out)?;
    if let Some(broken) = broken {
        return Err(broken.into());
    }
    report::write(&request.out, &verdict, None, request.lang).map_err(of_file(&request.out))?;
    Ok(verdict)
}

/// Plays scenarios against `target` and leaves the record in the folder.
pub(super) async fn play(
    request: &Request,
    target: Target,
    table: (Table, String),
    scenarios: &[Scenario],
    progress: &(dyn Fn(Progress<'_>) + Send + Sync),
) -> Result<(), Error> {
    let out = &request.out;
    evidence::ready(out).map_err(of_file(out))?;
    let (partial, file) = evidence::begin(out).map_err(of_file(out))?;
    let chain = Arc::new(Mutex::new(Chain::new(file)));
    let sink = {
        let chain = Arc::clone(&chain);
        Box::new(move |line: Line| {
            let mut chain = chain.lock().map_err(|_| io::Error::other("the record is lost"))?;
            chain.push(&line)
        })
    };
    runner::run(target, table, scenarios, &request.options, &SystemClock, sink, progress).await?;
    let flushed = match chain.lock() {
        Ok(mut chain) => chain.flush(),
        Err(_) => Err(io::Error::other("the record is lost")),
    };
    flushed.map_err(of_file(&partial))?;
    evidence::complete(out, &partial).map_err(of_file(&partial))
}

fn private(desk: &Arc<PrivateDesk>) -> Target {
    let weak = Arc::downgrade(desk);
    let set_clock: SetClock = Arc::new(move |to| {
        let desk = weak.upgrade();
        Box::pin(async move {
            let desk = desk.ok_or("the private desk has ended")?;
            desk.set_time(to).await.map_err(|error| error.to_string())
        })
    });
    Target {
        origin: desk.origin.clone(),
        name: "private".to_owned(),
        private: true,
        database: Some(desk.database.clone()),
        product: Some(format!("dispatch-desk {}", env!("CARGO_PKG_VERSION"))),
        people: desk.people.clone(),
        set_clock: Some(set_clock),
    }
}

fn at(origin: &str, credentials: &Path) -> Result<Target, Error> {
    let text = std::fs::read_to_string(credentials).map_err(of_file(credentials))?;
    let bad = |why: String| Error::Request(format!("{}: {why}", credentials.display()));
    let people: People = toml::from_str(&text).map_err(|error| bad(error.to_string()))?;
    if people.format != "dispatch-credentials/1" {
        return Err(bad(format!("format {:?} is not known", people.format)));
    }
    Ok(Target {
        origin: origin.to_owned(),
        name: origin.to_owned(),
        private: false,
        database: None,
        product: None,
        people,
        set_clock: None,
    })
}

/// Reads the record of a folder and judges it.
fn judge_folder(folder: &Path) -> Result<(RunVerdict, Option<Break>), Error> {
    let path = folder.join(evidence::HISTORY);
    let text = std::fs::read_to_string(&path).map_err(of_file(&path))?;
    let (lines, broken) = read(&text)?;
    Ok((judge::judge(&lines)?, broken))
}

/// Computes every verdict of a folder again, from its record alone, and writes the reports anew. Says as well where the
/// record does not hold together, if it does not.
///
/// # Errors
/// [`Error`] if there is no verdict.
pub fn rejudge(folder: &Path, lang: Lang) -> Result<(RunVerdict, Option<Break>), Error> {
    let (verdict, broken) = judge_folder(folder)?;
    report::write(folder, &verdict, broken.as_ref(), lang).map_err(of_file(folder))?;
    Ok((verdict, broken))
}
