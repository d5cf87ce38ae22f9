//! What dispatchers, riders and the desk itself do to one round at the same moment.

use std::sync::Arc;

use tokio::sync::Barrier;

use super::*;
use crate::harness::record::now_ns;

/// How many tasks are raced for.
const TASKS: usize = 40;

/// Runs both at the same moment, and returns what came with whether they truly overlapped.
async fn both<A: Send + 'static, B: Send + 'static>(
    one: impl Future<Output = A> + Send + 'static,
    other: impl Future<Output = B> + Send + 'static,
) -> (A, B, bool) {
    async fn timed<T>(what: impl Future<Output = T>, barrier: Arc<Barrier>) -> (T, u64, u64) {
        barrier.wait().await;
        let from = now_ns();
        let came = what.await;
        (came, from, now_ns())
    }
    let barrier = Arc::new(Barrier::new(2));
    let one = tokio::spawn(timed(one, Arc::clone(&barrier)));
    let other = tokio::spawn(timed(other, barrier));
    let (one, other) = (one.await.unwrap(), other.await.unwrap());
    let overlap = one.1 < other.2 && other.1 < one.2;
    (one.0, other.0, overlap)
}

fn report(name: &str, overlapped: usize) {
    let share = overlapped * 100 / TASKS;
    println!("{name}: {TASKS} rounds, {share} % truly overlapped");
    assert!(share >= 50, "{name}: only {share} % overlapped");
}

/// A clone that can go to another task of the runtime.
fn widens(town: &Town<'_>, task: TaskId) -> impl Future<Output = bool> + Send + 'static {
    let (rounds, key) = (town.rounds.clone(), town.desk.recorder.fresh_key());
    async move {
        let asked = rounds.ask(&D1, &key, Lang::En, task, Revision(1), Wish::Widen).await;
        asked.is_ok_and(|reply| reply.status == 200)
    }
}

for_each_database!(who_says_no_while_the_next_round_is_planned_is_not_asked, |desk| async move {
    let town = Town::of(&desk, RoundRules { rounds: 9, ..rules() }).await;
    let mut overlapped = 0;
    let mut refusals = 0;
    for _ in 0..TASKS {
        let task = desk.create().await;
        town.look().await;
        let first = town.last(task).await.id;
        let (rounds, key) = (town.rounds.clone(), desk.recorder.fresh_key());
        let declines = async move {
            let declined = rounds.decline(RiderId(1), &key, Lang::En, first).await;
            declined.is_ok_and(|reply| reply.status == 200)
        };
        let (declined, _, overlap) = both(declines, widens(&town, task)).await;
        overlapped += usize::from(overlap);
        refusals += usize::from(!declined);
        let events = desk.events(task).await;
        let at = |action: &str| events.iter().rposition(|event| event.action == action);
        if declined && at("round-declined") < at("round-started") {
            let next = town.last(task).await.id;
            assert!(
                !town.asked(task, next).await.contains(&1),
                "asked again after a no: {events:?}"
            );
        }
        desk.done(D1, task, 1, CANCEL).await;
    }
    println!("{refusals} came after the end of the round");
    report("no against widen", overlapped);
    desk.check().await;
});

for_each_database!(
    an_offer_of_the_desk_is_void_without_the_round_that_it_belongs_to,
    |desk| async move {
        let rules = RoundRules { rounds: 1, then: AfterRounds::AutoOffer, ..rules() };
        let town = Town::of(&desk, rules).await;
        let task = desk.create().await;
        town.look().await;
        let broadcast = town.last(task).await.id;
        let late = async |round| {
            let act = Act::Offer { rider: RiderId(1), seconds: None, round: Some(round) };
            desk.refused(Actor::System, task, 1, act, Code::TicketExpired).await;
        };
        // A dispatcher widens between the exclusive round and its offer: the round that runs is another one.
        town.wish(task, Wish::Widen).await;
        late(broadcast).await;
        assert_eq!(desk.task(task).await.state.name().as_str(), "open");
        let running = town.last(task).await;
        assert_eq!(running.status, RoundStatus::Running);
        assert!(town.ticket(1, task).await.is_some(), "its members can take it");
        // A dispatcher takes over: there is no round at all.
        town.wish(task, Wish::Stop).await;
        late(running.id).await;
        desk.check().await;
    }
);

for_each_database!(widening_while_the_desk_offers_leaves_one_of_both, |desk| async move {
    let rules = RoundRules { rounds: 1, then: AfterRounds::AutoOffer, auto_offers: 3, ..rules() };
    let town = Town::of(&desk, rules).await;
    let (mut overlapped, mut offered) = (0, 0);
    for _ in 0..TASKS {
        let task = desk.create().await;
        town.look().await;
        desk.advance_ms(20_000).await;
        let rounds = town.rounds.clone();
        let looks = async move { rounds.run_once().await.unwrap() };
        let (db, widens) = (desk.db.clone(), widens(&town, task));
        // A dispatcher who is as quick as can be: the round has begun, and its offer is on its way.
        let widens = async move {
            let alone = async || {
                let rounds = db.read().await.unwrap().rounds_of(task).await.unwrap();
                rounds.last().is_some_and(|round| round.kind == RoundKind::Exclusive)
            };
            while !alone().await {
                tokio::task::yield_now().await;
            }
            widens.await
        };
        let (_, _, overlap) = both(looks, widens).await;
        overlapped += usize::from(overlap);
        let (now, running) = (desk.task(task).await, town.last(task).await);
        assert_eq!(running.status, RoundStatus::Running);
        let alone = running.kind == RoundKind::Exclusive;
        let is_offered = now.state.name().as_str() == "offered";
        assert_eq!(is_offered, alone, "a task that many are asked for is nobody's offer: {now:?}");
        offered += usize::from(is_offered);
        let sought = desk.read().await.search_of(task).await.unwrap();
        assert!(sought.is_some(), "somebody is looked for");
        desk.done(D1, task, now.revision.0, CANCEL).await;
    }
    println!("{offered} of {TASKS} were offered");
    report("offer against widen", overlapped);
    desk.check().await;
});
