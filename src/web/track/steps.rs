//! How far a task has come, as its customer sees it.

use crate::{
    domain::{
        command::Verb,
        task::{Stage, StateName},
    },
    store::Card,
    web::page::When,
};

/// One step.
pub(super) struct Step {
    /// `step-…`.
    pub(super) key: &'static str,
    /// `done`, `now` or `later`.
    pub(super) place: &'static str,
    pub(super) at: Option<When>,
}

/// All steps, in order.
pub(super) fn steps(card: &Card, at: &impl Fn(Verb) -> Option<When>) -> Vec<Step> {
    if card.task.state.name() == StateName::Cancelled {
        return vec![
            Step { key: "step-ordered", place: "done", at: at(Verb::Create) },
            Step { key: "step-cancelled", place: "now", at: at(Verb::Cancel) },
        ];
    }
    // How far it has come: ordered, taken, picked up, delivered.
    let reached = match card.task.state.stage() {
        None => 0,
        Some(Stage::Waiting | Stage::AtPickup) => 1,
        Some(Stage::PickedUp) => 2,
        Some(Stage::Delivered) => 3,
    };
    let taken = || at(Verb::Accept).max_by_machine(at(Verb::Grab)).max_by_machine(at(Verb::Assign));
    let all = [
        ("step-ordered", at(Verb::Create)),
        ("step-taken", taken()),
        ("step-picked-up", at(Verb::PickUp)),
        ("step-delivered", at(Verb::Deliver)),
    ];
    (0..)
        .zip(all)
        .map(|(index, (key, at))| Step {
            key,
            place: match index {
                index if index < reached => "done",
                index if index == reached => "now",
                _ => "later",
            },
            at: at.filter(|_| index <= reached),
        })
        .collect()
}

/// The later of two instants that may be missing.
trait Later {
    fn max_by_machine(self, other: Self) -> Self;
}

impl Later for Option<When> {
    fn max_by_machine(self, other: Self) -> Self {
        match (self, other) {
            (Some(one), Some(two)) => Some(if one.machine >= two.machine { one } else { two }),
            (one, two) => one.or(two),
        }
    }
}
