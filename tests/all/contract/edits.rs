//! Edits of details: only what was named changes, several on one task in order.

use dispatch_desk::{
    domain::{
        command::DetailChanges,
        id::{Revision, TaskId, Timestamp},
    },
    store::Error,
};

use super::{
    raw::Raw,
    steps::{edited, write_tasks},
};
use crate::harness::*;

const DETAILS: &str = "SELECT CONCAT(task_id, '|', detail_revision, '|', note, '|', pickup_address, '|', dropoff_address, \
                       '|', COALESCE(due_at, -1)) FROM task_detail ORDER BY task_id";

for_each_database!(an_edit_changes_what_it_names_and_nothing_else, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let tasks = write_tasks(&mut tx, &[1, 2, 3]).await;
    let text = |text: &str| Some(text.to_owned());
    let noted = DetailChanges { note: text("二楼"), ..DetailChanges::default() };
    let moved = DetailChanges {
        pickup_address: text("外滩 1 号"),
        dropoff_address: text("x\u{2028}'\"\\y"),
        due_at: Some(Timestamp(i64::MAX)),
        ..DetailChanges::default()
    };
    let timed = DetailChanges {
        release_at: Some(NOON.plus_ms(60_000)),
        priority: Some(-3),
        ..DetailChanges::default()
    };
    let noted_again =
        DetailChanges { note: text(""), priority: Some(9), ..DetailChanges::default() };
    // Four edits in one batch: three on task 1, one on task 2.
    let edits = [
        edited(&tasks[0], 1, &noted),
        edited(&tasks[1], 1, &moved),
        edited(&tasks[0], 2, &timed),
        edited(&tasks[0], 3, &noted_again),
    ];
    tx.apply_edits(&edits.iter().collect::<Vec<_>>()).await.unwrap();

    let mut revisions = tx.detail_revisions(&[1, 2, 3, 99].map(TaskId)).await.unwrap();
    revisions.sort_unstable();
    assert_eq!(revisions, [(1, 4), (2, 2), (3, 1)].map(|(t, r)| (TaskId(t), Revision(r))));
    assert_eq!(tx.detail_revision(TaskId(1)).await.unwrap(), Some(Revision(4)));
    assert_eq!(tx.detail_revision(TaskId(99)).await.unwrap(), None);
    assert_eq!(tx.note(TaskId(1)).await.unwrap().as_deref(), Some(""));
    assert_eq!(tx.note(TaskId(2)).await.unwrap().as_deref(), Some("放前台"));
    assert_eq!(tx.note(TaskId(99)).await.unwrap(), None);
    let one = tx.task(TaskId(1)).await.unwrap().expect("written");
    assert_eq!((one.release_at, one.priority), (NOON.plus_ms(60_000), 9));
    assert_eq!(one.revision, Revision(1), "the ownership stays as it is");
    assert_eq!(tx.task(TaskId(2)).await.unwrap().as_ref(), Some(&tasks[1]));
    tx.commit().await.unwrap();

    assert_eq!(
        Raw::of(&desk).await.texts(DETAILS).await,
        [
            "1|4||人民大道 100 号|世纪大道 1 号|-1".to_owned(),
            format!("2|2|放前台|外滩 1 号|x\u{2028}'\"\\y|{}", i64::MAX),
            "3|1|放前台|人民大道 100 号|世纪大道 1 号|-1".to_owned(),
        ]
    );
});

for_each_database!(an_edit_of_an_old_page_is_turned_away, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let tasks = write_tasks(&mut tx, &[1, 2]).await;
    let note = |note: &str| DetailChanges { note: Some(note.into()), ..DetailChanges::default() };
    tx.apply_edits(&[&edited(&tasks[0], 1, &note("first"))]).await.unwrap();
    tx.commit().await.unwrap();

    let mut tx = desk.db.begin().await.unwrap();
    let (fine, late) = (edited(&tasks[1], 1, &note("x")), edited(&tasks[0], 1, &note("second")));
    let moved = tx.apply_edits(&[&fine, &late]).await;
    let Err(Error::Moved(what)) = moved else { panic!("{moved:?}") };
    assert_eq!(what, "1 of 2 rows of task_detail were at their revision");
    drop(tx);
    let mut tx = desk.read().await;
    assert_eq!(tx.note(TaskId(1)).await.unwrap().as_deref(), Some("first"));
    assert_eq!(tx.note(TaskId(2)).await.unwrap().as_deref(), Some("放前台"));
});
