//! Real time: nobody sees the past after it is over, nor the future before it has come.

use super::{
    docket::Case,
    judge::{Trial, Witness},
    request::{Op, Reply},
    violation::{Party, Violation},
};
use crate::domain::id::Revision;

/// A bound on the moment in which a revision came to be, in nanoseconds, and who set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound<Who> {
    pub(super) ns: u64,
    pub(super) who: Option<Who>,
}

#[derive(Clone, Copy, Debug)]
struct Window<Who> {
    not_before: Bound<Who>,
    by: Bound<Who>,
}

/// For each revision of one task, the window in which it came to be.
pub(super) struct Times<Who> {
    windows: Vec<Window<Who>>,
}

/// A revision whose windows leave no moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash<Who> {
    pub(super) revision: Revision,
    /// The latest lower bound on it or on an earlier revision.
    pub(super) not_before: Bound<Who>,
    /// The earliest upper bound on it.
    pub(super) by: Bound<Who>,
}

impl<Who: Copy> Times<Who> {
    pub(super) const fn new() -> Self {
        Self { windows: Vec::new() }
    }

    /// No bounds yet on the revisions up to `last`. Keeps the memory of the task before.
    pub(super) fn reset(&mut self, last: usize) {
        let open = Window {
            not_before: Bound { ns: 0, who: None },
            by: Bound { ns: u64::MAX, who: None },
        };
        self.windows.clear();
        self.windows.resize(last + 2, open);
    }

    /// `who` made `revision` between `began` and `ended`.
    pub(super) fn made(&mut self, revision: Revision, who: Who, began: u64, ended: u64) {
        self.not_before(revision, who, began);
        self.by(revision, who, ended);
    }

    /// `who` saw `revision` between `began` and `ended`, so the next one had not come before.
    pub(super) fn saw(&mut self, revision: Revision, who: Who, began: u64, ended: u64) {
        self.by(revision, who, ended);
        self.not_before(revision.next(), who, began);
    }

    fn not_before(&mut self, revision: Revision, who: Who, ns: u64) {
        if let Some(window) = self.window(revision)
            && (window.not_before.who.is_none() || ns > window.not_before.ns)
        {
            window.not_before = Bound { ns, who: Some(who) };
        }
    }

    fn by(&mut self, revision: Revision, who: Who, ns: u64) {
        if let Some(window) = self.window(revision)
            && (window.by.who.is_none() || ns < window.by.ns)
        {
            window.by = Bound { ns, who: Some(who) };
        }
    }

    fn window(&mut self, revision: Revision) -> Option<&mut Window<Who>> {
        usize::try_from(revision.0).ok().and_then(|revision| self.windows.get_mut(revision))
    }

    /// The revisions for which no moment is left. There are none exactly if all bounds hold together.
    ///
    /// After a clash the pass goes on from the upper bound, so that one wrong answer does not
    /// discredit everything after it.
    pub(super) fn clashes(&self) -> Vec<Clash<Who>> {
        let mut latest = Bound { ns: 0, who: None };
        let mut clashes = Vec::new();
        for (revision, window) in (0..).zip(&self.windows) {
            if window.not_before.ns > latest.ns {
                latest = window.not_before;
            }
            if latest.ns > window.by.ns {
                let revision = Revision(revision);
                clashes.push(Clash { revision, not_before: latest, by: window.by });
                latest = window.by;
            }
        }
        clashes
    }
}

impl Trial<'_> {
    /// Whether one moment is left for each revision of the task.
    pub(super) fn hear_times(&mut self, case: &Case) {
        for start in &case.starts {
            if start.seen_rev > case.last() {
                let violation = Violation::NotInLog { request: Party::Start, last: case.last() };
                self.find(case.task, start.seen_rev, violation);
            }
            self.times.saw(start.seen_rev, Witness::Start, start.t_ns, start.t_ns);
        }
        for clash in self.times.clashes() {
            self.out_of_time(case, clash);
        }
    }

    /// Names everyone who is too late or too early for one revision, each once.
    fn out_of_time(&mut self, case: &Case, clash: Clash<Witness>) {
        let Clash { revision, not_before, by } = clash;
        let (Some(latest), Some(earliest)) = (not_before.who, by.who) else { return };
        let ops = &self.history.ops;
        let timed = |op: &usize| self.timed[*op];
        let made = |op: &usize| ops[*op].reply == Reply::Done;
        let at = |revision| self.docket.at(case, revision).iter().copied().filter(timed);

        let mut pairs = vec![(latest, not_before.ns, earliest, by.ns)];
        let saw_the_one_before = at(Revision(revision.0 - 1)).filter(|op| !made(op));
        for op in saw_the_one_before.chain(at(revision).filter(made)) {
            let Op { began_ns, .. } = ops[op];
            if began_ns > by.ns && Witness::Op(op) != latest {
                pairs.push((Witness::Op(op), began_ns, earliest, by.ns));
            }
        }
        for op in at(revision) {
            let Op { ended_ns, .. } = ops[op];
            if ended_ns < not_before.ns && Witness::Op(op) != earliest {
                pairs.push((latest, not_before.ns, Witness::Op(op), ended_ns));
            }
        }
        for (late, not_before_ns, early, by_ns) in pairs {
            let (late, early) = (self.party(late), self.party(early));
            let violation = Violation::OutOfTime { late, not_before_ns, early, by_ns };
            self.find(case.task, revision, violation);
        }
    }

    fn party(&self, witness: Witness) -> Party {
        match witness {
            Witness::Op(op) => Party::from(&self.history.ops[op]),
            Witness::Start => Party::Start,
        }
    }
}
