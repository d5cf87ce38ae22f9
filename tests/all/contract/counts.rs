//! What a board counts over a scripted day.

use dispatch_desk::{
    domain::{
        command::{Act, Actor, Command, NewTask, What},
        id::{RegionId, Revision, RiderId, TaskId, Timestamp},
        refusal::{Code, Lang},
    },
    store::{AttemptRow, Counts, Span},
};

use crate::harness::*;

async fn deliver(desk: &Desk, task: TaskId, by: i64) {
    for (revision, act) in (1..).zip([GRAB, Act::Arrive, Act::PickUp, Act::Deliver]) {
        desk.done(rider(by), task, revision, act).await;
    }
}

/// An offer that is declined at once.
async fn declined(desk: &Desk, number: i64) {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(number)).await;
    desk.done(rider(number), task, 2, DECLINE).await;
}

fn span(today: Timestamp, lately: Timestamp, soon: Timestamp) -> Span {
    Span { today, lately, soon }
}

/// One of each a millisecond before noon, and again at noon, where the day of this case begins.
async fn two_days(desk: &Desk) {
    for (ms, first) in [(-1, 1), (0, 11)] {
        desk.set_time(NOON.plus_ms(ms)).await;
        let delivered = desk.create().await;
        deliver(desk, delivered, first).await;
        desk.refused(rider(first + 1), delivered, 1, GRAB, Code::Delivered).await;
        let cancelled = desk.create().await;
        desk.done(D1, cancelled, 1, CANCEL).await;
        declined(desk, first + 2).await;
        let south = desk.create_with(NewTask { region: SOUTH, ..order() }).await;
        desk.refused(FOREIGN_DISPATCHER, south, 1, WITHDRAW, Code::NotOffered).await;
        if ms == 0 {
            deliver(desk, south, FOREIGN_RIDER).await;
        }
    }
}

for_each_database!(a_day_is_counted_exactly_from_its_first_millisecond_on, |desk| async move {
    two_days(&desk).await;
    // In their owners' hands, at every stage; and who asks for what is his is not refused.
    for (number, steps) in [(21, 0), (22, 0), (23, 1), (24, 2)] {
        let task = desk.create().await;
        desk.done(rider(number), task, 1, GRAB).await;
        for (revision, act) in (2..).zip([Act::Arrive, Act::PickUp]).take(steps) {
            desk.done(rider(number), task, revision, act).await;
        }
        if number == 21 {
            let again = desk.ask(rider(21), task, 1, GRAB).await;
            assert!(again.is_success() && again.event.is_none(), "{again:?}");
        }
    }
    // Offers of 5, 30 and 31 seconds; the first lapses.
    let mut lapsing = None;
    for (number, seconds) in [(31, 5), (32, 30), (33, 31)] {
        let task = desk.create().await;
        let act = Act::Offer { rider: RiderId(number), seconds: Some(seconds), round: None };
        desk.done(D1, task, 1, act).await;
        lapsing.get_or_insert(task);
    }
    desk.advance_ms(5_000).await;
    let what = What::Change { task: lapsing.unwrap(), revision: Revision(2), act: Act::Expire };
    let expire = Command { actor: Actor::System, key: None, lang: Lang::En, what };
    assert!(desk.send(expire).await.came.answer().event.is_some());
    declined(&desk, 41).await;

    let (lapse, until) = (NOON.plus_ms(5_000), NOON.plus_ms(30_000));
    let north = Counts {
        // Declined three times, and lapsed.
        open: 4,
        offered: 2,
        expiring: 1,
        assigned: 3,
        picked_up: 1,
        delivered: 1,
        cancelled: 1,
        declined: 1,
        expired: 1,
        refused: 1,
    };
    let south = Counts { open: 1, delivered: 1, refused: 1, ..Counts::default() };
    let both = Counts { open: 5, delivered: 2, refused: 2, ..north };
    let mut tx = desk.read().await;
    let day = span(NOON, lapse, until);
    for (regions, expected) in [
        (&[NORTH][..], north),
        (&[SOUTH], south),
        (&[SOUTH, NORTH, NORTH], both),
        (&[RegionId(99)], Counts::default()),
        (&[], Counts::default()),
    ] {
        assert_eq!(tx.counts(regions, &day).await.unwrap(), expected, "{regions:?}");
    }
    // A millisecond earlier or later.
    let earlier = span(NOON.plus_ms(-1), NOON, until.plus_ms(-1));
    let expected =
        Counts { delivered: 2, cancelled: 2, refused: 2, declined: 2, expiring: 0, ..north };
    assert_eq!(tx.counts(&[NORTH], &earlier).await.unwrap(), expected);
    let later = span(NOON.plus_ms(1), lapse.plus_ms(1), until.plus_ms(1_000));
    let expected = Counts {
        delivered: 0,
        cancelled: 0,
        refused: 0,
        declined: 0,
        expired: 0,
        expiring: 2,
        ..north
    };
    assert_eq!(tx.counts(&[NORTH], &later).await.unwrap(), expected);
});

for_each_database!(refusals_are_counted_up_to_a_thousand, |desk| async move {
    let north = desk.create().await;
    let south = desk.create_with(NewTask { region: SOUTH, ..order() }).await;
    let attempt = |number, task, code: &str| AttemptRow {
        number,
        actor_kind: "rider",
        actor_id: Some("1".to_owned()),
        key_hash: None,
        task,
        verb: "grab",
        code: code.to_owned(),
        revision_seen: None,
        at: NOON.0,
    };
    let (north, south) = (Some(north.0), Some(south.0));
    let refused = |from, count, task| {
        (from..from + count).map(move |number| attempt(number, task, "TAKEN_BY_OTHER"))
    };
    let today = span(NOON, NOON, NOON);
    for (rows, in_north, in_south, in_both) in [
        (refused(101, 999, north).collect::<Vec<_>>(), 999, 0, 999),
        // What is no refusal, or on nothing that there is.
        (
            vec![
                attempt(2_001, north, "done"),
                attempt(2_002, north, "ALREADY_DONE"),
                attempt(2_003, north, "ALREADY_YOURS"),
                attempt(2_004, None, "NOT_FOUND"),
                attempt(2_005, Some(7), "NOT_FOUND"),
            ],
            999,
            0,
            999,
        ),
        (refused(3_001, 1, south).collect(), 999, 1, 1_000),
        (refused(4_001, 1, south).collect(), 999, 2, 1_000),
        (refused(5_001, 2, north).collect(), 1_000, 2, 1_000),
    ] {
        let mut tx = desk.db.begin().await.unwrap();
        tx.insert_attempts(&rows).await.unwrap();
        tx.commit().await.unwrap();
        let mut tx = desk.read().await;
        for (regions, expected) in
            [(&[NORTH][..], in_north), (&[SOUTH], in_south), (&[NORTH, SOUTH], in_both)]
        {
            assert_eq!(tx.counts(regions, &today).await.unwrap().refused, expected, "{regions:?}");
        }
    }
    assert_eq!(Counts::MOST_REFUSED, 1_000);
});
