//! Accept against expire around the deadline (C10), and cancel against accept (C13), over HTTP.

use dispatch_desk::domain::{
    command::{Act, Verb},
    id::{TaskId, Timestamp},
    refusal::Code,
    task::StateName,
};
use futures_util::future::join_all;

use crate::{
    harness::{
        race::Overlap,
        record::{Sent, now_ns},
        *,
    },
    http::Face,
    short::{clear, count_done, is_done},
};

const TASKS: usize = 20;

/// Twenty offers to twenty riders, and the deadline of all of them.
async fn offers(http: &Face) -> (Vec<TaskId>, Timestamp) {
    let tasks = http.create_many(TASKS).await;
    let made = (1..).zip(&tasks).map(|(number, task)| http.done(D1, *task, 1, offer(number)));
    join_all(made).await;
    let until = http.task(tasks[0]).await.state.offer_until().expect("it is offered");
    (tasks, until)
}

/// Which of the two it was, after making sure that it was one, that it was in time, and that the rider was told so.
async fn winner(http: &Face, task: TaskId, until: Timestamp, accept: &Sent) -> Verb {
    // The servers' own expiry or the accept that came too late: one of them has released it.
    let events = http.events(task).await;
    let [_, _, last] = events.as_slice() else { panic!("one and no more: {events:#?}") };
    let answer = accept.came.answer();
    match Verb::parse(&last.action).expect("a verb") {
        Verb::Accept => {
            assert!(last.occurred_at < until.0, "accepted at or after the deadline: {last:#?}");
            assert!(answer.event.is_some(), "{answer:?}");
            Verb::Accept
        }
        Verb::Expire => {
            assert!(last.occurred_at >= until.0, "expired before the deadline: {last:#?}");
            assert_eq!(answer.code.as_deref(), Some(Code::OfferExpired.as_str()), "{answer:?}");
            Verb::Expire
        }
        other => panic!("nobody asked for {other}"),
    }
}

for_each_database!(over_http_an_accept_counts_before_the_deadline_and_never_from_it_on, |desk| {
    async move {
        let http = Face::of(desk).await;
        let mut overlap = Overlap::default();
        let (mut accepted, mut expired) = (0, 0);
        // From well before the deadline to well after it, and then the deadline passes in the middle of the race.
        for round in 0..rounds(10, 50) {
            let (tasks, until) = offers(&http).await;
            let distance = [-30, -1, 0, 1, 30].get(round).copied();
            http.set_time(until.plus_ms(distance.unwrap_or(-1))).await;
            let accepts = (1..).zip(&tasks);
            let accepts = accepts.map(|(n, task)| http.change(rider(n), *task, 2, Act::Accept));
            let passes = async {
                for _ in 0..(round % 7) * 8 {
                    tokio::task::yield_now().await;
                }
                let from = now_ns();
                if distance.is_none() {
                    http.set_time(until).await;
                }
                (from, now_ns())
            };
            let (sent, (from, to)) = tokio::join!(http.contest(accepts.collect()), passes);
            let moves = Sent { invoked_ns: from, returned_ns: to, ..sent[0].clone() };
            for (task, accept) in tasks.iter().zip(&sent) {
                match distance {
                    None => overlap.count(&[accept.clone(), moves.clone()]),
                    Some(_) => overlap.count(&sent),
                }
                let won = winner(&http, *task, until, accept).await;
                if let Some(distance) = distance {
                    let expected = if distance < 0 { Verb::Accept } else { Verb::Expire };
                    assert_eq!(won, expected, "{distance} ms from the deadline");
                }
                *(if won == Verb::Accept { &mut accepted } else { &mut expired }) += 1;
            }
            clear(&http, &tasks).await;
        }
        println!("C10 over HTTP: {accepted} accepted, {expired} expired");
        assert!(accepted > 0 && expired > 0);
        overlap.report("C10 over HTTP: accept against the deadline");
        http.check().await;
    }
});

for_each_database!(
    over_http_a_cancel_and_an_accept_have_one_winner_and_cancelled_is_final,
    |desk| {
        async move {
            let http = Face::of(desk).await;
            let mut overlap = Overlap::default();
            for round in 0..rounds(12, 300) {
                let task = http.create().await;
                http.done(D1, task, 1, offer(1)).await;
                let mut both = vec![
                    http.change(rider(1), task, 2, Act::Accept),
                    http.change(D1, task, 2, CANCEL),
                ];
                both.rotate_left(round % 2);
                let mut sent = http.contest(both).await;
                overlap.count(&sent);
                sent.rotate_right(round % 2);
                assert_eq!(count_done(&sent), 1, "{sent:#?}");
                if is_done(&sent[0]) {
                    http.tell(http.change(D1, task, 3, CANCEL)).await;
                }
                let row = http.task(task).await;
                assert_eq!(row.state.name(), StateName::Cancelled);
                let commands = [
                    (rider(1), Act::Accept),
                    (rider(2), GRAB),
                    (D1, offer(2)),
                    (SUPERVISOR, assign(2)),
                    (D1, reassign(2)),
                    (D1, WITHDRAW),
                    (D2, CANCEL),
                    (rider(1), DECLINE),
                    (rider(1), HAND_BACK),
                    (rider(1), Act::Arrive),
                    (rider(1), Act::PickUp),
                    (rider(1), Act::Deliver),
                ];
                // Every command at the revision that it has, one of them a round in the reduced run.
                let some = commands.len().min(rounds(2, 12));
                for (actor, act) in commands.into_iter().cycle().skip(round).take(some) {
                    let sent = http.tell(http.change(actor, task, row.revision.0, act)).await;
                    // Who cancelled it, and cancels again, is told that it is done.
                    let known = ["CANCELLED", "ALREADY_DONE"];
                    assert!(known.contains(&sent.came.code().as_str()), "{sent:#?}");
                }
                assert_eq!(http.task(task).await.revision, row.revision, "it is frozen");
            }
            overlap.report("C13 over HTTP: cancel against accept");
            http.check().await;
        }
    }
);
