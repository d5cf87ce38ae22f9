//! How fast a rider may try one task: each try is kept for ever, so nobody may fill the log with them.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use super::{
    desk::Desk,
    problem::{Problem, ProblemCode},
};
use crate::domain::{
    command::Actor,
    id::{RiderId, TaskId, Timestamp},
    refusal::Lang,
};

/// So many tries may come at once: enough for whoever repeats a request that got lost.
const AT_ONCE: i64 = 30;
/// From then on one in so many milliseconds: two a second.
const EACH_MS: i64 = 500;
/// So many pairs of rider and task are remembered.
const MOST_KEPT: usize = 20_000;

/// The tries of riders on tasks. In memory: what is lost at a restart is a few more tries.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When all tries would be free again.
    free_at: Mutex<HashMap<(RiderId, TaskId), Timestamp>>,
}

impl Pace {
    /// Counts a try. An error is how many milliseconds to wait for the next one.
    fn step(&self, rider: RiderId, task: TaskId, now: Timestamp) -> Result<(), i64> {
        let mut all = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (rider, task);
        let known = all.get(&key).copied().unwrap_or(now);
        // A clock that was set back locks nobody out for longer than this.
        let from = known.clamp(now, now.plus_ms(AT_ONCE * EACH_MS));
        let then = from.plus_ms(EACH_MS);
        let wait = then.ms_since(now) - AT_ONCE * EACH_MS;
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

fn make_room(all: &mut HashMap<(RiderId, TaskId), Timestamp>, now: Timestamp) {
    // Who could try as often as anybody need not be remembered.
    all.retain(|_, free_at| *free_at > now);
    if all.len() >= MOST_KEPT {
        // Next, whoever has tried least.
        let least = all.iter().min_by_key(|(_, free_at)| **free_at).map(|(key, _)| *key);
        least.and_then(|key| all.remove(&key));
    }
}

/// Counts a try of a rider on a task; others are not counted.
///
/// # Errors
/// [`ProblemCode::TooMany`] if there were too many, before anything is decided or stored.
pub(super) fn keep(desk: &Desk, actor: &Actor, task: TaskId, lang: Lang) -> Result<(), Problem> {
    let Some(rider) = actor.rider() else { return Ok(()) };
    desk.pace().step(rider, task, desk.now()).map_err(|wait_ms| {
        let seconds = u32::try_from((wait_ms + 999) / 1_000).unwrap_or(1);
        Problem::new(ProblemCode::TooMany, lang).after(seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const R1: RiderId = RiderId(1);
    const T1: TaskId = TaskId(1);

    #[test]
    fn many_tries_at_once_and_then_two_a_second() {
        let pace = Pace::default();
        let at = |ms: i64| Timestamp(1_000_000 + ms);
        for _ in 0..AT_ONCE {
            assert_eq!(pace.step(R1, T1, at(0)), Ok(()));
        }
        assert_eq!(pace.step(R1, T1, at(0)), Err(500));
        assert_eq!(pace.step(R1, T1, at(499)), Err(1));
        assert_eq!(pace.step(R1, T1, at(500)), Ok(()));
        assert_eq!(pace.step(R1, T1, at(500)), Err(500));
        // Other tasks and other riders are not hurt.
        assert_eq!(pace.step(R1, TaskId(2), at(500)), Ok(()));
        assert_eq!(pace.step(RiderId(2), T1, at(500)), Ok(()));
        // A clock that was set back by an hour.
        assert!(pace.step(R1, T1, at(-3_600_000)).is_err_and(|wait| wait <= 500));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_whoever_tried_most_is_not_forgotten() {
        let pace = Pace::default();
        let now = Timestamp(1_000_000);
        for _ in 0..AT_ONCE {
            assert_eq!(pace.step(R1, T1, now), Ok(()));
        }
        for task in 2..=i64::try_from(MOST_KEPT).unwrap() + 50 {
            assert_eq!(pace.step(R1, TaskId(task), now), Ok(()));
        }
        assert_eq!(pace.free_at.lock().unwrap().len(), MOST_KEPT);
        assert!(pace.step(R1, T1, now).is_err());
        // All are free again.
        let later = now.plus_ms(AT_ONCE * EACH_MS);
        assert_eq!(pace.step(RiderId(2), T1, later), Ok(()));
        assert_eq!(pace.free_at.lock().unwrap().len(), 1);
    }
}
