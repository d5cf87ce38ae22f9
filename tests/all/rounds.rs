//! Finding somebody for a task: who is asked, what follows when nobody answers, and that a late timer finds nothing.
//!
//! Rider n stands n × 100 m north of the pickup, so R1 to R20 are within 2 km, R50 is the last one within 5 km.

mod at_once;
mod automatic;
mod by_hand;
mod evening;
mod members;
mod restarts;
mod windows;

use dispatch_desk::{
    domain::{
        actor::{Actor, RequestKey},
        command::{Act, Ticket},
        facts::Duty,
        fix::Fix,
        geo::Place,
        id::{Revision, RiderId, TaskId},
        policy::Policy,
        rank::LeftOut,
        refusal::{Code, Lang},
        round::{AfterRounds, RoundKind, RoundRules, RoundStart, RoundStatus},
    },
    engine::rounds::{Options, RoundReply, Rounds, Wish},
    locate::Locator,
    store::{LedgerLine, LoggedEvent, Pooled, RiderChange, Round},
};

use crate::harness::*;

const PICKUP: Place = Place { lat: 31.2304, lng: 121.4737 };
/// A hundred metres of latitude.
const STEP: f64 = 0.000_899_32;

/// A desk with riders on a line.
struct Town<'a> {
    desk: &'a Desk,
    rounds: Rounds,
}

impl<'a> Town<'a> {
    async fn of(desk: &'a Desk, rules: RoundRules) -> Town<'a> {
        let policy = Policy { version: 2, rounds: rules, ..Policy::default() };
        let mut tx = desk.db.begin().await.unwrap();
        tx.add_policy(NORTH, NOON, &policy).await.unwrap();
        tx.commit().await.unwrap();
        let locator = Locator::default();
        for number in 1..=RIDERS {
            let north = STEP * f64::from(i32::try_from(number).unwrap());
            let place = Place { lat: PICKUP.lat + north, ..PICKUP };
            locator.note(NORTH, RiderId(number), Fix::new(1, NOON, place)).await.unwrap();
        }
        Self { desk, rounds: Rounds::new(desk.executor.clone(), locator) }
    }

    /// Lets the desk do what is due.
    async fn look(&self) {
        self.rounds.run_once().await.unwrap();
    }

    /// Moves the clock, then lets the desk do what is due.
    async fn after_ms(&self, ms: i64) {
        self.desk.advance_ms(ms).await;
        self.look().await;
    }

    /// Has a dispatcher's wish judged at the task's revision.
    async fn wish(&self, task: TaskId, wish: Wish) -> RoundReply {
        let revision = self.desk.task(task).await.revision;
        let key = self.desk.recorder.fresh_key();
        let reply = self.rounds.ask(&D1, &key, Lang::En, task, revision, wish).await.unwrap();
        serde_json::from_str(&reply.body).unwrap()
    }

    async fn rounds_of(&self, task: TaskId) -> Vec<Round> {
        self.desk.read().await.rounds_of(task).await.unwrap()
    }

    async fn last(&self, task: TaskId) -> Round {
        self.rounds_of(task).await.pop().expect("a round")
    }

    async fn ledger(&self, task: TaskId) -> Vec<LedgerLine> {
        self.desk.read().await.ledger_of(task).await.unwrap()
    }

    /// Who was asked in a round, the best first.
    async fn asked(&self, task: TaskId, round: i64) -> Vec<i64> {
        let ledger = self.ledger(task).await;
        let asked = ledger.iter().filter(|line| line.round == round && line.asked.is_ok());
        asked.map(|line| line.rider.0).collect()
    }

    /// Why a rider was left out of a round.
    async fn left_out(&self, task: TaskId, round: i64, rider: i64) -> Option<LeftOut> {
        let ledger = self.ledger(task).await;
        let line = ledger.iter().find(|line| line.round == round && line.rider.0 == rider)?;
        line.asked.as_ref().err().copied()
    }

    /// The ticket that a rider holds for a task now.
    async fn ticket(&self, rider: i64, task: TaskId) -> Option<Ticket> {
        let mut tx = self.desk.read().await;
        let now = tx.now().await.unwrap();
        let invitations = self.rounds.invitations(&mut tx, RiderId(rider), now).await.unwrap();
        let of_task = invitations.iter().find(|invitation| invitation.task == task);
        of_task.map(|invitation| invitation.ticket.ticket())
    }

    /// A grab with the ticket that the rider holds.
    async fn grab(&self, rider: i64, task: TaskId) -> Act {
        Act::Grab { ticket: self.ticket(rider, task).await }
    }

    async fn declines(&self, rider: i64, task: TaskId) {
        let ticket = self.ticket(rider, task).await.expect("a ticket");
        let key = self.desk.recorder.fresh_key();
        let declined = self.rounds.decline(RiderId(rider), &key, Lang::En, ticket.round).await;
        assert_eq!(declined.unwrap().status, 200);
    }

    async fn pooled(&self, task: TaskId) -> Option<Pooled> {
        self.desk.read().await.pooled(task).await.unwrap()
    }

    /// What the log says of a task's rounds.
    async fn story(&self, task: TaskId) -> Vec<String> {
        let events = self.desk.events(task).await;
        let rounds = events.into_iter().filter(|event| event.kind == "round");
        rounds.map(|event| event.action).collect()
    }
}

/// The usual ladder, three riders for twenty seconds, by itself.
fn rules() -> RoundRules {
    RoundRules {
        start: RoundStart::AtOnce,
        ladder_m: vec![2_000, 5_000],
        batch: 3,
        seconds: 20,
        rounds: 2,
        ..RoundRules::default()
    }
}

const START: Wish = Wish::Start(Options { radius_m: None, batch: None, seconds: None });
