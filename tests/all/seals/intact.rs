//! What is sealed, by whom, and that an intact log is found intact.

use dispatch_desk::{
    domain::seal::{Book, Key, Keys, Range},
    engine::{
        sealer::{Sealer, Step},
        verify::verify,
    },
};

use super::{check, day, finding, keys, seal, sealer, vandal};
use crate::harness::*;

for_each_database!(an_empty_log_is_intact_and_there_is_nothing_to_seal, |desk| async move {
    assert_eq!(sealer(&desk).seal_now().await.unwrap(), Step::Nothing);
    let report = check(&desk, &[]).await;
    assert_eq!((report.finding, report.head), (None, None));
    assert_eq!((report.events, report.attempts, report.seals), (0, 0, 0));
});

for_each_database!(an_intact_log_fits_and_what_is_not_sealed_is_a_fact, |desk| async move {
    let seals = day(&desk).await;
    assert_eq!(seals[0].events, Range { first: 1, last: 4 });
    assert_eq!(seals[1].events, Range { first: 5, last: 8 });
    assert_eq!(seals[2].prev, seals[1].digest);
    assert_eq!(seals[2].at, NOON);
    let heads: Vec<_> = seals.iter().map(dispatch_desk::domain::seal::Seal::head).collect();
    let report = check(&desk, &heads).await;
    assert_eq!(report.finding, None);
    assert_eq!((report.events, report.attempts, report.seals), (12, 15, 3));
    assert_eq!((report.unsealed_events, report.unsealed_attempts), (0, 0));
    assert_eq!(report.head.as_ref(), heads.last());
    desk.create().await;
    let report = check(&desk, &heads).await;
    assert_eq!((report.finding, report.events, report.seals), (None, 13, 3));
    assert_eq!((report.unsealed_events, report.unsealed_attempts), (1, 1));
    assert_eq!(sealer(&desk).seal_now().await.unwrap(), Step::Sealed(seal(&desk).await));
});

for_each_database!(a_long_log_is_sealed_chunk_by_chunk, |desk| async move {
    desk.create_many(25).await;
    let small = Sealer::new(desk.db.clone(), keys(), 7);
    assert_eq!(small.seal_all().await.unwrap(), Step::Nothing);
    let seals = desk.read().await.seals_after(0, 100).await.unwrap();
    // 25 events and 25 attempts, 7 a seal; the fourth holds the end of those and the beginning of these.
    assert_eq!(seals.len(), 8);
    assert_eq!(seals[3].events, Range { first: 22, last: 25 });
    assert_eq!(seals[3].attempts, Range { first: 1, last: 3 });
    assert_eq!(seals[4].events, Range { first: 26, last: 25 });
    assert_eq!(finding(&desk).await, "intact");
});

for_each_database!(of_two_sealers_at_once_one_wins_and_the_chain_is_one, |desk| async move {
    let (one, two) = (sealer(&desk), Sealer::new(desk.db.clone(), keys(), 3));
    for _ in 0..10 {
        desk.create_many(4).await;
        let (left, right) = tokio::join!(one.seal_now(), two.seal_now());
        for step in [left.unwrap(), right.unwrap()] {
            assert!(matches!(step, Step::Sealed(_) | Step::Beaten | Step::Nothing), "{step:?}");
        }
    }
    assert_eq!(two.seal_all().await.unwrap(), Step::Nothing);
    let report = check(&desk, &[]).await;
    assert_eq!((report.finding, report.events, report.unsealed_events), (None, 40, 0));
});

for_each_database!(who_comes_second_from_the_same_place_keeps_nothing, |desk| async move {
    use dispatch_desk::domain::seal::Sealing;
    desk.create().await;
    let event = desk.read().await.events_after(0, 1).await.unwrap().remove(0);
    let attempt = desk.read().await.attempts_after(0, 1).await.unwrap().remove(0);
    let mut short = Sealing::after(None).unwrap();
    short.take(Book::Event, &event.sealed());
    let mut long = short.clone();
    long.take(Book::Attempt, &attempt.sealed());
    let mut kept = Vec::new();
    for sealing in [short, long] {
        let mut tx = desk.db.begin().await.unwrap();
        let seal = sealing.seal(keys().newest(), NOON);
        kept.push(tx.insert_seal(&seal).await.unwrap());
        tx.commit().await.unwrap();
    }
    assert_eq!(kept, [true, false]);
    seal(&desk).await;
    assert_eq!(finding(&desk).await, "intact");
});

