//! Places that change hands within one transaction. A unique index is checked row by row, so this is where a
//! careless order of writing would fail.

use super::{
    batch::{desk_of_one_lane, in_one_batch, on_one_thread},
    short::{clear, is_done},
};
use crate::harness::{record::Sent, *};

/// All of them must be done.
#[track_caller]
fn all_done(sent: &[Sent]) {
    for sent in sent {
        assert!(is_done(sent), "{sent:#?}");
    }
}

async fn a_place_goes_over(desk: &Desk) {
    for _ in 0..rounds(10, 100) {
        let tasks = desk.create_many(3).await;
        desk.done(rider(1), tasks[0], 1, GRAB).await;
        desk.done(rider(1), tasks[1], 1, GRAB).await;
        let place = desk.task(tasks[0]).await.state.held();
        // R1 is full until the cancel, which stands before the grab in the same transaction.
        let sent = in_one_batch(
            desk,
            vec![
                desk.change(D1, tasks[0], 2, CANCEL),
                desk.change(rider(1), tasks[2], 1, GRAB),
                desk.change(rider(1), tasks[1], 2, HAND_BACK),
                desk.change(D1, tasks[1], 3, offer(1)),
            ],
        )
        .await;
        all_done(&sent);
        assert_eq!(desk.task(tasks[2]).await.state.held(), place);
        clear(desk, &tasks).await;
        // A rider hands back three times a day and no more.
        desk.advance_ms(24 * 60 * 60 * 1_000).await;
    }
    desk.check().await;
}

async fn places_go_round(desk: &Desk) {
    for _ in 0..rounds(10, 100) {
        let tasks = desk.create_many(4).await;
        let [a, b, c, d] = tasks[..] else { panic!("four were created") };
        for (task, number) in [(a, 1), (b, 1), (c, 2), (d, 2)] {
            desk.done(rider(number), task, 1, GRAB).await;
        }
        let mut before = Vec::new();
        for task in &tasks {
            before.push(desk.task(*task).await.state.held().expect("it is held"));
        }
        // Both are full. One hands a task back, and every place passes to the next task.
        let sent = in_one_batch(
            desk,
            vec![
                desk.change(rider(1), a, 2, HAND_BACK),
                desk.change(D1, c, 2, reassign(1)),
                desk.change(D1, b, 2, reassign(2)),
                desk.change(D1, d, 2, reassign(1)),
                desk.change(rider(2), a, 3, GRAB),
            ],
        )
        .await;
        all_done(&sent);
        let mut after = Vec::new();
        for task in [c, d, b, a] {
            after.push(desk.task(task).await.state.held().expect("it is held"));
        }
        assert_eq!(after, before, "each place is held by another task than before");
        assert_eq!((desk.held(1).await, desk.held(2).await), (2, 2));
        clear(desk, &tasks).await;
        desk.advance_ms(24 * 60 * 60 * 1_000).await;
    }
    desk.check().await;
}

async fn one_task_goes_through_many_hands(desk: &Desk) {
    for _ in 0..rounds(10, 100) {
        let task = desk.create().await;
        let sent = in_one_batch(
            desk,
            vec![
                desk.change(rider(1), task, 1, GRAB),
                desk.change(rider(1), task, 2, HAND_BACK),
                desk.change(D1, task, 3, offer(2)),
                desk.change(D1, task, 4, WITHDRAW),
                desk.change(rider(2), task, 5, GRAB),
                desk.change(D1, task, 6, reassign(1)),
                desk.change(D2, task, 7, WITHDRAW),
                desk.change(rider(3), task, 8, GRAB),
            ],
        )
        .await;
        all_done(&sent);
        assert_eq!(desk.events(task).await.len(), 9, "one event for each of them");
        clear(desk, &[task]).await;
        desk.advance_ms(24 * 60 * 60 * 1_000).await;
    }
    desk.check().await;
}

on_one_thread!(a_place_given_up_is_taken_in_the_same_transaction, |database| async move {
    a_place_goes_over(&desk_of_one_lane(database).await).await;
});

on_one_thread!(all_places_of_two_riders_go_round_in_one_transaction, |database| async move {
    places_go_round(&desk_of_one_lane(database).await).await;
});

on_one_thread!(one_task_goes_through_many_hands_in_one_transaction, |database| async move {
    one_task_goes_through_many_hands(&desk_of_one_lane(database).await).await;
});
