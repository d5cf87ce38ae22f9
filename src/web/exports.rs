//! How many exports somebody has under way: each walks through the whole log, so a few have to do.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::domain::command::Actor;

/// How many at once, for one person.
const MOST: usize = 2;

/// The exports that are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Exports(Arc<Mutex<HashMap<Actor, usize>>>);

/// Somebody's turn. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct Turn {
    exports: Exports,
    who: Actor,
}

impl Exports {
    /// A turn for `who`; `None` if enough of theirs are under way.
    pub(super) fn take(&self, who: &Actor) -> Option<Turn> {
        let mut under_way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = under_way.entry(who.clone()).or_default();
        if *count >= MOST {
            return None;
        }
        *count += 1;
        Some(Turn { exports: self.clone(), who: who.clone() })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut under_way = self.exports.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = under_way.get_mut(&self.who) {
            *count -= 1;
            if *count == 0 {
                under_way.remove(&self.who);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::StaffId;

    #[test]
    fn everybody_has_two_turns_and_gets_them_back() {
        let exports = Exports::default();
        let (one, other) = (Actor::Staff(StaffId(1)), Actor::Staff(StaffId(2)));
        let turns = [exports.take(&one), exports.take(&one)];
        assert!(turns.iter().all(Option::is_some));
        assert!(exports.take(&one).is_none());
        assert!(exports.take(&other).is_some());
        drop(turns);
        assert!(exports.take(&one).is_some());
        assert!(exports.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty());
    }
}
