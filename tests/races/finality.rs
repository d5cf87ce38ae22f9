//! Cancelled is the end: a cancel against an accept, and everything that comes after it.

use dispatch_desk::domain::{
    command::Act,
    id::Revision,
    refusal::Code,
    task::{State, StateName},
};

use super::short::{count_done, expire, is_done};
use crate::harness::{race::Overlap, *};

for_each_database!(a_cancelled_task_stays_cancelled_whatever_is_asked_of_it, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    let (mut accepted, mut cancelled) = (0, 0);
    for round in 0..rounds(20, 300) {
        let task = desk.create().await;
        desk.done(D1, task, 1, offer(1)).await;
        let mut two =
            vec![desk.change(rider(1), task, 2, Act::Accept), desk.change(D1, task, 2, CANCEL)];
        two.rotate_left(round % 2);
        let mut sent = desk.race(&nodes, two).await;
        overlap.count(&sent);
        sent.rotate_left(round % 2);
        assert_eq!(count_done(&sent), 1, "{sent:#?}");
        let revision = if is_done(&sent[0]) {
            accepted += 1;
            assert_eq!(sent[1].came.code(), Code::StaleRevision.as_str());
            // The cancel was late, not wrong: on the present revision it goes through.
            desk.done(D1, task, 3, CANCEL).await;
            4
        } else {
            cancelled += 1;
            assert_eq!(sent[0].came.code(), Code::Cancelled.as_str());
            3
        };

        let asked = [
            (rider(2), GRAB),
            (D1, offer(2)),
            (SUPERVISOR, assign(2)),
            (rider(1), Act::Accept),
            (rider(1), DECLINE),
            (D1, WITHDRAW),
            (D2, CANCEL),
            (shop(), CANCEL),
            (D1, reassign(2)),
            (rider(1), HAND_BACK),
            (rider(1), Act::Arrive),
            (rider(1), Act::PickUp),
            (rider(1), Act::Deliver),
        ];
        let mut commands = vec![expire(task, revision), desk.note(D1, task, 1, "too late")];
        commands
            .extend(asked.into_iter().map(|(actor, act)| desk.change(actor, task, revision, act)));
        // On the revision before, too: the answer is the same.
        commands.push(desk.change(rider(1), task, 2, Act::Accept));
        let sent = desk.race(&nodes, commands).await;
        overlap.count(&sent);
        for sent in &sent {
            assert_eq!(sent.came.code(), Code::Cancelled.as_str(), "{sent:#?}");
            assert_eq!(sent.came.answer().seen_revision(), Some(Revision(revision)));
        }
        let repeated = desk.ask(D1, task, revision, CANCEL).await;
        assert_eq!(repeated.code.as_deref(), Some("ALREADY_DONE"), "{repeated:?}");
        assert!(repeated.is_success() && repeated.event.is_none());
        assert_eq!(repeated.task.map(|task| task.state), Some(StateName::Cancelled));

        let row = desk.task(task).await;
        assert_eq!((row.state, row.revision), (State::Cancelled, Revision(revision)));
        assert_eq!(desk.held(1).await, 0, "the rider is free again");
    }
    println!("cancel against accept: {accepted} × the accept was first, {cancelled} × the cancel");
    overlap.report("cancel against accept");
    desk.check().await;
});
