//! The log is folded, and each request judged at the row that it is tied to.

use std::collections::{BTreeMap, HashMap};

use super::{
    docket::{Case, Docket},
    explain::Explained,
    request::{Call, History, Op, Reply, View},
    rules::Rules,
    times::Times,
    violation::{Finding, Party, Said, Violation},
};
use crate::domain::{
    answer::TaskView,
    command::Verb,
    event::{Event, evolve},
    id::{Revision, RiderId, TaskId, Timestamp},
    refusal::Code,
    task::{OfferAnswer, OwnOffer, State, Task},
};

/// What the judge says of a run.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// All that is wrong, task by task in the order of the revisions.
    pub findings: Vec<Finding>,
    /// Refusals that rest on facts which no recording has: right if the fact was so. The requests
    /// by their number in [`History::ops`].
    pub on_facts: BTreeMap<Code, Vec<usize>>,
    /// How many requests were judged.
    pub requests: usize,
    /// How many events were judged.
    pub events: usize,
}

impl Verdict {
    /// Whether one order of effects explains the whole run.
    pub const fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Judges a recorded run, each task alone.
pub fn judge(history: &History) -> Verdict {
    let docket = Docket::of(history);
    let mut trial = Trial {
        history,
        docket: &docket,
        rules: Rules::new(),
        times: Times::new(),
        timed: vec![false; history.ops.len()],
        ledgers: HashMap::new(),
        stand: Stand::default(),
        verdict: Verdict { findings: history.disputes.clone(), ..Verdict::default() },
    };
    for stray in &docket.strays {
        let op = &history.ops[stray.op];
        let violation = Violation::NotInLog { request: op.into(), last: stray.last };
        trial.verdict.findings.push(Finding { task: op.task, revision: op.seen, violation });
    }
    for case in &docket.cases {
        trial.hear(case);
    }
    let mut verdict = trial.verdict;
    verdict.findings.sort_by_key(|finding| (finding.task, finding.revision));
    verdict.requests = history.ops.len();
    verdict
}

/// Who set a bound on the time of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    Op(usize),
    Start,
}

pub(super) struct Trial<'a> {
    pub(super) history: &'a History,
    pub(super) docket: &'a Docket,
    pub(super) rules: Rules,
    pub(super) times: Times<Witness>,
    /// The requests that have a say in `times`.
    pub(super) timed: Vec<bool>,
    /// Each rider's offers for the task, oldest first, as of the present revision.
    pub(super) ledgers: HashMap<RiderId, Vec<OwnOffer>>,
    pub(super) stand: Stand,
    verdict: Verdict,
}

/// Where the fold of a task's log stands.
#[derive(Default)]
pub(super) struct Stand {
    pub(super) row: Option<Task>,
    /// The row before, if the last event released its lapsed offer.
    pub(super) lapsed: Option<Task>,
    /// The request that released it in the same step, if that is the only way to explain its answer.
    pub(super) released_by: Option<usize>,
}

impl Trial<'_> {
    fn hear(&mut self, case: &Case) {
        self.ledgers.clear();
        self.stand = Stand::default();
        self.times.reset(case.log.len());
        for (entry, revision) in case.log.iter().zip(1..) {
            let logged = &self.history.log[*entry];
            let revision = Revision(revision);
            let event = &logged.event;
            let moves = self.stand.row.as_ref().is_some_and(|row| row.region != event.region);
            let next = evolve(self.stand.row.as_ref(), event).ok().filter(|_| !moves);
            let Some(next) = next else {
                // What comes after can not be judged.
                let event = Party::from(event);
                self.find(case.task, revision, Violation::BrokenLog { event });
                break;
            };
            self.hear_clock(event);
            self.hear_makers(case, logged);
            self.step(event, next);
            self.hear_witnesses(case, revision);
        }
        self.hear_times(case);
    }

    pub(super) fn find(&mut self, task: TaskId, revision: Revision, violation: Violation) {
        self.verdict.findings.push(Finding { task, revision, violation });
    }

    /// The log's own times: never backwards, and each answer on its side of the deadline.
    fn hear_clock(&mut self, event: &Event) {
        let Some(row) = &self.stand.row else { return };
        let (before, at) = (row.changed_at, event.at);
        let until = row.state.offer_until();
        if at < before {
            let violation = Violation::ClockRanBack { event: event.into(), before, at };
            self.find(event.task, event.to, violation);
        }
        if let Some(until) = until
            && (at >= until) != (event.action == Verb::Expire)
        {
            let violation = Violation::WrongSideOfDeadline { event: event.into(), at, until };
            self.find(event.task, event.to, violation);
        }
    }

    /// Moves the fold on.
    fn step(&mut self, event: &Event, next: Task) {
        let before = self.stand.row.take();
        if let Some(State::Offered { rider, .. }) = before.as_ref().map(|row| &row.state)
            && let Some(offer) = self.ledgers.get_mut(rider).and_then(|offers| offers.last_mut())
        {
            offer.answer = OfferAnswer::by(event.action);
        }
        if let State::Offered { rider, .. } = next.state {
            let offer = OwnOffer { revision: event.to, answer: None };
            self.ledgers.entry(rider).or_default().push(offer);
        }
        // The release time may be edited behind the events' back, so the judge does not know it.
        let row = Task { release_at: Timestamp(i64::MIN), ..next };
        self.stand = Stand {
            row: Some(row),
            lapsed: before.filter(|_| event.action == Verb::Expire),
            released_by: None,
        };
        self.verdict.events += 1;
    }

    /// Everyone who saw `revision`, which is the present one.
    fn hear_witnesses(&mut self, case: &Case, revision: Revision) {
        let docket = self.docket;
        for &number in docket.at(case, revision) {
            let op = &self.history.ops[number];
            if !self.saw_the_row(op) {
                continue;
            }
            if let (Call::Change { named, act }, false) = (&op.call, op.reply == Reply::Done) {
                match self.explain(op, *named, act, None) {
                    Ok(Explained::Here) => {}
                    Ok(Explained::ByRelease) => self.released(case.task, number),
                    Err(rules) => {
                        let was = op.reply.into();
                        self.against_rules(case.task, revision, op.into(), was, rules);
                        continue;
                    }
                }
            }
            if op.reply != Reply::Done {
                self.times.saw(revision, Witness::Op(number), op.began_ns, op.ended_ns);
                self.timed[number] = true;
            }
            if let Reply::Refused(code) = op.reply
                && code.rests_on_facts()
            {
                self.verdict.on_facts.entry(code).or_default().push(number);
            }
        }
    }

    /// Whether what the answer showed, if anything, is the present row.
    fn saw_the_row(&mut self, op: &Op) -> bool {
        let (Some(saw), Some(row)) = (op.view, &self.stand.row) else { return true };
        let fits = saw == View::from(&TaskView::of(row, &op.actor, row.changed_at));
        if !fits {
            let was = View::of(row);
            let revision = row.revision;
            let violation = Violation::SawOtherState { request: op.into(), saw, was };
            self.find(op.task, revision, violation);
        }
        fits
    }

    pub(super) fn against_rules(
        &mut self,
        task: TaskId,
        revision: Revision,
        party: Party,
        was: Said,
        rules: Said,
    ) {
        self.find(task, revision, Violation::AgainstRules { party, was, rules });
    }
}
