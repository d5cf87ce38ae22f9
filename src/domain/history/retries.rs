//! A request that was sent again is still one request, and one without an answer may have gone
//! through.

use std::collections::HashMap;

use super::{
    Finding, Party, Violation,
    recording::{Asked, Told},
    request::{Call, History, Op, Reply},
};
use crate::domain::{
    command::{Actor, RequestKey},
    fingerprint::key_hash,
    id::{Revision, TaskId},
};

/// Makes one request of all that were sent under one key, and finds in the log what became of those
/// without an answer.
pub(super) fn settle(history: &mut History, unknown: Vec<Asked>) {
    let unheard = look_up(history, unknown);
    let repeats = join(history, unheard);
    let mut at = 0;
    history.ops.retain(|_| {
        at += 1;
        !repeats[at - 1]
    });
}

/// Requests whose key stands in the log were done, at some time after they were sent; the others are
/// returned.
fn look_up(history: &mut History, unknown: Vec<Asked>) -> Vec<Asked> {
    if unknown.is_empty() {
        return unknown;
    }
    let done: HashMap<&str, (TaskId, Revision)> = history
        .log
        .iter()
        .filter_map(|logged| {
            let hash = logged.key_hash.as_deref()?;
            Some((hash, (logged.event.task, logged.event.to)))
        })
        .collect();
    let mut unheard = Vec::new();
    for asked in unknown {
        let hash = asked.key.as_ref().map(|key| key_hash(&asked.actor.principal(), key));
        match hash.and_then(|hash| done.get(hash.as_str())) {
            Some((task, to)) if asked.task.is_none_or(|asked| asked == *task) => {
                let told = Told { reply: Reply::Done, seen: *to, view: None };
                history.ops.push(asked.told(*task, u64::MAX, &told));
            }
            Some(_) | None => unheard.push(asked),
        }
    }
    unheard
}

/// Joins what was sent under one key: it began with the first try and was over with the first
/// answer. Says of each request whether it was only a repeat.
fn join(history: &mut History, unheard: Vec<Asked>) -> Vec<bool> {
    let mut firsts: HashMap<(&Actor, &RequestKey), usize> = HashMap::new();
    let mut pairs = Vec::new();
    for (i, op) in history.ops.iter().enumerate() {
        let Some(key) = &op.key else { continue };
        let first = *firsts.entry((&op.actor, key)).or_insert(i);
        if first != i {
            pairs.push((first, i));
        }
    }
    let mut earlier = Vec::new();
    for asked in unheard {
        let first = asked.key.as_ref().and_then(|key| firsts.get(&(&asked.actor, key)));
        match first {
            Some(first) if history.ops[*first].call == asked.call => {
                earlier.push((*first, asked.began_ns));
            }
            Some(_) | None => history.without_effect += 1,
        }
    }
    let mut repeats = vec![false; history.ops.len()];
    for (first, again) in pairs {
        let (kept, repeat) = (&history.ops[first], &history.ops[again]);
        let (task, revision) = (repeat.task, repeat.seen);
        let parties = || (Party::from(kept), Party::from(repeat));
        let is_one_request =
            kept.call == repeat.call && (kept.task == repeat.task || kept.call == Call::Create);
        if !is_one_request {
            let (first, second) = parties();
            let violation = Violation::KeyReused { first, second };
            history.disputes.push(Finding { task, revision, violation });
            continue;
        }
        if !is_one_answer(kept, repeat) {
            let (first, second) = parties();
            let violation = Violation::AnswersDiffer { first, second };
            history.disputes.push(Finding { task, revision, violation });
        }
        repeats[again] = true;
        let (began, ended, view) = (repeat.began_ns, repeat.ended_ns, repeat.view);
        let kept = &mut history.ops[first];
        kept.began_ns = kept.began_ns.min(began);
        kept.ended_ns = kept.ended_ns.min(ended);
        kept.view = kept.view.or(view);
    }
    for (first, began) in earlier {
        let kept = &mut history.ops[first];
        kept.began_ns = kept.began_ns.min(began);
    }
    repeats
}

fn is_one_answer(one: &Op, other: &Op) -> bool {
    let views_agree = one.view.is_none() || other.view.is_none() || one.view == other.view;
    one.task == other.task && one.reply == other.reply && one.seen == other.seen && views_agree
}
