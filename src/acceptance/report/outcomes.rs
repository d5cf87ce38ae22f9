//! Every step of every round in one line, for spreadsheets.

use std::io;

use crate::acceptance::judge::{Did, RunVerdict, StepVerdict};

const HEAD: [&str; 20] = [
    "scenario",
    "round",
    "step",
    "who",
    "racers",
    "command",
    "task",
    "rider",
    "named_revision",
    "expected",
    "returned",
    "fits",
    "state_expected",
    "state_shown",
    "revision",
    "event",
    "server_time",
    "status",
    "took_ms",
    "round_counts",
];

/// A field that no spreadsheet takes for a formula.
fn harmless(field: String) -> String {
    if field.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{field}") } else { field }
}

fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Who, how many at once, which command, which task, which rider, which revision.
fn did(did: &Did) -> [String; 6] {
    let none = String::new;
    match did {
        Did::Command { who, racers, command, task, rider, named, .. } => [
            who.clone(),
            racers.to_string(),
            command.clone(),
            task.clone(),
            rider.clone().unwrap_or_default(),
            or_empty(*named),
        ],
        Did::Clock { moment, racing } => [
            none(),
            u8::from(*racing).to_string(),
            format!("clock: {moment}"),
            none(),
            none(),
            none(),
        ],
        Did::Look { who, task } => {
            [who.clone(), "0".to_owned(), "look".to_owned(), task.clone(), none(), none()]
        }
    }
}

fn line(scenario: &str, round: u32, counts: bool, step: &StepVerdict) -> [String; 20] {
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let [who, racers, command, task, rider, named] = did(&step.did);
    [
        scenario.to_owned(),
        round.to_string(),
        step.step.to_string(),
        who,
        racers,
        command,
        task,
        rider,
        named,
        step.expected.join(" | "),
        step.returned.join(" | "),
        yes(step.fits),
        step.should_stand.clone().unwrap_or_default(),
        step.stands.clone().unwrap_or_default(),
        or_empty(step.revision),
        or_empty(step.event),
        or_empty(step.at),
        or_empty(step.status),
        step.took_ms.map(|ms| format!("{ms:.3}")).unwrap_or_default(),
        yes(counts),
    ]
}

/// The whole file: RFC 4180, UTF-8.
///
/// # Errors
/// If it can not be put together.
pub(super) fn render(verdict: &RunVerdict) -> io::Result<Vec<u8>> {
    let mut out =
        csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    out.write_record(HEAD)?;
    for scenario in &verdict.scenarios {
        for round in &scenario.rounds {
            for step in &round.steps {
                let fields = line(&scenario.id, round.round, round.counts, step);
                out.write_record(fields.map(harmless))?;
            }
        }
    }
    out.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_a_formula_is_made_harmless() {
        for start in ["=", "+", "-", "@", "\t", "\r"] {
            assert_eq!(harmless(format!("{start}1")), format!("'{start}1"));
        }
        assert_eq!(harmless("open".to_owned()), "open");
    }
}
