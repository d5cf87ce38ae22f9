//! A node that goes in the middle of an exclusive offer: another one, or the same again, goes on where it was.

use dispatch_desk::{
    engine::executor::{Executor, Settings},
    store::{Db, Time},
};

use super::*;

impl<'a> Town<'a> {
    /// The same town after a restart: nothing but the database, and where riders were last seen, is left.
    async fn again(self) -> Town<'a> {
        let Town { desk, rounds } = self;
        let locator = rounds.locator().clone();
        drop(rounds);
        let time = Time::Manual(std::sync::Arc::clone(&desk.clock));
        let db = Db::open(&desk.home.url, time).await.unwrap();
        let settings =
            Settings { ticket_key: crate::harness::rounds::key(), ..Settings::default() };
        Town { desk, rounds: Rounds::new(Executor::start(db, settings), locator) }
    }
}

fn alone() -> RoundRules {
    RoundRules { rounds: 1, then: AfterRounds::AutoOffer, auto_offers: 3, ..rules() }
}

for_each_database!(an_offer_outlives_the_node_that_made_it_and_has_its_end, |desk| async move {
    let town = Town::of(&desk, alone()).await;
    let (one, two) = (desk.create().await, desk.create().await);
    town.look().await;
    town.after_ms(20_000).await;
    for task in [one, two] {
        assert!(desk.task(task).await.state.is_held_by(RiderId(1)));
    }
    let town = town.again().await;
    town.look().await;
    assert_eq!(town.rounds_of(one).await.len(), 2, "it is neither asked anew nor given up");
    // One answers while the desk is away, the other one never does.
    desk.done(rider(1), one, 2, Act::Accept).await;
    let town = town.again().await;
    town.after_ms(29_999).await;
    assert!(
        desk.task(two).await.state.is_held_by(RiderId(1)),
        "the offer lasts as long as it said"
    );
    town.after_ms(1).await;
    let next = desk.task(two).await;
    assert!(next.state.is_held_by(RiderId(2)), "then the next one is asked: {next:?}");
    assert_eq!(town.rounds_of(one).await.len(), 2);
    assert_eq!(desk.read().await.search_of(one).await.unwrap(), None, "nobody is looked for");
    desk.check().await;
});

for_each_database!(a_node_that_goes_between_round_and_offer_is_made_good, |desk| async move {
    let town = Town::of(&desk, alone()).await;
    let task = desk.create().await;
    town.look().await;
    town.after_ms(20_000).await;
    desk.done(rider(1), task, 2, DECLINE).await;
    // The next round is in the database, and its node is gone: nobody has the offer of it.
    let mut tx = desk.db.begin().await.unwrap();
    let now = tx.now().await.unwrap();
    let last = town.last(task).await;
    tx.decline_round(last.id, RiderId(1), now).await.unwrap();
    tx.end_round(last.id, RoundStatus::Passed, now).await.unwrap();
    let id = tx.take_round_number().await.unwrap();
    let until = now.plus_ms(30_000);
    let next = Round { step: 3, kind: RoundKind::Exclusive, ..round(id, task, now, until) };
    tx.insert_round(&next, &members(&next, &[(2, "n")])).await.unwrap();
    tx.set_search(task, until, 1).await.unwrap();
    tx.commit().await.unwrap();
    let town = town.again().await;
    town.look().await;
    town.after_ms(4_999).await;
    assert_eq!(desk.task(task).await.state.name().as_str(), "open", "it may still come");
    town.after_ms(1).await;
    let held = desk.task(task).await;
    assert!(
        held.state.is_held_by(RiderId(3)),
        "nobody is waited for who was never asked: {held:?}"
    );
    let kinds: Vec<_> =
        town.rounds_of(task).await.iter().map(|round| round.status.as_str()).collect();
    assert_eq!(kinds, ["passed", "passed", "passed", "running"]);
    desk.check().await;
});