for_each_database!(a_sealer_that_died_in_between_is_followed_by_the_next, |desk| async move {
    day(&desk).await;
    desk.create().await;
    // It has read and computed all, and dies before the commit.
    let last = desk.read().await.last_seal().await.unwrap();
    let mut sealing = dispatch_desk::domain::seal::Sealing::after(last.as_ref()).unwrap();
    let event = desk.read().await.events_after(12, 1).await.unwrap().remove(0);
    sealing.take(Book::Event, &event.sealed());
    let mut tx = desk.db.begin().await.unwrap();
    assert!(tx.insert_seal(&sealing.seal(keys().newest(), NOON)).await.unwrap());
    drop(tx);
    assert_eq!(check(&desk, &[]).await.unsealed_events, 1);
    assert_eq!(seal(&desk).await.number, 4);
    assert_eq!(finding(&desk).await, "intact");
});

for_each_database!(
    a_sealer_in_the_background_seals_every_second_and_at_its_end,
    |desk| async move {
        desk.create().await;
        let (stop, running) = Sealer::start(desk.db.clone(), keys());
        let sealed = async |number| {
            let mut looks = 0;
            while desk
                .read()
                .await
                .last_seal()
                .await
                .unwrap()
                .is_none_or(|last| last.number < number)
            {
                looks += 1;
                assert!(looks < 100_000, "seal {number} does not come");
            }
        };
        sealed(1).await;
        desk.create().await;
        // It may be on its way to wait: then the clock moves before it looks when to go on, and has to move again.
        let moved = async {
            loop {
                desk.advance_ms(1_000).await;
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = sealed(2) => {}
            () = moved => {}
        }
        desk.create().await;
        stop.send_replace(true);
        running.await.unwrap();
        let report = check(&desk, &[]).await;
        assert_eq!((report.finding, report.unsealed_events, report.events), (None, 0, 3));
    }
);

for_each_database!(an_older_key_vouches_for_what_it_has_sealed, |desk| async move {
    day(&desk).await;
    let (old, new) = (keys().newest().clone(), Key::new([8; 32]));
    let file = format!("{}\n{}\n", old.line(), new.line());
    let both = Keys::parse(file.as_bytes()).unwrap();
    desk.create().await;
    let rotated = Sealer::new(desk.db.clone(), both.clone(), 100);
    let Step::Sealed(seal) = rotated.seal_now().await.unwrap() else { panic!("nothing to seal") };
    assert_eq!(seal.key_id, new.id());
    let report = verify(&desk.db, &both, &[], |_| ()).await.unwrap();
    assert_eq!((report.finding, report.seals), (None, 4));
    let without = finding(&desk).await;
    assert!(without.starts_with("seal 4: made with the key"), "{without}");
    let report = verify(&desk.db, &Keys::one(new), &[], |_| ()).await.unwrap();
    assert_eq!(report.finding.unwrap().number, 1);
});

for_each_database!(nothing_is_sealed_beyond_a_hole, |desk| async move {
    day(&desk).await;
    desk.create_many(3).await;
    let raw = vandal(&desk).await;
    raw.run("DELETE FROM dispatch_event WHERE number = 14").await.unwrap();
    let sealer = sealer(&desk);
    let Step::Sealed(seal) = sealer.seal_now().await.unwrap() else { panic!("13 can be sealed") };
    assert_eq!(seal.events, Range { first: 13, last: 13 });
    assert_eq!(sealer.seal_now().await.unwrap(), Step::Hole(Book::Event, 14));
    assert_eq!(finding(&desk).await.split(':').next(), Some("event 14"));
});

for_each_database!(a_sealer_notices_that_seals_went_behind_its_back, |desk| async move {
    let sealer = sealer(&desk);
    desk.create().await;
    assert!(matches!(sealer.seal_now().await.unwrap(), Step::Sealed(_)));
    desk.create().await;
    assert!(matches!(sealer.seal_now().await.unwrap(), Step::Sealed(_)));
    let raw = vandal(&desk).await;
    raw.run("DELETE FROM audit_seal WHERE number = 2").await.unwrap();
    assert_eq!(sealer.seal_now().await.unwrap(), Step::Broken(2));
    raw.run("DELETE FROM audit_seal").await.unwrap();
    assert_eq!(sealer.seal_now().await.unwrap(), Step::Broken(1));
});

for_each_database!(every_column_of_the_log_is_sealed, |desk| async move {
    use dispatch_desk::store::{Attempt, LoggedEvent};
    let raw = crate::contract::raw::Raw::of(&desk).await;
    for (table, sealed) in
        [("dispatch_event", &LoggedEvent::SEALED[..]), ("attempt", &Attempt::SEALED[..])]
    {
        let sql = match raw.database() {
            Database::Sqlite => {
                format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid")
            }
            Database::Postgres => format!(
                "SELECT CAST(column_name AS text) FROM information_schema.columns WHERE \
                 table_schema = current_schema() AND table_name = '{table}' ORDER BY ordinal_position"
            ),
        };
        assert_eq!(raw.texts(&sql).await, [&["number"], sealed].concat(), "{table}");
    }
});
