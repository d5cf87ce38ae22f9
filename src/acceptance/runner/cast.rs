//! Who plays the riders of a scenario.

use std::collections::{BTreeMap, BTreeSet};

use super::Runner;
use crate::{
    acceptance::{
        record::{NotPlayed, Player},
        scenario::Scenario,
        words::Who,
    },
    domain::{command::Verb, id::RiderId},
    stand::{People, RiderSeat},
};

/// Riders of the product, taken in turn so that no scenario feels what the one before left behind.
#[derive(Debug)]
pub(super) struct Troupe {
    people: People,
    next: usize,
    /// Who has handed back today: the allowance is counted by rider and day.
    handed_back: BTreeSet<RiderId>,
}

impl Troupe {
    pub(super) const fn new(people: People) -> Self {
        Self { people, next: 0, handed_back: BTreeSet::new() }
    }

    pub(super) const fn people(&self) -> &People {
        &self.people
    }

    /// The riders who play in `scenario`.
    pub(super) fn cast(
        &mut self,
        scenario: &Scenario,
    ) -> Result<BTreeMap<String, RiderSeat>, NotPlayed> {
        let seats = self.people.riders.len();
        let mut cast: BTreeMap<String, RiderSeat> = BTreeMap::new();
        let hands_back: BTreeSet<_> = scenario
            .commands()
            .filter(|asked| asked.ask.command == Verb::HandBack)
            .filter_map(|asked| asked.ask.who.rider())
            .collect();
        for name in scenario.cast() {
            let wanted = scenario.riders.get(&name).cloned().unwrap_or_default();
            let may_hand_back = hands_back.contains(name.as_str());
            let fits = |seat: &&RiderSeat| {
                (seat.capacity, seat.foreign, seat.vehicle)
                    == (wanted.capacity, wanted.foreign, wanted.vehicle)
                    && !cast.values().any(|taken| taken.id == seat.id)
                    && !(may_hand_back && self.handed_back.contains(&seat.id))
            };
            let in_turn = (0..seats).map(|step| (self.next + step) % seats);
            let found = in_turn.map(|place| (place, &self.people.riders[place]));
            let (place, seat) =
                found.into_iter().find(|(_, seat)| fits(seat)).ok_or(NotPlayed::NoRiders)?;
            let seat = seat.clone();
            // Special kinds are few; only the turn of the ordinary ones goes on.
            if !scenario.riders.contains_key(&name) {
                self.next = (place + 1) % seats;
            }
            if may_hand_back {
                self.handed_back.insert(seat.id);
            }
            cast.insert(name, seat);
        }
        Ok(cast)
    }
}

/// The cast as the record keeps it.
pub(super) fn players(cast: &BTreeMap<String, RiderSeat>) -> BTreeMap<String, Player> {
    let player = |seat: &RiderSeat| Player { id: seat.id, name: seat.name.clone() };
    cast.iter().map(|(name, seat)| (name.clone(), player(seat))).collect()
}

impl Runner {
    /// The token of `who` in a scenario with this cast.
    pub(super) fn token<'a>(
        &'a self,
        cast: &'a BTreeMap<String, RiderSeat>,
        who: &Who,
    ) -> Option<&'a str> {
        let people = self.troupe.people();
        Some(match who {
            Who::Intake => &people.intake,
            Who::Dispatcher(2) => &people.dispatchers.second,
            Who::Dispatcher(_) => &people.dispatchers.first,
            Who::Supervisor => &people.supervisor,
            Who::Auditor => &people.auditor,
            Who::Foreigner => &people.foreigner,
            // A customer has a link and no token.
            Who::Customer | Who::Nobody | Who::System => return None,
            Who::Rider(name) => &cast.get(name)?.token,
        })
    }
}
