//! A rider goes off duty, is shut out or is moved, while a task is about to become theirs.

use dispatch_desk::{
    domain::{
        answer::Answer,
        command::{Act, Actor, Command},
        facts::Duty,
        id::{RiderId, TaskId},
        refusal::{Code, Ineligible},
        task::StateName,
    },
    store::{LoggedEvent, RiderChange},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::Barrier;

use super::short::{actions, clear, is_done};
use crate::harness::{
    node::Node,
    race::Overlap,
    record::{Came, Sent, now_ns},
    *,
};

/// A change of these alone.
const fn only(
    duty: Option<Duty>,
    disabled: Option<bool>,
    capacity: Option<u32>,
    region: Option<dispatch_desk::domain::id::RegionId>,
) -> RiderChange {
    RiderChange {
        duty,
        disabled,
        capacity,
        region,
        risk_rejected: None,
        vehicle: None,
        name: None,
        phone: None,
        revision: None,
    }
}
const OFF: RiderChange = only(Some(Duty::Off), None, None, None);
const PAUSED: RiderChange = only(Some(Duty::Paused), None, None, None);
const ON: RiderChange = only(Some(Duty::On), None, None, None);
const DISABLED: RiderChange = only(None, Some(true), None, None);
const ENABLED: RiderChange = only(None, Some(false), None, None);
const MOVED: RiderChange = only(None, None, None, Some(SOUTH));
const BACK: RiderChange = only(None, None, None, Some(NORTH));

/// The rider of all these cases.
const R1: RiderId = RiderId(1);

/// How many turns the command is ahead of the change; behind it, if negative.
fn start(rng: &mut StdRng) -> i32 {
    // The command has the longer way, so it mostly needs the start.
    let turns = 1 << rng.random_range(0..12);
    if rng.random_bool(0.8) { turns } else { -turns }
}

async fn change(desk: &Desk, change: &RiderChange) -> usize {
    // No desk has authority over both regions, so the product itself moves the rider back and forth.
    desk.executor.change_rider(&Actor::System, R1, change).await.expect("a rider can be changed")
}

/// One race of a command against a change of the rider, and what the log has of it.
struct Round {
    sent: Sent,
    withdrawn: usize,
    /// The number of the change.
    changed: i64,
    /// Everything that was logged during the race, the change included.
    logged: Vec<LoggedEvent>,
}

impl Round {
    /// Runs the two at once; `ahead` gives the command a start, or the change if it is negative.
    async fn run(
        desk: &Desk,
        node: &Node,
        command: Command,
        rider_change: &RiderChange,
        ahead: i32,
        overlap: &mut Overlap,
    ) -> Self {
        let (before, _) = desk.read().await.head().await.expect("the log can be read");
        let barrier = Barrier::new(2);
        let wait = async |turns: i32| {
            barrier.wait().await;
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        };
        let asks = async {
            wait(-ahead).await;
            desk.send_to(node, command.clone()).await
        };
        let changes = async {
            wait(ahead).await;
            let from = now_ns();
            let withdrawn = change(desk, rider_change).await;
            (withdrawn, from, now_ns())
        };
        let (sent, (withdrawn, invoked_ns, returned_ns)) = tokio::join!(asks, changes);
        // The change is no command; as far as overlap goes it is like one.
        let as_sent = Sent { invoked_ns, returned_ns, came: Came::Nothing, ..sent.clone() };
        overlap.count(&[sent.clone(), as_sent]);
        let logged = desk.read().await.events_after(before, 100).await.expect("it can be read");
        let of_rider = logged.iter().find(|event| event.kind == "rider").expect("it is logged");
        assert_eq!(of_rider.subject, R1.0);
        Self { sent, withdrawn, changed: of_rider.number, logged }
    }

    /// The number of what was done, if it was.
    fn done(&self) -> Option<i64> {
        let Came::Back(returned) = &self.sent.came else { return None };
        returned.answer().event.map(|event| event.number)
    }

    /// Withdrawals stand right before the change, by the same transaction.
    fn assert_withdrawn_with_the_change(&self, task: TaskId, reason: &str) {
        let at = self.logged.iter().position(|event| event.number == self.changed - 1);
        let withdrawal = &self.logged[at.expect("something stands before the change")];
        assert_eq!((withdrawal.action.as_str(), withdrawal.task_id), ("withdraw", Some(task.0)));
        assert_eq!(withdrawal.reason.as_deref(), Some(reason));
        assert_eq!(withdrawal.actor_kind, "system");
        assert_eq!(self.withdrawn, 1);
    }
}

/// How a rider who came too late is told.
#[track_caller]
fn assert_not_eligible(sent: &Sent, why: Ineligible) {
    match (&sent.came, why) {
        // A shut account is not signed in, and what another region has can not be seen.
        (Came::Error(code), Ineligible::Disabled) => assert_eq!(code, "NOT_SIGNED_IN"),
        (Came::Error(code), Ineligible::OtherRegion) => assert_eq!(code, "NOT_FOUND"),
        (Came::Back(returned), _) => {
            let Answer { code, reason, .. } = returned.answer();
            assert_eq!(code.as_deref(), Some(Code::RiderNotEligible.as_str()));
            assert_eq!(reason, Some(why));
        }
        (other, _) => panic!("{why:?}: {other:?}"),
    }
}

for_each_database!(nobody_takes_a_task_after_going_off_duty, |desk| async move {
    let nodes = desk.nodes().await;
    let mut rng = StdRng::seed_from_u64(1);
    let cases = [
        (OFF, ON, Ineligible::OffDuty),
        (PAUSED, ON, Ineligible::Paused),
        (DISABLED, ENABLED, Ineligible::Disabled),
        (MOVED, BACK, Ineligible::OtherRegion),
    ];
    for (goes, comes_back, why) in cases {
        let mut overlap = Overlap::default();
        let mut in_time = 0;
        let all = rounds(15, 150);
        for round in 0..all {
            let task = desk.create().await;
            let grab = desk.change(rider(1), task, 1, GRAB);
            let (node, ahead) = (&nodes[round % nodes.len()], start(&mut rng));
            let round = Round::run(&desk, node, grab, &goes, ahead, &mut overlap).await;
            match round.done() {
                Some(number) => {
                    assert!(number < round.changed, "grabbed after the change: {:#?}", round.sent);
                    in_time += 1;
                }
                None => assert_not_eligible(&round.sent, why),
            }
            // What is owned stays owned: a change of the rider ends offers alone.
            let grabbed = round.logged.iter().any(|event| event.action == "grab");
            let owner = desk.task(task).await.state.rider();
            assert_eq!((owner, round.withdrawn), (grabbed.then_some(R1), 0));
            change(&desk, &comes_back).await;
            clear(&desk, &[task]).await;
        }
        println!("grab against {why:?}: {in_time} of {all} grabs were in time");
        overlap.report("grab against a change of the rider");
    }
    desk.check().await;
});

for_each_database!(nobody_is_invited_after_being_shut_out_or_moved, |desk| async move {
    let nodes = desk.nodes().await;
    let mut rng = StdRng::seed_from_u64(2);
    let cases = [
        (DISABLED, ENABLED, Ineligible::Disabled, "rider_disabled"),
        (MOVED, BACK, Ineligible::OtherRegion, "rider_moved"),
    ];
    for (goes, comes_back, why, reason) in cases {
        let mut overlap = Overlap::default();
        let mut in_time = 0;
        let all = rounds(15, 150);
        for round in 0..all {
            let task = desk.create().await;
            let invite = desk.change(D1, task, 1, offer(1));
            let (node, ahead) = (&nodes[round % nodes.len()], start(&mut rng));
            let round = Round::run(&desk, node, invite, &goes, ahead, &mut overlap).await;
            match round.done() {
                Some(number) => {
                    assert!(number < round.changed, "invited after the change: {:#?}", round.sent);
                    round.assert_withdrawn_with_the_change(task, reason);
                    in_time += 1;
                }
                None => assert_not_eligible(&round.sent, why),
            }
            assert_eq!(desk.task(task).await.state.name(), StateName::Open);
            change(&desk, &comes_back).await;
            clear(&desk, &[task]).await;
        }
        println!("offer against {why:?}: {in_time} of {all} offers were in time");
        overlap.report("offer against a change of the rider");
    }
    desk.check().await;
});

for_each_database!(an_accept_is_in_time_or_the_offer_goes_with_the_rider, |desk| async move {
    let nodes = desk.nodes().await;
    let mut rng = StdRng::seed_from_u64(3);
    let cases = [
        (DISABLED, ENABLED, "NOT_SIGNED_IN", "rider_disabled"),
        (MOVED, BACK, "NOT_FOUND", "rider_moved"),
    ];
    for (goes, comes_back, told, reason) in cases {
        let mut overlap = Overlap::default();
        let mut in_time = 0;
        let all = rounds(15, 150);
        for round in 0..all {
            let task = desk.create().await;
            desk.done(D1, task, 1, offer(1)).await;
            let accept = desk.change(rider(1), task, 2, Act::Accept);
            let (node, ahead) = (&nodes[round % nodes.len()], start(&mut rng));
            let round = Round::run(&desk, node, accept.clone(), &goes, ahead, &mut overlap).await;
            let state = desk.task(task).await.state;
            if let Some(number) = round.done() {
                assert!(number < round.changed, "accepted after the change: {:#?}", round.sent);
                assert_eq!((state.name(), state.rider()), (StateName::Assigned, Some(R1)));
                assert_eq!(round.withdrawn, 0);
                in_time += 1;
            } else {
                assert_eq!(round.sent.came, Came::Error(told.to_owned()));
                round.assert_withdrawn_with_the_change(task, reason);
                assert_eq!(state.name(), StateName::Open);
            }
            change(&desk, &comes_back).await;
            // Back again, the rider learns what became of the invitation.
            if !is_done(&round.sent) {
                desk.refused(rider(1), task, 2, Act::Accept, Code::OfferWithdrawn).await;
            }
            clear(&desk, &[task]).await;
        }
        println!("accept against {reason}: {in_time} of {all} accepts were in time");
        overlap.report("accept against a change of the rider");
    }
    desk.check().await;
});

for_each_database!(a_break_leaves_an_offer_alone_and_it_can_still_be_accepted, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    let mut rng = StdRng::seed_from_u64(4);
    for goes in [PAUSED, OFF] {
        for round in 0..rounds(15, 150) {
            let task = desk.create().await;
            desk.done(D1, task, 1, offer(1)).await;
            let accept = desk.change(rider(1), task, 2, Act::Accept);
            let (node, ahead) = (&nodes[round % nodes.len()], start(&mut rng));
            let round = Round::run(&desk, node, accept, &goes, ahead, &mut overlap).await;
            // Before the change or after it: the place was promised, and the rider says yes.
            assert!(round.done().is_some(), "{:#?}", round.sent);
            assert_eq!((round.withdrawn, round.logged.len()), (0, 2));
            // A new task is another matter.
            let more = desk.create().await;
            desk.refused(rider(1), more, 1, GRAB, Code::RiderNotEligible).await;
            desk.refused(D1, more, 1, offer(1), Code::RiderNotEligible).await;
            change(&desk, &ON).await;
            clear(&desk, &[task, more]).await;
        }
    }
    overlap.report("accept against a break");
    desk.check().await;
});

for_each_database!(an_offer_that_had_lapsed_is_expired_and_not_withdrawn, |desk| async move {
    let tasks = desk.create_many(2).await;
    desk.done(D1, tasks[0], 1, offer(1)).await;
    desk.advance_ms(30_000).await;
    desk.done(D1, tasks[1], 1, offer(1)).await;
    assert_eq!(change(&desk, &DISABLED).await, 1, "one of the two still stood");
    assert_eq!(actions(&desk, tasks[0]).await, ["create", "offer", "expire"]);
    assert_eq!(actions(&desk, tasks[1]).await, ["create", "offer", "withdraw"]);
    desk.check().await;
});
