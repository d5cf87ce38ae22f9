//! Riders: they answer, drive, deliver, hand back, and grab.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Mutex,
};

use fastrand::Rng;

use super::{
    Next, Seat, World,
    agenda::{Deed, Turn},
    draw::lognormal_ms,
    locked,
};
use crate::{
    client::Fix,
    domain::{
        answer::{Outcome, TaskView},
        command::{Act, Reason, Verb},
        geo::Place,
        id::{Revision, TaskId, Timestamp},
        task::{Stage, StateName},
    },
};

/// A rider, and what he or she has in mind.
#[derive(Debug)]
pub(super) struct Rider {
    pub seat: Seat,
    mind: Mutex<Mind>,
}

#[derive(Debug)]
struct Mind {
    /// At which revision of a task something was planned: what is planned once is not planned again.
    plans: HashMap<TaskId, Revision>,
    place: Place,
    seq: i64,
    /// The rounds that were considered.
    rounds: BTreeSet<i64>,
}

impl Rider {
    pub(super) fn new(seat: Seat) -> Self {
        let place = seat.place;
        Self {
            seat,
            mind: Mutex::new(Mind {
                plans: HashMap::new(),
                place,
                seq: 0,
                rounds: BTreeSet::new(),
            }),
        }
    }

    /// Whether this is still what the rider has in mind.
    fn means(&self, task: TaskId, revision: Revision) -> bool {
        locked(&self.mind).plans.get(&task) == Some(&revision)
    }

    /// Whether the rider has not considered this round before; from now on he or she has.
    pub(super) fn is_new_round(&self, round: i64) -> bool {
        let mut mind = locked(&self.mind);
        // What is long over needs no remembering.
        while mind.rounds.len() > 256 {
            mind.rounds.pop_first();
        }
        mind.rounds.insert(round)
    }

    fn drop_plan(&self, task: TaskId, revision: Revision) {
        let mut mind = locked(&self.mind);
        if mind.plans.get(&task) == Some(&revision) {
            mind.plans.remove(&task);
        }
    }
}

impl World {
    /// A rider reads what is his or hers, and makes plans for what is new.
    pub(super) async fn look(&self, turn: &mut Turn, rider: usize, again: bool) -> Next {
        let mut next = Vec::new();
        if let Some(page) = self.read(self.riders[rider].seat.client.mine()).await {
            for item in &page.items {
                // The distance counts, not the time of day: the desk's clock may differ from ours.
                let left =
                    item.task.offer_until.map_or(0, |until| until.ms_since(page.server_time));
                next.extend(self.plan(&mut turn.chance, rider, &item.task, turn.at, left));
            }
        }
        if let (true, Some(pause)) = (again, self.manners.look_ms) {
            let pause = self.manners.every(pause);
            let pause = pause / 2 + turn.chance.i64(0..=pause);
            next.push((turn.at.plus_ms(pause), Deed::Look { rider, again }));
        }
        next
    }

    /// What the rider is going to do with a task, if he or she did not know of it.
    fn plan(
        &self,
        chance: &mut Rng,
        rider: usize,
        task: &TaskView,
        now: Timestamp,
        left_ms: i64,
    ) -> Option<(Timestamp, Deed)> {
        {
            let mut mind = locked(&self.riders[rider].mind);
            let known = mind.plans.get(&task.id).is_some_and(|known| *known >= task.revision);
            if known || (task.state == StateName::Offered && left_ms <= 0) {
                return None;
            }
            mind.plans.insert(task.id, task.revision);
        }
        match task.state {
            StateName::Offered => self.think(chance, rider, task, now, left_ms),
            StateName::Assigned => self.go_on(chance, rider, task, now),
            StateName::Open | StateName::Cancelled => None,
        }
    }

    /// What the rider thinks of an offer that waits for another `left_ms`.
    fn think(
        &self,
        chance: &mut Rng,
        rider: usize,
        task: &TaskView,
        now: Timestamp,
        left_ms: i64,
    ) -> Option<(Timestamp, Deed)> {
        let manners = &self.manners;
        let answer = |yes| Deed::Answer { rider, task: task.id, revision: task.revision, yes };
        let drawn = chance.f64();
        let yes = drawn < manners.accepted;
        let in_time = drawn < manners.accepted + manners.declined;
        let mut tally = locked(&self.tally);
        if in_time {
            let reserve = left_ms / 8;
            let wait = lognormal_ms(chance, manners.answer_ms / manners.pace, 1.44);
            return Some((now.plus_ms(wait.clamp(1, left_ms - reserve)), answer(yes)));
        }
        tally.ignored += 1;
        let late = chance.f64() < manners.late;
        late.then(|| (now.plus_ms(left_ms + 1 + chance.i64(0..5_000)), answer(true)))
    }

    /// The next step of an owner.
    fn go_on(
        &self,
        chance: &mut Rng,
        rider: usize,
        task: &TaskView,
        now: Timestamp,
    ) -> Option<(Timestamp, Deed)> {
        let (verb, minutes) = match task.stage? {
            Stage::Waiting if chance.f64() < self.manners.handed_back => (Verb::HandBack, 1.5),
            Stage::Waiting => (Verb::Arrive, 5.0),
            Stage::AtPickup => (Verb::PickUp, 2.0),
            Stage::PickedUp => (Verb::Deliver, 9.0),
            Stage::Delivered => return None,
        };
        let wait = lognormal_ms(chance, minutes * 60_000.0 / self.manners.pace, 0.4);
        let carry = Deed::Carry { rider, task: task.id, revision: task.revision, verb };
        Some((now.plus_ms(wait), carry))
    }

