//! A rider holds no more than the capacity allows, by whatever way the tasks come.

use dispatch_desk::domain::{command::Act, id::TaskId, refusal::Code};
use futures_util::future::join_all;

use super::short::{clear, count_done, is_done};
use crate::harness::{race::Overlap, record::Sent, *};

/// The tasks whose command was done.
fn taken(sent: &[Sent]) -> Vec<TaskId> {
    let done = sent.iter().filter(|sent| is_done(sent));
    done.filter_map(|sent| sent.command.what.task()).collect()
}

/// Everybody who was refused was refused for want of room.
#[track_caller]
fn others_are_told_that_it_is_full(sent: &[Sent]) {
    for sent in sent.iter().filter(|sent| !is_done(sent)) {
        assert_eq!(sent.came.code(), Code::RiderAtCapacity.as_str(), "{sent:#?}");
    }
}

for_each_database!(a_rider_with_one_free_place_grabs_twenty_tasks_and_gets_one, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(10, 100) {
            let first = desk.create().await;
            desk.done(rider(1), first, 1, GRAB).await;
            let open = desk.create_many(20).await;
            let grab_all = |tasks: &[TaskId]| {
                tasks.iter().map(|task| desk.change(rider(1), *task, 1, GRAB)).collect::<Vec<_>>()
            };
            let sent = desk.race(&nodes, grab_all(&open)).await;
            overlap.count(&sent);
            let got = taken(&sent);
            assert_eq!((got.len(), desk.held(1).await), (1, 2), "{got:?}");
            others_are_told_that_it_is_full(&sent);

            // One is given up: exactly one more can be had.
            desk.done(D1, first, 2, CANCEL).await;
            let left: Vec<_> = open.iter().copied().filter(|task| !got.contains(task)).collect();
            let sent = desk.race(&nodes, grab_all(&left)).await;
            overlap.count(&sent);
            assert_eq!((count_done(&sent), desk.held(1).await), (1, 2));
            others_are_told_that_it_is_full(&sent);

            // Both at once: one is cancelled while the rest is grabbed.
            let left: Vec<_> =
                left.iter().copied().filter(|task| !taken(&sent).contains(task)).collect();
            let mut commands = grab_all(&left);
            commands.insert(left.len() / 2, desk.change(D1, got[0], 2, CANCEL));
            let sent = desk.race(&nodes, commands).await;
            overlap.count(&sent);
            assert!(taken(&sent).contains(&got[0]), "nothing stands in the way of the cancel");
            let more = count_done(&sent) - 1;
            assert!(more <= 1, "{more} more were had for one that was given up");
            assert_eq!(desk.held(1).await, 1 + more);
            others_are_told_that_it_is_full(&sent);
            clear(&desk, &open).await;
        }
        overlap.report("one free place, 20 grabs");
        desk.check().await;
    }
});

for_each_database!(grabs_offers_and_accepts_together_fill_no_more_than_the_places, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(10, 100) {
            let tasks = desk.create_many(13).await;
            desk.done(D1, tasks[0], 1, offer(2)).await;
            // R2 accepts what holds one place, while grabs, offers and a direct assign want the other.
            let mut commands = vec![desk.change(rider(2), tasks[0], 2, Act::Accept)];
            for (index, task) in tasks.iter().enumerate().skip(1) {
                commands.push(match index % 3 {
                    0 => desk.change(rider(2), *task, 1, GRAB),
                    1 => desk.change(D1, *task, 1, offer(2)),
                    _ => desk.change(SUPERVISOR, *task, 1, assign(2)),
                });
            }
            let sent = desk.race(&nodes, commands).await;
            overlap.count(&sent);
            assert!(is_done(&sent[0]), "the offer held its place: {:#?}", sent[0]);
            assert_eq!((count_done(&sent), desk.held(2).await), (2, 2));
            others_are_told_that_it_is_full(&sent);
            clear(&desk, &tasks).await;
        }
        overlap.report("accept, grabs, offers and assigns for two places");
        desk.check().await;
    }
});

for_each_database!(accepting_everything_on_offer_takes_the_places_that_the_offers_held, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(10, 100) {
            let tasks = desk.create_many(6).await;
            // Six offers want two places; the accepts are under way before anyone knows which were made.
            let offers = tasks.iter().map(|task| desk.change(D1, *task, 1, offer(3)));
            let accepts = tasks.iter().map(|task| desk.change(rider(3), *task, 2, Act::Accept));
            let commands = offers.zip(accepts).flat_map(|(offer, accept)| [offer, accept]);
            let sent = desk.race(&nodes, commands.collect()).await;
            overlap.count(&sent);
            assert_eq!(desk.held(3).await, 2);
            // Now each is answered once more, at the revision that it has.
            let again = tasks.iter().map(|task| desk.ask(rider(3), *task, 2, Act::Accept));
            let accepted =
                join_all(again).await.iter().filter(|answer| answer.is_success()).count();
            assert_eq!((accepted, desk.held(3).await), (2, 2));
            clear(&desk, &tasks).await;
        }
        overlap.report("six offers and their accepts for two places");
        desk.check().await;
    }
});
