//! Who does what when.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use fastrand::Rng;

use super::{draw, manners::Manners};
use crate::domain::{
    command::{NewTask, RequestKey, Ticket, Verb},
    id::{Revision, TaskId, Timestamp},
};

/// Something that somebody is going to do. Riders and dispatchers are meant by their place in the cast.
#[derive(Debug)]
pub(super) enum Deed {
    /// The shop orders something of its own.
    Shop,
    /// The shop orders this.
    Order(Box<(RequestKey, NewTask)>),
    /// The shop's customer does not want it any more.
    Cancel(TaskId),
    /// A dispatcher reads the log and invites riders.
    Dispatch(usize),
    /// A rider reads what is his or hers: once, or again and again.
    Look { rider: usize, again: bool },
    /// A rider answers an offer.
    Answer { rider: usize, task: TaskId, revision: Revision, yes: bool },
    /// A rider goes on with a task.
    Carry { rider: usize, task: TaskId, revision: Revision, verb: Verb },
    /// A rider reads what could be grabbed.
    Browse(usize),
    /// A rider grabs.
    Grab { rider: usize, task: TaskId, revision: Revision },
    /// A rider reads what rounds ask.
    Heed(usize),
    /// A rider grabs with a ticket.
    Take { rider: usize, task: TaskId, revision: Revision, ticket: Ticket },
    /// A rider says no to a round.
    NoThanks { rider: usize, round: i64 },
    /// A rider says where he or she is.
    Locate(usize),
}

impl Deed {
    /// Whether it is only looking around, which never ends.
    const fn is_idle(&self) -> bool {
        match self {
            Self::Shop | Self::Dispatch(_) | Self::Browse(_) | Self::Locate(_) | Self::Heed(_) => {
                true
            }
            Self::Look { again, .. } => *again,
            Self::Order(_)
            | Self::Cancel(_)
            | Self::Answer { .. }
            | Self::Carry { .. }
            | Self::Grab { .. }
            | Self::Take { .. }
            | Self::NoThanks { .. } => false,
        }
    }
}

/// A deed whose time has come.
#[derive(Debug)]
pub(super) struct Turn {
    pub at: Timestamp,
    /// Unlike that of any other deed: keys are made of it.
    pub number: u64,
    /// Its own chance, which does not depend on what others do meanwhile.
    pub chance: Rng,
    pub deed: Deed,
}

/// All that is going to be done, in the order of time.
#[derive(Debug)]
pub(super) struct Agenda {
    seed: u64,
    next: u64,
    busy: usize,
    order: BinaryHeap<Reverse<(Timestamp, u64)>>,
    deeds: BTreeMap<u64, Deed>,
}

impl Agenda {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, next: 1, busy: 0, order: BinaryHeap::new(), deeds: BTreeMap::new() }
    }

    pub(super) fn push(&mut self, at: Timestamp, deed: Deed) {
        let number = self.next;
        self.next += 1;
        self.busy += usize::from(!deed.is_idle());
        self.order.push(Reverse((at, number)));
        self.deeds.insert(number, deed);
    }

    /// What a rider does without being asked, spread so that not all do it at once.
    pub(super) fn first_turns(&mut self, rider: usize, manners: &Manners, now: Timestamp) {
        let mut chance = draw::chance(self.seed, u64::MAX - rider as u64);
        let mut within = |ms: i64| now.plus_ms(chance.i64(0..=ms.max(1)));
        let again = manners.look_ms.is_some();
        let (look, browse) = (manners.look_ms.unwrap_or(1_000), manners.browse_ms);
        self.push(within(look), Deed::Look { rider, again });
        if let Some(browse) = browse {
            self.push(within(browse), Deed::Browse(rider));
        }
        if let Some(heed) = manners.heed_ms {
            self.push(within(heed), Deed::Heed(rider));
        }
        if let Some(locate) = manners.locate_ms {
            self.push(within(locate), Deed::Locate(rider));
        }
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.order.peek().map(|Reverse((at, _))| *at)
    }

    pub(super) const fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Takes off what is due up to `through`, at most `most` deeds.
    pub(super) fn due(&mut self, through: Timestamp, most: usize) -> Vec<Turn> {
        let mut turns = Vec::new();
        while turns.len() < most.max(1) {
            let Some(Reverse((at, number))) = self.order.peek().copied() else { break };
            if at > through {
                break;
            }
            self.order.pop();
            let Some(deed) = self.deeds.remove(&number) else { continue };
            self.busy -= usize::from(!deed.is_idle());
            let chance = draw::chance(self.seed, number);
            turns.push(Turn { at, number, chance, deed });
        }
        turns
    }
}
