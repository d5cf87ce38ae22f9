//! Plays scenarios against a product, with three kinds of client over real HTTP, and records everything.
//!
//! It judges nothing: what it writes down is all that the judge knows.
//!
//! | file | |
//! |---|---|
//! | `mod` | a run, from the first line to the last |
//! | `cast` | who plays the riders |
//! | `play` | one scenario, step by step |
//! | `race` | several at once |
//! | `ends` | how it ended, on all three ends; and tidying up |
//! | `ask` | one request, recorded |
//! | `log` | the log of the whole run |

mod ask;
mod cast;
mod ends;
mod log;
mod play;
mod race;

use std::{future::Future, pin::Pin, sync::Arc};

use super::{
    product,
    record::{Line, NotPlayed, RunLine},
    scenario::{Moment, Racer, Scenario, What},
    table::Table,
    wire::Wire,
};
use crate::{clock::Clock, domain::id::Timestamp, stand::People};

/// Sets a product's clock.
pub type SetClock = Arc<
    dyn Fn(Timestamp) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send>> + Send + Sync,
>;

/// What is asked, and with whose credentials.
pub struct Target {
    /// Where it is.
    pub origin: String,
    /// What it is called in the report.
    pub name: String,
    /// Whether nobody else uses it meanwhile.
    pub private: bool,
    /// Its database, if that is known.
    pub database: Option<String>,
    /// Its version, if that is known.
    pub product: Option<String>,
    /// Who works there.
    pub people: People,
    /// How its clock is set, if it can be.
    pub set_clock: Option<SetClock>,
}

impl std::fmt::Debug for Target {
    /// The credentials stay out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Target").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// How a run is made.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often each scenario with a race in it is played.
    pub rounds: u32,
    /// Where all chance comes from: the order in which racers are written.
    pub seed: u64,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// How many rounds of scenarios are over.
    pub done: usize,
    /// Of how many.
    pub all: usize,
    /// Which scenario is played.
    pub scenario: &'a str,
}

/// Why a run could not be made, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The product is not there, or is none that could be asked.
    #[error("{0}")]
    Target(String),
    /// The record could not be written.
    #[error("the record can not be written: {0}")]
    Record(#[from] std::io::Error),
}

/// Where lines go.
pub(super) type Sink = Box<dyn FnMut(Line) -> std::io::Result<()> + Send>;

pub(super) struct Runner {
    wire: Wire,
    table: Table,
    troupe: cast::Troupe,
    set_clock: Option<SetClock>,
    sink: Sink,
    chance: fastrand::Rng,
    /// Makes the keys of this run its own.
    run: String,
    keys: u64,
}

/// Something went wrong that is not the product's fault, or that leaves nothing to go on with: the scenario ends here.
#[derive(Debug)]
enum Stop {
    /// This scenario can not go on.
    Scenario(String),
    /// The record can not be written.
    Record(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Record(error)
    }
}

