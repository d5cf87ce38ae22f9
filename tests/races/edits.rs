//! Details are edited while offers are answered: neither disturbs the other.

use dispatch_desk::{
    domain::{
        command::Act,
        id::{Revision, RiderId},
        task::StateName,
    },
    store::RiderChange,
};

use super::short::{actions, clear, is_done};
use crate::harness::{race::Overlap, *};

for_each_database!(accepting_five_offers_while_their_notes_are_edited_loses_none, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let five = RiderChange { capacity: Some(5), ..RiderChange::default() };
        desk.executor.change_rider(&ADMIN, RiderId(1), &five).await.expect("a bigger bag");
        let mut overlap = Overlap::default();
        for round in 0..rounds(10, 100) {
            let tasks = desk.create_many(5).await;
            for task in &tasks {
                desk.done(D1, *task, 1, offer(1)).await;
            }
            let mut commands = Vec::new();
            for task in &tasks {
                commands.push(desk.change(rider(1), *task, 2, Act::Accept));
                commands.push(desk.note(D1, *task, 1, "second floor"));
                // Each kind goes through each node in turn.
                if round % 2 == 1 {
                    let last = commands.len() - 1;
                    commands.swap(last - 1, last);
                }
            }
            let sent = desk.race(&nodes, commands).await;
            overlap.count(&sent);
            // Nobody else wants these tasks, so nothing may stand in the way of either.
            for sent in &sent {
                assert!(is_done(sent), "{sent:#?}");
            }
            for task in &tasks {
                let row = desk.task(*task).await;
                assert_eq!(row.state.name(), StateName::Assigned);
                assert_eq!((row.state.rider(), row.revision), (Some(RiderId(1)), Revision(3)));
                let mut happened = actions(&desk, *task).await;
                happened[2..].sort_unstable();
                assert_eq!(happened, ["create", "offer", "accept", "edit"]);
                let note = desk.read().await.note(*task).await.expect("it can be read");
                assert_eq!(note.as_deref(), Some("second floor"));
            }
            clear(&desk, &tasks).await;
        }
        overlap.report("five accepts and five edits");
        desk.check().await;
    }
});

for_each_database!(of_many_edits_at_once_one_is_done_for_each_detail_revision, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    let task = desk.create().await;
    let until = {
        desk.done(D1, task, 1, offer(1)).await;
        desk.task(task).await.state.offer_until()
    };
    let all = i64::try_from(rounds(20, 200)).expect("a small number");
    for revision in 1..=all {
        let edits = (0..6).map(|number| {
            let dispatcher = if number % 2 == 0 { D1 } else { D2 };
            desk.note(dispatcher, task, revision, &format!("note {revision}.{number}"))
        });
        let sent = desk.race(&nodes, edits.collect()).await;
        overlap.count(&sent);
        let done: Vec<_> = sent.iter().filter(|sent| is_done(sent)).collect();
        assert_eq!(done.len(), 1, "{sent:#?}");
        let made = done[0].came.answer().event.map(|event| event.to_revision);
        assert_eq!(made, Some(Revision(revision + 1)));
    }
    let row = desk.task(task).await;
    assert_eq!((row.revision, row.state.offer_until()), (Revision(2), until), "the offer stands");
    desk.done(rider(1), task, 2, Act::Accept).await;
    overlap.report("six edits of one note");
    desk.check().await;
});