    /// A rider answers an offer.
    pub(super) async fn answer(
        &self,
        turn: &mut Turn,
        rider: usize,
        (task, revision): (TaskId, Revision),
        yes: bool,
    ) -> Next {
        let act = if yes { Act::Accept } else { Act::Decline { reason: reason("too_far") } };
        self.does(turn, rider, (task, revision), &act).await
    }

    /// A rider goes on with a task.
    pub(super) async fn carry(
        &self,
        turn: &mut Turn,
        rider: usize,
        (task, revision): (TaskId, Revision),
        verb: Verb,
    ) -> Next {
        let act = match verb {
            Verb::HandBack => Act::HandBack { reason: reason("vehicle_trouble") },
            Verb::PickUp => Act::PickUp,
            Verb::Deliver => Act::Deliver,
            _ => Act::Arrive,
        };
        self.does(turn, rider, (task, revision), &act).await
    }

    /// A rider does something with a task that he or she has plans for.
    async fn does(
        &self,
        turn: &mut Turn,
        rider: usize,
        (task, revision): (TaskId, Revision),
        act: &Act,
    ) -> Next {
        let who = &self.riders[rider];
        if !who.means(task, revision) {
            return Vec::new();
        }
        let Some(key) = self.manners.key(turn.number, 0) else { return Vec::new() };
        let sent = who.seat.client.act(&key, task, revision, act);
        let answer = self.noted(act.verb(), sent).await;
        who.drop_plan(task, revision);
        match answer {
            Some(answer) if answer.outcome != Outcome::Refused => {
                let task = answer.task.filter(|task| task.rider_id == Some(who.seat.id));
                let next =
                    task.and_then(|task| self.plan(&mut turn.chance, rider, &task, turn.at, 0));
                next.into_iter().collect()
            }
            // It is not as the rider thought: look how it is.
            Some(_) => {
                let soon = self.manners.paced(3_000.0);
                vec![(turn.at.plus_ms(soon), Deed::Look { rider, again: false })]
            }
            None => vec![(turn.at.plus_ms(5_000), Deed::Look { rider, again: false })],
        }
    }

    /// A rider who has a place left reads what could be grabbed, and thinks about one of the first.
    pub(super) async fn browse(&self, turn: &mut Turn, rider: usize) -> Next {
        let mut next = Vec::new();
        let pause = self.manners.every(self.manners.browse_ms.unwrap_or(i64::MAX));
        let pause = pause / 2 + turn.chance.i64(0..=pause);
        next.push((turn.at.plus_ms(pause), Deed::Browse(rider)));
        let who = &self.riders[rider].seat;
        let Some(mine) = self.read(who.client.mine()).await else { return next };
        if mine.items.len() >= who.capacity {
            return next;
        }
        let Some(pool) = self.read(who.client.pool(None)).await else { return next };
        if pool.items.len() > self.manners.keep_open {
            let liked = turn.chance.usize(0..pool.items.len().min(12));
            let TaskView { id: task, revision, .. } = pool.items[liked].task;
            let thought = self.manners.paced(2_000.0 + 6_000.0 * turn.chance.f64());
            next.push((turn.at.plus_ms(thought), Deed::Grab { rider, task, revision }));
        }
        next
    }

    /// A rider grabs.
    pub(super) async fn grab(
        &self,
        turn: &mut Turn,
        rider: usize,
        (task, revision): (TaskId, Revision),
    ) -> Next {
        let who = &self.riders[rider];
        let Some(key) = self.manners.key(turn.number, 0) else { return Vec::new() };
        let act = Act::Grab { ticket: None };
        let answer = self.noted(Verb::Grab, who.seat.client.act(&key, task, revision, &act)).await;
        let won = answer.filter(|answer| answer.outcome != Outcome::Refused);
        let task = won.and_then(|answer| answer.task);
        let next = task.and_then(|task| self.plan(&mut turn.chance, rider, &task, turn.at, 0));
        next.into_iter().collect()
    }

    /// A rider says where he or she is, a little away from where it was before.
    pub(super) async fn locate(&self, turn: &mut Turn, rider: usize) -> Next {
        let who = &self.riders[rider];
        let fix = {
            let mut mind = locked(&who.mind);
            // Back to where the shift began, more or less: nobody leaves the city.
            let mut stroll =
                |at: f64, home: f64| at + (home - at) * 0.05 + (turn.chance.f64() - 0.5) * 0.003;
            let place = Place {
                lat: stroll(mind.place.lat, who.seat.place.lat),
                lng: stroll(mind.place.lng, who.seat.place.lng),
            };
            mind.place = place;
            // Later than any of an earlier run.
            mind.seq = mind.seq.max(turn.at.0).saturating_add(1);
            Fix { seq: mind.seq, at: turn.at, lat: place.lat, lng: place.lng }
        };
        if self.read(who.seat.client.locate(&[fix])).await.is_some() {
            locked(&self.tally).positions += 1;
        }
        let pause = self.manners.every(self.manners.locate_ms.unwrap_or(i64::MAX));
        vec![(turn.at.plus_ms(pause), Deed::Locate(rider))]
    }
}

fn reason(code: &str) -> Option<Reason> {
    Reason::parse(code)
}