/// Plays `scenarios` against `target` and gives every line of the record to `sink`.
///
/// # Errors
/// [`Error`].
pub async fn run(
    target: Target,
    table: (Table, String),
    scenarios: &[Scenario],
    options: &Options,
    clock: &dyn Clock,
    sink: Sink,
    progress: &(dyn Fn(Progress<'_>) + Send + Sync),
) -> Result<(), Error> {
    let (table, table_text) = table;
    is_there(&target).await?;
    let mut runner = Runner {
        wire: Wire::new(&target.origin).map_err(Error::Target)?,
        table,
        troupe: cast::Troupe::new(target.people),
        set_clock: target.set_clock,
        sink,
        chance: fastrand::Rng::with_seed(options.seed),
        run: format!("a{}", clock.now().0),
        keys: 0,
    };
    runner.line(Line::Run(Box::new(RunLine {
        format: "dispatch-history/1".to_owned(),
        recorder: format!("dispatch-desk {}", env!("CARGO_PKG_VERSION")),
        began_at: clock.now(),
        target: target.name,
        private: target.private,
        product: target.product,
        database: target.database,
        manual_clock: runner.set_clock.is_some(),
        rounds: options.rounds,
        seed: options.seed,
        table: runner.table.name.clone(),
        table_text,
    })))?;
    let before = runner.beginning().await?;
    let rounds = |scenario: &Scenario| if scenario.has_race() { options.rounds } else { 1 };
    let all = scenarios.iter().map(|scenario| rounds(scenario) as usize).sum();
    let mut done = 0;
    for scenario in scenarios {
        if let Some(why) = runner.hindrance(scenario) {
            runner.not_played(scenario, why)?;
            done += rounds(scenario) as usize;
            continue;
        }
        for round in 1..=rounds(scenario) {
            progress(Progress { done, all, scenario: &scenario.id });
            runner.round(scenario, round).await?;
            done += 1;
        }
    }
    progress(Progress { done, all, scenario: "" });
    runner.numbers(before).await?;
    runner.line(Line::Over { at: clock.now() })?;
    Ok(())
}

/// Whether the product answers at all: a run against nothing is no verdict on anything.
async fn is_there(target: &Target) -> Result<(), Error> {
    let wire = Wire::new(&target.origin).map_err(Error::Target)?;
    let sent = wire.send(None, None, &product::time(), None).await;
    let why = match &sent.reply {
        Ok(reply) if product::time_of(reply).is_some() => return Ok(()),
        Ok(reply) => format!("it answers {} when it is asked for its time", reply.status),
        Err(why) => why.clone(),
    };
    Err(Error::Target(format!("{} can not be asked: {why}", target.name)))
}

impl Runner {
    fn line(&mut self, line: Line) -> std::io::Result<()> {
        (self.sink)(line)
    }

    fn not_played(&mut self, scenario: &Scenario, why: NotPlayed) -> std::io::Result<()> {
        let (scenario, text) = (scenario.id.clone(), scenario.text.clone());
        self.line(Line::NotPlayed { scenario, text, why })
    }

    /// Why a scenario can not be played at all.
    fn hindrance(&self, scenario: &Scenario) -> Option<NotPlayed> {
        if scenario.commands().any(|asked| self.table.means(asked.ask.command).is_none()) {
            return Some(NotPlayed::NoSuchCommand);
        }
        // An offer that means a direct assignment has no deadline that could pass.
        if scenario.needs_time() && self.table.lapse.is_none() {
            let by_deadline = |moment: &Moment| !matches!(moment, Moment::Later(_));
            if moments(scenario).iter().any(by_deadline) {
                return Some(NotPlayed::NoSuchCommand);
            }
        }
        let is_fine = |moment: &Moment| match moment {
            Moment::BeforeDeadline(ms) => (1..1_000).contains(ms),
            Moment::AfterDeadline(_) | Moment::Later(_) => false,
        };
        let needs_clock = moments(scenario).iter().any(is_fine);
        (needs_clock && self.set_clock.is_none()).then_some(NotPlayed::NeedsClock)
    }

    /// Plays one round.
    async fn round(&mut self, scenario: &Scenario, round: u32) -> Result<(), Error> {
        let cast = match self.troupe.cast(scenario) {
            Ok(cast) => cast,
            Err(why) => return Ok(self.not_played(scenario, why)?),
        };
        match play::play(self, scenario, round, cast).await {
            Ok(()) => Ok(()),
            Err(Stop::Record(error)) => Err(error.into()),
            Err(Stop::Scenario(why)) => {
                let scenario = scenario.id.clone();
                Ok(self.line(Line::Broken { scenario, round, why })?)
            }
        }
    }
}

/// The moments of a scenario.
fn moments(scenario: &Scenario) -> Vec<Moment> {
    let of_step = |what: &What| match what {
        What::Clock(moment) => vec![*moment],
        What::Race(race) => race
            .racers
            .iter()
            .filter_map(|racer| match racer {
                Racer::Clock(moment) => Some(*moment),
                Racer::Asks(_) => None,
            })
            .collect(),
        What::Ask(_) | What::Bulk(_) | What::Look { .. } => Vec::new(),
    };
    scenario.steps.iter().flat_map(|step| of_step(&step.what)).collect()
}
