//! A race in the report: one row for each kind of racer.

use std::collections::BTreeMap;

use super::{
    super::{
        StepVerdict,
        round::{Hearing, did, took_ms},
    },
    search::Run,
};
use crate::{
    acceptance::words::Returns,
    domain::{answer::Answer, id::Timestamp},
};

/// One row for each kind of racer: those who give the same command on the same task.
pub(super) fn rows(number: usize, runs: &[Run<'_>], fits: bool, out: &mut Vec<StepVerdict>) {
    let mut kinds: Vec<Vec<&Run<'_>>> = Vec::new();
    for run in runs {
        let same = |kind: &&mut Vec<&Run<'_>>| {
            kind.first().is_some_and(|first| {
                (first.ask.command, &first.ask.task, &first.ask.rider)
                    == (run.ask.command, &run.ask.task, &run.ask.rider)
                    && first.ask.who.rider().is_some() == run.ask.who.rider().is_some()
            })
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.push(run),
            None => kinds.push(vec![run]),
        }
    }
    for kind in kinds {
        let Some(first) = kind.first() else { continue };
        let mut came: BTreeMap<String, usize> = BTreeMap::new();
        for run in &kind {
            *came.entry(run.told.returns.to_string()).or_default() += 1;
        }
        let counted = |(returns, count): (String, usize)| {
            if kind.len() == 1 { returns } else { format!("{count} × {returns}") }
        };
        let won = kind.iter().find(|run| run.told.returns == Returns::Done).unwrap_or(first);
        let told = won.told.answer.as_ref();
        let times = || kind.iter().map(|run| took_ms(run.exchange));
        let at: Option<Timestamp> = Hearing::decided_at(won.exchange, &won.told);
        out.push(StepVerdict {
            expected: first.asked.returns.iter().map(ToString::to_string).collect(),
            returned: came.into_iter().map(counted).collect(),
            revision: told.and_then(Answer::seen_revision).map(|it| it.0),
            event: told.and_then(|answer| answer.event.as_ref()).map(|event| event.number),
            at,
            status: won.exchange.reply.as_ref().map(|reply| reply.status),
            took_ms: Some(times().fold(0.0, f64::max)),
            fits,
            ..StepVerdict::of(number, did(first.ask, first.asked, kind.len()))
        });
    }
}
