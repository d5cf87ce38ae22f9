//! Grabs that can only come second, told from the others before they are decided: a bulkhead, never an arbiter.
//!
//! When many riders grab one task, one of them can have it. The others are decided, stored and answered like everybody
//! else, but they wait behind all other commands, in a queue of their own: if that one is full, nobody else is turned
//! away. Whoever is taken for a second by mistake loses nothing but a place in the line.
//!
//! A task is marked when it is over: nothing that is asked of it changes anything any more, so it does not matter when it is
//! asked. With the pre-trim it is marked as well while a grab of it is under way, and for good once the grab was done;
//! then a rider's commands on several tasks may be decided in another order than they came in. A mark says up to which
//! revision grabs come second. Marks are kept in two generations: when the young one is full it becomes the old one,
//! and what was old is forgotten.
//!
//! | file | |
//! |---|---|
//! | `mod` | the marks of this node |
//! | [`trim`] | the same across nodes, by Redis; optional |

mod trim;

use std::{
    collections::HashMap,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub(super) use trim::{Held, Said};
pub use trim::{NoPreTrim, PreTrim};

use crate::domain::id::{Revision, TaskId};

/// Up to where all grabs of a task that is over come second.
const LAST: Revision = Revision(i64::MAX);

/// Says which grabs of a task come second.
#[derive(Clone, Copy)]
struct Mark {
    /// Grabs that name this revision or an earlier one.
    revision: Revision,
    /// Whose mark it is: no two marks have the same number.
    by: u64,
}

#[derive(Default)]
struct Marks {
    /// How many tasks a generation has at most.
    most: usize,
    /// Whether a grab that is under way marks its task.
    trims: bool,
    /// The number of the last mark.
    last: u64,
    young: HashMap<TaskId, Mark>,
    /// A task is in one generation at a time.
    old: HashMap<TaskId, Mark>,
}

impl Marks {
    /// The mark of a task. It is young again: a task that is asked for is not forgotten.
    fn find(&mut self, task: TaskId) -> Option<Mark> {
        if let Some(mark) = self.old.remove(&task) {
            self.put(task, mark);
        }
        self.young.get(&task).copied()
    }

    fn put(&mut self, task: TaskId, mark: Mark) {
        self.old.remove(&task);
        if self.young.len() >= self.most && !self.young.contains_key(&task) {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(task, mark);
    }

    /// Marks a task, and says under which number.
    fn mark(&mut self, task: TaskId, revision: Revision) -> u64 {
        self.last += 1;
        self.put(task, Mark { revision, by: self.last });
        self.last
    }

    /// The mark of that number, wherever it is; none if another one has come in its place.
    fn own(&mut self, task: TaskId, by: u64) -> Option<&mut Mark> {
        let marks = if self.young.contains_key(&task) { &mut self.young } else { &mut self.old };
        marks.get_mut(&task).filter(|mark| mark.by == by)
    }
}

/// The marks of this node. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(super) struct Hot(Arc<Mutex<Marks>>);

impl fmt::Debug for Hot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hot").finish_non_exhaustive()
    }
}

/// How a grab comes in.
#[derive(Debug)]
pub(super) enum Entry {
    /// Nothing is known against it. Who comes after it is second for as long as the pass is there.
    First(Pass),
    /// It can only come second.
    Second,
}

