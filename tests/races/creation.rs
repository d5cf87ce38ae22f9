//! The answer to a create is kept as it was given; and when it is gone, the task still answers for its key.

use dispatch_desk::domain::{
    answer::Outcome,
    command::{Act, Actor, Command, NewTask, What},
    id::{Revision, TaskId, Timestamp},
    task::StateName,
};

use crate::harness::{
    node::back,
    race::Overlap,
    record::{Came, Returned},
    *,
};

async fn tasks(desk: &Desk) -> usize {
    desk.read().await.tasks_after(TaskId(0), 1_000).await.expect("tasks can be read").len()
}

/// Deletes every stored answer, as happens by itself after seven days.
async fn forget_answers(desk: &Desk) {
    let mut tx = desk.db.begin().await.expect("the database can be written");
    let gone = tx.prune_outcomes(Timestamp(i64::MAX), 10_000).await.expect("answers can be pruned");
    tx.commit().await.expect("it lasts");
    assert!(gone > 0, "there was something to forget");
}

/// Has everything so far judged, and then forgets the answers. What follows is checked by the case itself: the
/// judge of recorded runs knows of no seven days and takes one key for one answer for ever.
async fn judge_and_forget(desk: &Desk) {
    desk.check().await;
    forget_answers(desk).await;
}

async fn a_create_is_answered_by(desk: &Desk, creator: Actor) {
    let nodes = desk.nodes().await;
    let before = tasks(desk).await;
    let create = desk.command(creator.clone(), What::Create(Box::new(order())));
    let first = desk.send(create.clone()).await;
    let first = back(&first.came).clone();
    let made = first.answer().task.expect("a created task");
    let path = format!("/api/v1/tasks/{}", made.id.0);
    assert_eq!((first.status, first.location.as_deref()), (201, Some(path.as_str())));
    assert_eq!(first.etag.as_deref(), Some("\"1\""));

    desk.done(D1, made.id, 1, offer(1)).await;
    desk.done(rider(1), made.id, 2, Act::Accept).await;
    desk.done(rider(1), made.id, 3, Act::Arrive).await;
    for node in &nodes {
        let again = desk.send_to(node, create.clone()).await;
        let expected = Returned { replayed: true, ..first.clone() };
        assert_eq!(back(&again.came), &expected, "the answer of that day, not of today");
    }

    judge_and_forget(desk).await;
    let other = Box::new(NewTask { note: Some("another order".to_owned()), ..order() });
    let other = Command { what: What::Create(other), ..create.clone() };
    for node in &nodes {
        let reused = desk.send_to(node, other.clone()).await;
        assert_eq!(reused.came, Came::Error("REQUEST_KEY_REUSED".to_owned()));
        let again = desk.send_to(node, create.clone()).await.came.answer();
        assert_eq!(
            (again.outcome, again.code.as_deref()),
            (Outcome::AlreadyDone, Some("ALREADY_DONE"))
        );
        let today = again.task.expect("the task as it stands");
        assert_eq!((today.id, today.revision), (made.id, Revision(4)));
        assert_eq!(today.state, StateName::Assigned);
    }
    assert_eq!(tasks(desk).await, before + 1, "no second task");
    desk.done(D1, made.id, 4, CANCEL).await;
    desk.recorder.clear();
}

for_each_database!(a_create_is_answered_as_on_the_first_day_and_never_done_twice, |desk| {
    async move {
        // An order system's keys have its name for a scope, a dispatcher's the dispatcher.
        a_create_is_answered_by(&desk, shop()).await;
        a_create_is_answered_by(&desk, D1).await;
        desk.check().await;
    }
});

for_each_database!(
    a_create_whose_answer_is_gone_makes_no_second_task_in_a_race,
    |desk| async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        for round in 0..rounds(10, 100) {
            let creator = if round % 2 == 0 { shop() } else { D1 };
            let create = desk.command(creator, What::Create(Box::new(order())));
            let made = desk.send(create.clone()).await.came.answer().task.expect("a created task");
            judge_and_forget(&desk).await;
            let other = Box::new(NewTask { priority: 5, ..order() });
            let other = Command { what: What::Create(other), ..create.clone() };
            let mut commands = vec![create; 6];
            commands.extend(vec![other; 6]);
            let sent = desk.race(&nodes, commands).await;
            overlap.count(&sent);
            let (same, other) = sent.split_at(6);
            for sent in same {
                let answer = sent.came.answer();
                assert_eq!(answer.code.as_deref(), Some("ALREADY_DONE"), "{answer:?}");
                assert_eq!(answer.task.map(|task| task.id), Some(made.id));
            }
            for sent in other {
                assert_eq!(sent.came, Came::Error("REQUEST_KEY_REUSED".to_owned()));
            }
            assert_eq!(tasks(&desk).await, round + 1);
            desk.recorder.clear();
        }
        overlap.report("a create whose answer is gone");
        desk.check().await;
    }
);
