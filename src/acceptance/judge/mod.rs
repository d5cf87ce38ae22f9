//! Judges a recorded run, from its lines alone: the same lines give the same verdict, at the end of a run and years later.
//!
//! Four things are held against each other: what came back, against the declared table; what the three clients showed
//! at the end, against the table and against each other; the log, against every answer; and the whole history, against
//! the possibility of one order of effects ([`crate::domain::history`]).
//!
//! | file | |
//! |---|---|
//! | `mod` | lines become rounds, rounds become scenarios |
//! | `round` | one round, step by step |
//! | `race` | is there an order of the racers that gives these answers? |
//! | `ends` | the three ends |
//! | `log` | entries, attempts, numbers |
//! | `exact` | the exact check of the history |
//! | `coverage` | what was tested, and what was not |
//! | `verdict`, `finding` | what is said |

mod coverage;
mod ends;
mod exact;
mod finding;
mod log;
mod race;
mod round;
mod verdict;

use std::collections::BTreeMap;

pub use coverage::{Cell, Coverage, Where};
pub use finding::{Finding, Rule};
pub use verdict::{
    About, Did, EndVerdict, EndView, Key, LogVerdict, Outcome, RoundVerdict, RunVerdict,
    ScenarioVerdict, Share, StepVerdict,
};

use super::{
    product,
    record::{ClockLine, Exchange, Line, NotPlayed, Purpose, RunLine, ScenarioLine},
    scenario::{Scenario, from_text},
    table::Table,
    words::Who,
};
use crate::domain::command::Actor;

/// The table that the scenarios that come along are written for. Under any other table, the table alone says what has
/// to come back.
const WRITTEN_FOR: &str = "reserve_then_confirm";

/// A record that can not be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record can not be judged: {0}")]
pub struct NoCase(String);

/// One round as it was recorded.
struct Round<'a> {
    line: &'a ScenarioLine,
    exchanges: Vec<&'a Exchange>,
    clocks: Vec<&'a ClockLine>,
    cut_short: Option<&'a str>,
}

/// What everything is judged by.
struct Court<'a> {
    run: &'a RunLine,
    table: Table,
    coverage: Coverage,
    /// Who is who in the product's log, of those who are the same people all through the run.
    actors: BTreeMap<Who, Actor>,
}

impl Court<'_> {
    /// Whether the scenarios' own expectations are meant for this table.
    fn as_written(&self) -> bool {
        self.table.name == WRITTEN_FOR
    }
}

/// Judges a recorded run.
///
/// # Errors
/// [`NoCase`] if the lines are no record of a run.
pub fn judge(lines: &[Line]) -> Result<RunVerdict, NoCase> {
    let Some(Line::Run(run)) = lines.first() else {
        return Err(NoCase("it does not say what was run".to_owned()));
    };
    if run.format != "dispatch-history/1" {
        return Err(NoCase(format!("format {:?} is not known", run.format)));
    }
    let table = Table::parse(&run.table, &run.table_text);
    let table = table.map_err(|error| NoCase(error.to_string()))?;
    let coverage = Coverage::of(&table);
    let mut court = Court { run, table, coverage, actors: BTreeMap::new() };
    let mut rounds: Vec<Round<'_>> = Vec::new();
    let mut scenarios: Vec<ScenarioVerdict> = Vec::new();
    let mut pages: Vec<&Exchange> = Vec::new();
    let (mut before, mut over_at) = (0, None);
    for line in &lines[1..] {
        match line {
            Line::Run(_) => return Err(NoCase("two runs in one record".to_owned())),
            Line::Scenario(line) => rounds.push(Round {
                line,
                exchanges: Vec::new(),
                clocks: Vec::new(),
                cut_short: None,
            }),
            Line::Exchange(exchange) if exchange.purpose == Purpose::Beginning => {
                before = exchange.reply.as_ref().and_then(product::bounds).map_or(0, |it| it.head);
            }
            Line::Exchange(exchange) if exchange.purpose == Purpose::Numbers => {
                pages.push(exchange);
            }
            Line::Exchange(exchange) => {
                current(&mut rounds, &exchange.scenario, exchange.round)?.exchanges.push(exchange);
            }
            Line::Clock(clock) => {
                current(&mut rounds, &clock.scenario, clock.round)?.clocks.push(clock);
            }
            Line::Broken { scenario, round, why } => {
                let cut = current(&mut rounds, scenario, *round);
                // A scenario that did not even begin has no round of its own.
                if let Ok(cut) = cut {
                    cut.cut_short = Some(why);
                } else {
                    return Err(NoCase(format!("{scenario}: {why}")));
                }
            }
            Line::NotPlayed { scenario, text, why } => {
                settle(&mut court, &mut rounds, &mut scenarios)?;
                let read = from_text(scenario, text).map_err(|error| NoCase(error.to_string()))?;
                scenarios.push(not_played(&read, *why));
            }
            Line::Over { at } => over_at = Some(*at),
        }
    }
    settle(&mut court, &mut rounds, &mut scenarios)?;
    let log = log::whole(&court, before, &pages);
    let failed = !log.findings.is_empty()
        || scenarios.iter().any(|scenario| scenario.outcome == Outcome::Failed);
    let played = scenarios.iter().any(|scenario| scenario.outcome == Outcome::Passed);
    Ok(RunVerdict {
        outcome: match (failed, played) {
            (true, _) => Outcome::Failed,
            (false, true) => Outcome::Passed,
            (false, false) => Outcome::NotPlayed,
        },
        run: about(&court, over_at),
        scenarios,
        log,
        coverage: court.coverage,
    })
}