impl Hot {
    /// Marks for twice so many tasks; none at all for 0. `trims`: whether a grab that is under way marks its task.
    pub(super) fn new(most: usize, trims: bool) -> Self {
        Self(Arc::new(Mutex::new(Marks { most, trims, ..Marks::default() })))
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A grab comes in that names `revision`.
    pub(super) fn enter(&self, task: TaskId, revision: Revision) -> Entry {
        let mut marks = self.marks();
        if marks.most == 0 {
            return Entry::First(Pass(None));
        }
        if marks.find(task).is_some_and(|mark| mark.revision >= revision) {
            return Entry::Second;
        }
        if !marks.trims {
            return Entry::First(Pass(None));
        }
        let by = marks.mark(task, revision);
        Entry::First(Pass(Some(Place { hot: self.clone(), task, by })))
    }

    /// A task is over, which is for ever: every further grab of it comes second.
    pub(super) fn over(&self, task: TaskId) {
        let mut marks = self.marks();
        if marks.most > 0 {
            marks.mark(task, LAST);
        }
    }
}

/// Which mark a pass stands for.
#[derive(Debug)]
struct Place {
    hot: Hot,
    task: TaskId,
    by: u64,
}

/// Holds the mark of a grab that is under way. Dropped, it takes the mark away, if it is still its own.
#[derive(Debug)]
pub(super) struct Pass(Option<Place>);

impl Pass {
    /// Leaves the mark where it is: the grab was done, now or before, and its answer saw the task at `seen`.
    pub(super) fn keep(mut self, seen: Revision) {
        let Some(Place { hot, task, by }) = self.0.take() else { return };
        let mut marks = hot.marks();
        if let Some(mark) = marks.own(task, by) {
            // An owner may have named a revision that is yet to come: who grabs at that one is not second.
            mark.revision = mark.revision.min(seen);
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some(Place { hot, task, by }) = self.0.take() else { return };
        let mut marks = hot.marks();
        if marks.own(task, by).is_some() {
            marks.young.remove(&task);
            marks.old.remove(&task);
        }
    }
}

/// What a grab holds as the first one of its revision; nothing for everything else. Dropped, all of it is given back.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// Among the grabs of this node.
    pub(super) here: Option<Pass>,
    /// Among the grabs of all nodes.
    pub(super) across: Option<Held>,
}

impl Passes {
    /// The grab was done: whoever comes after it is second.
    pub(super) fn keep(self, seen: Revision) {
        if let Some(pass) = self.here {
            pass.keep(seen);
        }
        if let Some(held) = self.across {
            held.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: TaskId = TaskId(7);

    #[track_caller]
    fn first(hot: &Hot, task: TaskId, revision: i64) -> Pass {
        match hot.enter(task, Revision(revision)) {
            Entry::First(pass) => pass,
            Entry::Second => panic!("{task} at {revision} is second"),
        }
    }

    #[track_caller]
    fn second(hot: &Hot, task: TaskId, revision: i64) {
        let entry = hot.enter(task, Revision(revision));
        assert!(matches!(entry, Entry::Second), "{task} at {revision} is first");
    }

    fn known(hot: &Hot) -> usize {
        let marks = hot.marks();
        marks.young.len() + marks.old.len()
    }

    #[test]
    fn who_comes_second_is_second() {
        let hot = Hot::new(10, true);
        let _pass = first(&hot, TASK, 3);
        second(&hot, TASK, 3);
        second(&hot, TASK, 2);
        second(&hot.clone(), TASK, 3);
        let _other = first(&hot, TaskId(8), 3);
    }

    #[test]
    fn a_later_revision_has_a_first_again() {
        let hot = Hot::new(10, true);
        first(&hot, TASK, 3).keep(Revision(4));
        second(&hot, TASK, 3);
        let _pass = first(&hot, TASK, 4);
        second(&hot, TASK, 4);
        second(&hot, TASK, 3);
    }

    #[test]
    fn a_pass_that_is_given_back_makes_the_next_one_first() {
        let hot = Hot::new(10, true);
        drop(first(&hot, TASK, 3));
        assert_eq!(known(&hot), 0);
        let _pass = first(&hot, TASK, 3);
        second(&hot, TASK, 3);
    }

    #[test]
    fn a_pass_that_is_kept_stays() {
        let hot = Hot::new(10, true);
        first(&hot, TASK, 3).keep(Revision(4));
        second(&hot, TASK, 3);
        assert_eq!(known(&hot), 1);
    }

    #[test]
    fn an_owner_who_names_what_is_yet_to_come_keeps_nobody_back() {
        let hot = Hot::new(10, true);
        first(&hot, TASK, i64::MAX).keep(Revision(4));
        second(&hot, TASK, 4);
        let _pass = first(&hot, TASK, 5);
    }

    #[test]
    fn an_old_pass_leaves_a_newer_mark_alone() {
        let hot = Hot::new(10, true);
        let old = first(&hot, TASK, 3);
        let new = first(&hot, TASK, 4);
        drop(old);
        second(&hot, TASK, 4);
        drop(new);
        let old = first(&hot, TASK, 3);
        hot.over(TASK);
        old.keep(Revision(3));
        second(&hot, TASK, 9);
    }

    #[test]
    fn an_old_generation_is_given_back_too() {
        let hot = Hot::new(1, true);
        let pass = first(&hot, TASK, 3);
        first(&hot, TaskId(8), 1).keep(Revision(2));
        assert_eq!(known(&hot), 2);
        drop(pass);
        assert_eq!(known(&hot), 1);
    }

    #[test]
    fn there_are_two_generations_and_no_more() {
        let hot = Hot::new(5, true);
        for number in 1..=1_000 {
            first(&hot, TaskId(number), 1).keep(Revision(2));
            // It is asked for all the time, and stays.
            if number > 7 {
                second(&hot, TASK, 1);
            }
            assert!(known(&hot) <= 10, "{} after {number}", known(&hot));
        }
        second(&hot, TaskId(1_000), 1);
        let _forgotten = first(&hot, TaskId(1), 1);
    }

    #[test]
    fn of_a_task_that_is_over_every_grab_is_second() {
        let hot = Hot::new(10, true);
        let pass = first(&hot, TASK, 3);
        hot.over(TASK);
        for revision in [1, 3, 4, 1_000, i64::MAX] {
            second(&hot, TASK, revision);
        }
        drop(pass);
        second(&hot, TASK, 3);
    }

    #[test]
    fn without_room_nobody_is_second() {
        let hot = Hot::new(0, true);
        let _pass = first(&hot, TASK, 3);
        first(&hot, TASK, 3).keep(Revision(4));
        hot.over(TASK);
        let _again = first(&hot, TASK, 3);
        assert_eq!(known(&hot), 0);
    }
}
