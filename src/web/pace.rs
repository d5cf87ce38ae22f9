//! How fast somebody may do what costs the desk something: riders and customers try something (each try is kept for ever,
//! so nobody may fill the log with them), staff search through the log.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, PoisonError},
};

use super::{
    desk::Desk,
    people::Seat,
    problem::{Problem, ProblemCode},
};
use crate::domain::{
    command::Actor,
    id::{TaskId, Timestamp},
    refusal::Lang,
};

/// So many keys are remembered.
const MOST_KEPT: usize = 20_000;

/// How fast each of many may go. In memory: what is lost at a restart is a few more tries.
#[derive(Debug)]
pub(super) struct Pace<Key> {
    /// So many may come at once.
    at_once: i64,
    /// From then on one in so many milliseconds.
    each_ms: i64,
    /// When all would be free again.
    free_at: Mutex<HashMap<Key, Timestamp>>,
}

/// The tries of riders and customers on tasks.
pub(super) type Tries = Pace<(Actor, TaskId)>;
/// What people do, whatever it is about.
pub(super) type Deeds = Pace<Actor>;
/// The searches of people.
pub(super) type Searches = Pace<Actor>;

impl Tries {
    /// Thirty at once, enough for whoever repeats a request that got lost; then two a second.
    pub(super) fn of_people() -> Self {
        Self::new(30, 500)
    }
}

impl Deeds {
    /// Six hundred at once, more than an evening asks of one rider in a minute; then ten a second.
    pub(super) fn of_riders() -> Self {
        Self::new(600, 100)
    }
}

impl Searches {
    /// Thirty at once, for whoever leafs through; then ten a second.
    pub(super) fn of_people() -> Self {
        Self::new(30, 100)
    }
}

impl<Key: Clone + Eq + Hash> Pace<Key> {
    fn new(at_once: i64, each_ms: i64) -> Self {
        Self { at_once, each_ms, free_at: Mutex::default() }
    }

    /// Counts one. An error is how many milliseconds to wait for the next one.
    fn step(&self, key: Key, now: Timestamp) -> Result<(), i64> {
        let mut all = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(&key).copied().unwrap_or(now);
        // A clock that was set back locks nobody out for longer than this.
        let longest = self.at_once * self.each_ms;
        let then = known.clamp(now, now.plus_ms(longest)).plus_ms(self.each_ms);
        let wait = then.ms_since(now) - longest;
        if wait > 0 {
            return Err(wait);
        }
        if all.len() >= MOST_KEPT && !all.contains_key(&key) {
            make_room(&mut all, now);
        }
        all.insert(key, then);
        Ok(())
    }
}

fn make_room<Key: Clone + Eq + Hash>(all: &mut HashMap<Key, Timestamp>, now: Timestamp) {
    // Who could go as often as anybody need not be remembered.
    all.retain(|_, free_at| *free_at > now);
    if all.len() >= MOST_KEPT {
        // Next, whoever has gone least.
        let least = all.iter().min_by_key(|(_, free_at)| **free_at).map(|(key, _)| key.clone());
        least.and_then(|key| all.remove(&key));
    }
}

fn too_many(wait_ms: i64, lang: Lang) -> Problem {
    let seconds = u32::try_from((wait_ms + 999) / 1_000).unwrap_or(1);
    Problem::new(ProblemCode::TooMany, lang).after(seconds)
}

/// Counts a try of a rider or a customer on a task; others are not counted.
///
/// # Errors
/// [`ProblemCode::TooMany`] if there were too many, before anything is decided or stored.
pub(super) fn keep(desk: &Desk, actor: &Actor, task: TaskId, lang: Lang) -> Result<(), Problem> {
    if !matches!(actor, Actor::Rider(_) | Actor::Customer(_)) {
        return Ok(());
    }
    let tried = desk.tries().step((actor.clone(), task), desk.now());
    tried.map_err(|wait_ms| too_many(wait_ms, lang))?;
    keep_deed(desk, actor, lang)
}

/// Counts something that a rider did, whatever it is about: there are more numbers of tasks than tries on one of them.
/// Others are not counted; a customer has one task alone.
///
/// # Errors
/// As [`keep`].
pub(super) fn keep_deed(desk: &Desk, actor: &Actor, lang: Lang) -> Result<(), Problem> {
    if actor.rider().is_none() {
        return Ok(());
    }
    let done = desk.deeds().step(actor.clone(), desk.now());
    done.map_err(|wait_ms| too_many(wait_ms, lang))
}

/// Counts a search through the log.
///
/// # Errors
/// [`ProblemCode::TooMany`] if there were too many, before anything is read.
pub(super) fn search(desk: &Desk, seat: &Seat) -> Result<(), Problem> {
    let counted = desk.searches().step(seat.actor().clone(), desk.now());
    counted.map_err(|wait_ms| too_many(wait_ms, seat.lang()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RiderId;

    const R1: Actor = Actor::Rider(RiderId(1));
    const T1: TaskId = TaskId(1);

    #[test]
    fn many_tries_at_once_and_then_two_a_second() {
        let pace = Tries::of_people();
        let at = |ms: i64| Timestamp(1_000_000 + ms);
        for _ in 0..30 {
            assert_eq!(pace.step((R1, T1), at(0)), Ok(()));
        }
        assert_eq!(pace.step((R1, T1), at(0)), Err(500));
        assert_eq!(pace.step((R1, T1), at(499)), Err(1));
        assert_eq!(pace.step((R1, T1), at(500)), Ok(()));
        assert_eq!(pace.step((R1, T1), at(500)), Err(500));
        // Other tasks and other riders are not hurt.
        assert_eq!(pace.step((R1, TaskId(2)), at(500)), Ok(()));
        assert_eq!(pace.step((Actor::Rider(RiderId(2)), T1), at(500)), Ok(()));
        // A clock that was set back by an hour.
        assert!(pace.step((R1, T1), at(-3_600_000)).is_err_and(|wait| wait <= 500));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_whoever_tried_most_is_not_forgotten() {
        let pace = Tries::of_people();
        let now = Timestamp(1_000_000);
        for _ in 0..30 {
            assert_eq!(pace.step((R1, T1), now), Ok(()));
        }
        for task in 2..=i64::try_from(MOST_KEPT).unwrap() + 50 {
            assert_eq!(pace.step((R1, TaskId(task)), now), Ok(()));
        }
        assert_eq!(pace.free_at.lock().unwrap().len(), MOST_KEPT);
        assert!(pace.step((R1, T1), now).is_err());
        // All are free again.
        let later = now.plus_ms(30 * 500);
        assert_eq!(pace.step((Actor::Rider(RiderId(2)), T1), later), Ok(()));
        assert_eq!(pace.free_at.lock().unwrap().len(), 1);
    }
}