fn about(court: &Court<'_>, over_at: Option<crate::domain::id::Timestamp>) -> About {
    let run = court.run;
    About {
        recorder: run.recorder.clone(),
        began_at: run.began_at,
        over_at,
        target: run.target.clone(),
        product: run.product.clone(),
        database: run.database.clone(),
        manual_clock: run.manual_clock,
        rounds: run.rounds,
        seed: run.seed,
        table: court.table.name.clone(),
        table_title: court.table.title.clone(),
        table_about: court.table.about.clone(),
    }
}

/// The round that a line belongs to: the last one, or the record is out of order.
fn current<'a, 'b>(
    rounds: &'b mut [Round<'a>],
    scenario: &str,
    round: u32,
) -> Result<&'b mut Round<'a>, NoCase> {
    let last = rounds.last_mut();
    last.filter(|last| last.line.scenario == scenario && last.line.round == round)
        .ok_or_else(|| NoCase(format!("a line of {scenario}, round {round}, is out of place")))
}

/// Judges the rounds that have been collected.
fn settle(
    court: &mut Court<'_>,
    rounds: &mut Vec<Round<'_>>,
    scenarios: &mut Vec<ScenarioVerdict>,
) -> Result<(), NoCase> {
    let mut read: BTreeMap<String, Scenario> = BTreeMap::new();
    for case in rounds.drain(..) {
        let id = &case.line.scenario;
        let scenario = match read.get(id) {
            Some(known) if known.text == case.line.text => known.clone(),
            Some(_) => return Err(NoCase(format!("{id} changes between its rounds"))),
            None => from_text(id, &case.line.text).map_err(|error| NoCase(error.to_string()))?,
        };
        read.insert(id.clone(), scenario.clone());
        let verdict = round::judge(court, &scenario, &case);
        match scenarios.last_mut().filter(|last| last.id == *id) {
            Some(last) => last.rounds.push(verdict),
            None => scenarios.push(ScenarioVerdict {
                id: id.clone(),
                title: scenario.title.clone(),
                purpose: scenario.purpose.clone(),
                source: scenario.source.clone(),
                outcome: Outcome::Passed,
                not_played: None,
                overlapped: None,
                rounds: vec![verdict],
            }),
        }
    }
    for scenario in scenarios.iter_mut().filter(|scenario| scenario.not_played.is_none()) {
        if let Some(file) = read.get(&scenario.id) {
            conclude(scenario, file.has_race());
        }
    }
    Ok(())
}

/// The verdict on a scenario, from its rounds.
fn conclude(scenario: &mut ScenarioVerdict, is_race: bool) {
    let counted = scenario.rounds.iter().filter(|round| round.counts).count();
    let of = scenario.rounds.len();
    if is_race && scenario.overlapped.is_none() {
        scenario.overlapped = Some(Share { counted, of });
        if let Some(first) = scenario.rounds.first_mut().filter(|_| counted == 0) {
            first.findings.push(Finding {
                rule: Rule::NoOverlap,
                step: None,
                about: scenario.id.clone(),
                expected: "at least one round in which two requests met".to_owned(),
                found: format!("none of {of}"),
            });
        }
    }
    let wrong = scenario.rounds.iter().any(|round| !round.findings.is_empty());
    scenario.outcome = if wrong { Outcome::Failed } else { Outcome::Passed };
}

fn not_played(scenario: &Scenario, why: NotPlayed) -> ScenarioVerdict {
    ScenarioVerdict {
        id: scenario.id.clone(),
        title: scenario.title.clone(),
        purpose: scenario.purpose.clone(),
        source: scenario.source.clone(),
        outcome: Outcome::NotPlayed,
        not_played: Some(why),
        overlapped: None,
        rounds: Vec::new(),
    }
}
