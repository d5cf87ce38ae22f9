//! Who may, and who learns nothing at all.

use dispatch_desk::domain::{
    command::{Act, Actor, NewTask, What},
    id::{RegionId, RiderId, StaffId, TaskId},
    refusal::Code,
};

use crate::harness::{record::Came, *};

/// A number that no task has.
const MISSING: TaskId = TaskId(99_999_999);

for_each_database!(a_foreign_task_looks_like_a_missing_one, |desk| async move {
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(1)).await;
    let strangers = [
        (FOREIGN_DISPATCHER, offer(2)),
        (FOREIGN_DISPATCHER, WITHDRAW),
        (FOREIGN_DISPATCHER, CANCEL),
        (rider(FOREIGN_RIDER), GRAB),
        (rider(FOREIGN_RIDER), Act::Accept),
        (Actor::Customer(TaskId(1)), CANCEL),
        (Actor::Intake("another shop".to_owned()), CANCEL),
        // In the wrong role on top of it: the region is looked at first.
        (FOREIGN_DISPATCHER, Act::Accept),
        (rider(FOREIGN_RIDER), CANCEL),
    ];
    for (actor, act) in strangers {
        // Whether the revision is right or wrong tells nothing either.
        for revision in [1, 2] {
            let foreign = desk.try_change(actor.clone(), task, revision, act.clone()).await.came;
            let missing = desk.try_change(actor.clone(), MISSING, revision, act.clone()).await.came;
            assert_eq!(foreign, missing, "{actor} {act:?}");
            assert_eq!(foreign, Came::Error("NOT_FOUND".to_owned()));
        }
    }
    for note in [desk.note(FOREIGN_DISPATCHER, task, 1, "x"), desk.note(D1, MISSING, 1, "x")] {
        assert_eq!(desk.send(note).await.came, Came::Error("NOT_FOUND".to_owned()));
    }
    assert_eq!(desk.task(task).await.revision.0, 2);
    desk.check().await;
});

for_each_database!(who_is_not_meant_to_decide_is_told_so, |desk| async move {
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    let acts = [offer(2), assign(2), WITHDRAW, CANCEL, reassign(2), Act::Accept, GRAB, HAND_BACK];
    for actor in [ADMIN, AUDITOR] {
        for act in &acts {
            let code = desk.turned_away(actor.clone(), task, 2, act.clone()).await;
            assert_eq!(code, "FORBIDDEN", "{actor} {act:?}");
        }
        let note = desk.note(actor, task, 1, "x");
        assert_eq!(desk.send(note).await.came.code(), "FORBIDDEN");
    }
    let customer = Actor::Customer(task);
    for (actor, act) in [
        (D1, GRAB),
        (D1, Act::Deliver),
        (rider(1), offer(2)),
        (rider(1), CANCEL),
        (rider(1), reassign(2)),
        (customer.clone(), Act::Accept),
        (customer, offer(1)),
        (shop(), WITHDRAW),
        (shop(), assign(1)),
    ] {
        let code = desk.turned_away(actor.clone(), task, 2, act.clone()).await;
        assert_eq!(code, "FORBIDDEN", "{actor} {act:?}");
    }
    // Supervisor includes dispatcher.
    desk.done(SUPERVISOR, task, 2, reassign(2)).await;
    desk.check().await;
});

for_each_database!(nobody_we_know_is_not_signed_in, |desk| async move {
    let task = desk.create().await;
    for actor in [Actor::Staff(StaffId(77)), Actor::Staff(StaffId(0)), Actor::Staff(StaffId(-1))] {
        assert_eq!(desk.turned_away(actor, task, 1, offer(1)).await, "NOT_SIGNED_IN");
    }
    for number in [4_711, 0, -1, i64::MAX] {
        assert_eq!(desk.turned_away(rider(number), task, 1, GRAB).await, "NOT_SIGNED_IN");
    }
    desk.check().await;
});

for_each_database!(disabled_staff_get_nothing_not_even_an_old_answer, |desk| async move {
    let task = desk.create().await;
    let offered = desk.try_change(D1, task, 1, offer(1)).await;
    assert!(offered.came.is_success());
    let disable = async |disabled| {
        let mut tx = desk.db.begin().await.unwrap();
        assert_eq!(tx.disable_staff(StaffId(1), disabled).await.unwrap(), 1);
        tx.commit().await.unwrap();
    };
    disable(true).await;
    assert_eq!(desk.again(&offered).await.came.code(), "NOT_SIGNED_IN");
    assert_eq!(desk.turned_away(D1, task, 2, WITHDRAW).await, "NOT_SIGNED_IN");
    let new = desk.command(D1, What::Create(Box::new(order())));
    assert_eq!(desk.send(new).await.came.code(), "NOT_SIGNED_IN");
    // What was done stays done, for others to go on with.
    desk.done(rider(1), task, 2, Act::Accept).await;
    disable(false).await;
    let again = desk.again(&offered).await;
    let (first, second) = (node::back(&offered.came), node::back(&again.came));
    assert_eq!(
        (&first.body, first.status, &first.etag),
        (&second.body, second.status, &second.etag)
    );
    assert!(second.replayed && !first.replayed);
    desk.check().await;
});

for_each_database!(a_key_belongs_to_the_one_who_used_it, |desk| async move {
    let task = desk.create().await;
    let mine = desk.change(rider(1), task, 1, GRAB);
    let first = desk.send(mine.clone()).await;
    assert!(first.came.is_success());
    // The same key of another rider is another key: an answer of one's own, and never the first one's.
    let theirs = dispatch_desk::domain::command::Command { actor: rider(2), ..mine.clone() };
    let second = desk.send(theirs).await;
    assert_eq!(second.came.code(), Code::TakenByOther.as_str());
    assert!(!node::back(&second.came).replayed);
    // Another request under one's own key is none at all.
    for other in [
        desk.change(rider(1), task, 2, GRAB),
        desk.change(rider(1), task, 1, HAND_BACK),
        desk.change(rider(1), MISSING, 1, GRAB),
    ] {
        let reused = dispatch_desk::domain::command::Command { key: mine.key.clone(), ..other };
        let code = desk.send(reused.clone()).await.came.code();
        // A task that nobody may see is not there, whatever the key.
        let missing = reused.what.task() == Some(MISSING);
        assert_eq!(code, if missing { "NOT_FOUND" } else { "REQUEST_KEY_REUSED" });
    }
    desk.check().await;
});

for_each_database!(who_may_order_and_where, |desk| async move {
    let create = |actor: Actor, region: RegionId| {
        let new = NewTask { region, ..order() };
        desk.command(actor, What::Create(Box::new(new)))
    };
    for actor in [shop(), D1, SUPERVISOR] {
        let created = desk.send(create(actor, NORTH)).await;
        let back = node::back(&created.came);
        let task = back.answer().task.expect("a task").id;
        assert_eq!(back.status, 201);
        assert_eq!(back.location.as_deref(), Some(format!("/api/v1/tasks/{}", task.0).as_str()));
        assert_eq!(back.etag.as_deref(), Some("\"1\""));
    }
    for (actor, region, code) in [
        (FOREIGN_DISPATCHER, NORTH, "NOT_FOUND"),
        (D1, SOUTH, "NOT_FOUND"),
        (shop(), RegionId(99), "NOT_FOUND"),
        (shop(), RegionId(i64::MAX), "NOT_FOUND"),
        (ADMIN, NORTH, "FORBIDDEN"),
        (AUDITOR, NORTH, "FORBIDDEN"),
        (rider(1), NORTH, "FORBIDDEN"),
        (Actor::Customer(MISSING), NORTH, "FORBIDDEN"),
    ] {
        assert_eq!(desk.send(create(actor.clone(), region)).await.came.code(), code, "{actor}");
    }
    assert_eq!(desk.read().await.held_by(RiderId(1)).await.unwrap(), []);
    desk.check().await;
});
