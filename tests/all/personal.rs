//! Personal data: shown with a reason that is kept first, erased when it is no longer needed, and by nothing else.

use dispatch_desk::{
    domain::{
        command::{Act, DetailChanges, What},
        erase::EraseReason,
        id::{RegionId, Revision, RiderId, TaskId, Timestamp},
        refusal::Code,
        reveal::{RevealReason, Which},
        seal::{Head, Key, Keys},
    },
    engine::{
        executor::Executor,
        housekeeping,
        office::{DAY_MS, Error},
        sealer::Sealer,
        verify::verify,
    },
    store::{LoggedEvent, RegionChange, RiderChange},
};

use crate::{contract::raw::Raw, harness::*};

/// Texts that stand nowhere but in what is written on one task.
const CANARIES: [&str; 6] =
    ["金丝雀路 7 号", "金丝雀门牌", "金先生", "13800009876", "金丝雀的备注", "改过的金丝雀"];

/// An order with all of them but the last.
async fn canary(desk: &Desk) -> TaskId {
    let mut new = order();
    CANARIES[0].clone_into(&mut new.pickup.address);
    CANARIES[1].clone_into(&mut new.dropoff.address);
    for stop in [&mut new.pickup, &mut new.dropoff] {
        stop.name = Some(CANARIES[2].to_owned());
        stop.phone = Some(CANARIES[3].to_owned());
    }
    new.note = Some(CANARIES[4].to_owned());
    desk.create_with(new).await
}

/// The tables in which a canary is.
async fn found(desk: &Desk, canaries: &[&str]) -> Vec<String> {
    let dumps = Raw::of(desk).await.dump_all().await;
    let in_it =
        |rows: &Vec<String>| rows.iter().any(|row| canaries.iter().any(|c| row.contains(c)));
    dumps.into_iter().filter(|(_, rows)| in_it(rows)).map(|(table, _)| table).collect()
}

async fn last_event(desk: &Desk) -> LoggedEvent {
    let (head, _) = desk.read().await.head().await.unwrap();
    desk.read().await.events_after(head - 1, 1).await.unwrap().pop().expect("the last one")
}

/// The log and the attempts, row by row.
async fn logged(desk: &Desk) -> (Vec<String>, Vec<String>) {
    let raw = Raw::of(desk).await;
    (raw.dump("dispatch_event").await, raw.dump("attempt").await)
}

fn keys() -> Keys {
    Keys::one(Key::new([9; 32]))
}

/// Seals all there is, and returns how far.
async fn seal(desk: &Desk) -> Head {
    Sealer::new(desk.db.clone(), keys(), 10_000).seal_all().await.unwrap();
    desk.read().await.last_seal().await.unwrap().expect("a seal").head()
}

async fn keep_for(desk: &Desk, region: RegionId, days: Option<i64>) {
    let record = desk.read().await.region_record(region).await.unwrap().expect("it is there");
    let change = RegionChange {
        name: &record.name,
        time_zone: record.region.time_zone,
        area: &record.region.area,
        retention_days: days,
    };
    desk.executor.change_region(&ADMIN, region, record.revision, &change).await.unwrap();
}

for_each_database!(a_number_is_shown_once_it_is_kept_who_looked_and_why, |desk| async move {
    let task = canary(&desk).await;
    let executor = &desk.executor;
    let reveal = |who, which| {
        let reason = RevealReason::NotReached;
        async move { executor.reveal(&who, task, which, reason).await }
    };
    let shown = reveal(D1, Which::Pickup).await.unwrap();
    assert_eq!((shown.pickup.as_deref(), shown.dropoff), (Some(CANARIES[3]), None));
    let event = last_event(&desk).await;
    let told = (event.kind.as_str(), event.action.as_str(), event.subject, event.task_id);
    assert_eq!(told, ("admin", "revealed", task.0, None));
    assert_eq!((event.region_id, event.actor_id.as_deref()), (Some(NORTH.0), Some("1")));
    let detail = r#"{"of":"task","numbers":"pickup","reason":"not_reached"}"#;
    assert_eq!(event.detail, detail, "which and why, and not the number");
    let both = reveal(SUPERVISOR, Which::Contacts).await.unwrap();
    assert_eq!(both.pickup, both.dropoff);
    assert!(!format!("{both:?}").contains(CANARIES[3]), "{both:?}");
    assert!(last_event(&desk).await.detail.contains("pickup,dropoff"));
    assert_eq!(found(&desk, &CANARIES).await, ["task_detail"]);

    // A rider's number is asked for on a task of theirs.
    let (one, phone) = (RiderId(1), Some("13700001111".to_owned()));
    let head = last_event(&desk).await.number;
    let none = reveal(D1, Which::Rider).await;
    assert!(matches!(none, Err(Error::Invalid("phone"))), "nobody holds it: {none:?}");
    assert_eq!(last_event(&desk).await.number, head, "nothing was shown, nothing is kept");
    let change = RiderChange { phone: phone.clone(), ..RiderChange::default() };
    executor.change_rider(&ADMIN, one, &change).await.unwrap();
    desk.done(D1, task, 1, offer(1)).await;
    assert_eq!(reveal(D1, Which::Rider).await.unwrap().rider, phone);
    assert!(last_event(&desk).await.detail.contains(r#""rider":"R1""#));
    desk.check().await;
});

for_each_database!(numbers_are_shown_to_the_desk_of_the_task_alone, |desk| async move {
    let task = canary(&desk).await;
    let head = last_event(&desk).await.number;
    let reveal = async |who, task| {
        let shown = desk.executor.reveal(&who, task, Which::Contacts, RevealReason::Delay).await;
        shown.expect_err("it is not shown").to_string()
    };
    assert_eq!(reveal(FOREIGN_DISPATCHER, task).await, "NOT_FOUND");
    assert_eq!(reveal(D1, TaskId(99_999)).await, "NOT_FOUND");
    for who in [ADMIN, AUDITOR] {
        assert_eq!(reveal(who, task).await, "FORBIDDEN");
    }
    for who in [rider(1), shop(), dispatch_desk::domain::command::Actor::Customer(task)] {
        assert_eq!(reveal(who, task).await, "NOT_SIGNED_IN");
    }
    let mut tx = desk.db.begin().await.unwrap();
    tx.disable_staff(dispatch_desk::domain::id::StaffId(1), true).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(reveal(D1, task).await, "NOT_SIGNED_IN");
    assert_eq!(last_event(&desk).await.number, head);
});

for_each_database!(nothing_of_a_person_is_left_after_erasing, |desk| async move {
    let task = canary(&desk).await;
    let changes = DetailChanges {
        pickup_address: Some(CANARIES[5].to_owned()),
        note: Some(CANARIES[4].to_owned()),
        ..DetailChanges::default()
    };
    let edit = |revision: i64| What::Edit {
        task,
        detail_revision: Revision(revision),
        changes: Box::new(changes.clone()),
    };
    desk.send(desk.command(D1, edit(1))).await;
    desk.done(rider(1), task, 1, GRAB).await;
    desk.refused(rider(2), task, 1, GRAB, Code::TakenByOther).await;
    for (revision, act) in (2..).zip([Act::Arrive, Act::PickUp]) {
        desk.done(rider(1), task, revision, act).await;
    }
    // Not while it is under way, whoever asks and however.
    for erased in [
        desk.executor.erase_task(&ADMIN, task, EraseReason::Asked).await,
        desk.executor
            .erase_task(&dispatch_desk::domain::command::Actor::System, task, EraseReason::Asked)
            .await,
    ] {
        assert!(matches!(erased, Err(Error::NotOver)), "{erased:?}");
    }
    let far = Timestamp(i64::MAX / 2);
    assert_eq!(desk.executor.erase_region(&ADMIN, NORTH, Timestamp(0), far).await.unwrap(), 0);
    desk.done(rider(1), task, 4, Act::Deliver).await;
    desk.executor.reveal(&D1, task, Which::Contacts, RevealReason::CallBack).await.unwrap();
    assert_eq!(found(&desk, &CANARIES).await, ["task_detail"], "and nowhere else all along");

    let head = seal(&desk).await;
    let (events, attempts) = logged(&desk).await;
    let outcomes = Raw::of(&desk).await.dump("command_outcome").await;
    assert!(desk.executor.erase_task(&ADMIN, task, EraseReason::Asked).await.unwrap());
    assert_eq!(found(&desk, &CANARIES).await, Vec::<String>::new());
    let erased = last_event(&desk).await;
    assert_eq!((erased.action.as_str(), erased.subject), ("erased", task.0));
    assert_eq!(erased.detail, r#"{"of":"task","tasks":"1","reason":"asked"}"#);
    let (after, attempts_after) = logged(&desk).await;
    let new: Vec<_> = after.iter().filter(|row| !events.contains(row)).collect();
    assert_eq!((after.len(), new.len()), (events.len() + 1, 1), "one event more: {new:?}");
    assert_eq!(attempts_after, attempts);
    assert_eq!(Raw::of(&desk).await.dump("command_outcome").await, outcomes);
    assert!(
        !desk.executor.erase_task(&ADMIN, task, EraseReason::Asked).await.unwrap(),
        "there is nothing left"
    );
    assert_eq!(last_event(&desk).await.number, erased.number);
    desk.reconciled().await;
    // The seal from before still fits, and so does the one over the erasing itself.
    seal(&desk).await;
    let report = verify(&desk.db, &keys(), &[head], |_| ()).await.unwrap();
    assert_eq!(report.finding.map(|found| found.to_string()), None);

    // What is erased is written no more, and the story is told as before.
    let answer = desk.send(desk.command(D1, edit(2))).await.came.answer();
    assert_eq!(answer.code.as_deref(), Some(Code::Delivered.as_str()));
    assert_eq!(found(&desk, &CANARIES).await, Vec::<String>::new());
    let none = desk.executor.reveal(&D1, task, Which::Contacts, RevealReason::Delay).await;
    assert!(matches!(none, Err(Error::Invalid("phone"))), "{none:?}");
    desk.check().await;
});

for_each_database!(erasing_is_for_admins_of_the_region, |desk| async move {
    let task = canary(&desk).await;
    desk.done(D1, task, 1, CANCEL).await;
    let far = Timestamp(i64::MAX / 2);
    let executor = &desk.executor;
    for who in [D1, SUPERVISOR, AUDITOR] {
        assert_eq!(
            executor.erase_task(&who, task, EraseReason::Asked).await.unwrap_err().to_string(),
            "FORBIDDEN"
        );
        let region = executor.erase_region(&who, NORTH, Timestamp(0), far).await;
        assert_eq!(region.unwrap_err().to_string(), "FORBIDDEN");
        let rider = executor.erase_rider(&who, RiderId(1), EraseReason::Asked).await;
        assert_eq!(rider.unwrap_err().to_string(), "FORBIDDEN");
    }
    let south = executor.erase_region(&ADMIN, SOUTH, Timestamp(0), far).await;
    assert!(matches!(south, Err(Error::NotFound)), "{south:?}");
    let away = executor.erase_rider(&ADMIN, RiderId(FOREIGN_RIDER), EraseReason::Asked).await;
    assert!(matches!(away, Err(Error::NotFound)), "{away:?}");
    let missing = executor.erase_task(&ADMIN, TaskId(99_999), EraseReason::Asked).await;
    assert!(matches!(missing, Err(Error::NotFound)), "{missing:?}");
    assert_eq!(found(&desk, &CANARIES).await, ["task_detail"]);
});

for_each_database!(a_region_keeps_it_for_so_many_days_and_no_longer, |desk| async move {
    let early = canary(&desk).await;
    let open = canary(&desk).await;
    desk.done(D1, early, 1, CANCEL).await;
    desk.advance_ms(DAY_MS).await;
    let late = canary(&desk).await;
    desk.done(D1, late, 1, CANCEL).await;
    let erased = async |task| desk.read().await.card(task).await.unwrap().unwrap().detail.erased_at;
    let look = async || desk.executor.erase_what_is_old().await.unwrap();
    // Without a rule everything is kept.
    desk.advance_ms(400 * DAY_MS).await;
    assert_eq!(look().await, 0);
    desk.set_time(NOON.plus_ms(30 * DAY_MS)).await;
    keep_for(&desk, NORTH, Some(30)).await;
    // Over for thirty days to the millisecond, and not longer.
    assert_eq!(look().await, 0);
    desk.advance_ms(1).await;
    assert_eq!(look().await, 1);
    let at = NOON.plus_ms(30 * DAY_MS + 1);
    assert_eq!((erased(early).await, erased(late).await), (Some(at), None));
    let event = last_event(&desk).await;
    assert_eq!((event.actor_kind.as_str(), event.action.as_str()), ("system", "erased"));
    let of = (event.subject, event.region_id);
    assert_eq!(of, (NORTH.0, Some(NORTH.0)));
    assert!(event.detail.contains(r#""tasks":"1""#), "{}", event.detail);
    // Nothing is old: nothing is kept of it.
    assert_eq!(look().await, 0);
    assert_eq!(last_event(&desk).await.number, event.number);
    desk.advance_ms(DAY_MS).await;
    assert_eq!(look().await, 1);
    assert!(erased(late).await.is_some());
    // However long it waits, what is not over is not erased.
    desk.advance_ms(4_000 * DAY_MS).await;
    assert_eq!(look().await, 0);
    assert_eq!(erased(open).await, None);
    desk.reconciled().await;
});

for_each_database!(a_region_is_erased_in_bounded_chunks, |desk| async move {
    let tasks = desk.create_many(203).await;
    let cancels = tasks.iter().map(|task| desk.done(D1, *task, 1, CANCEL));
    futures_util::future::join_all(cancels).await;
    desk.advance_ms(1).await;
    let before = last_event(&desk).await.number;
    let until = NOON.plus_ms(1);
    assert_eq!(desk.executor.erase_region(&ADMIN, NORTH, Timestamp(0), until).await.unwrap(), 203);
    let events = desk.read().await.events_after(before, 9).await.unwrap();
    let counts: Vec<_> =
        events.iter().map(|event| event.detail.contains(r#""tasks":"200""#)).collect();
    assert_eq!(counts, [true, false], "{events:#?}");
    desk.reconciled().await;
});

for_each_database!(the_housekeeping_erases_by_itself, |desk| async move {
    let task = canary(&desk).await;
    desk.done(D1, task, 1, CANCEL).await;
    keep_for(&desk, NORTH, Some(1)).await;
    desk.advance_ms(DAY_MS + 1).await;
    let executor: Executor = desk.executor.clone();
    let mut head = executor.head();
    let before = *head.borrow_and_update();
    let (stop, running) = housekeeping::Housekeeping::start(executor);
    head.wait_for(|head| *head > before).await.unwrap();
    assert_eq!(found(&desk, &CANARIES).await, Vec::<String>::new());
    stop.send_replace(true);
    running.await.unwrap();
});

for_each_database!(a_rider_who_is_gone_is_called_by_the_number, |desk| async move {
    let (one, executor) = (RiderId(1), &desk.executor);
    let task = desk.create().await;
    desk.done(rider(1), task, 1, GRAB).await;
    let change = RiderChange {
        name: Some(CANARIES[2].to_owned()),
        phone: Some(CANARIES[3].to_owned()),
        ..RiderChange::default()
    };
    executor.change_rider(&ADMIN, one, &change).await.unwrap();
    let early = executor.erase_rider(&ADMIN, one, EraseReason::Asked).await;
    assert!(matches!(early, Err(Error::NotOver)), "not shut out: {early:?}");
    let shut = RiderChange { disabled: Some(true), ..RiderChange::default() };
    executor.change_rider(&ADMIN, one, &shut).await.unwrap();
    let early = executor.erase_rider(&ADMIN, one, EraseReason::Asked).await;
    assert!(matches!(early, Err(Error::NotOver)), "the goods are with them: {early:?}");
    desk.done(D1, task, 2, CANCEL).await;
    executor.erase_rider(&ADMIN, one, EraseReason::Asked).await.unwrap();
    assert_eq!(found(&desk, &CANARIES).await, Vec::<String>::new());
    let event = last_event(&desk).await;
    let told = (event.action.as_str(), event.rider_id, event.region_id);
    assert_eq!(told, ("erased", Some(1), Some(NORTH.0)));
    desk.check().await;
});

/// What is in the files of an SQLite database after all of its log has gone into it.
async fn bytes(desk: &Desk) -> Vec<u8> {
    Raw::of(desk).await.run("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
    let file = desk.home.url.trim_start_matches("sqlite://").split('?').next().unwrap_or_default();
    let mut bytes = std::fs::read(file).expect("the database's file");
    bytes.extend(std::fs::read(format!("{file}-wal")).unwrap_or_default());
    bytes
}

#[tokio::test]
async fn what_is_erased_is_not_in_the_file_any_more() {
    let desk = Desk::open(Database::Sqlite).await;
    let is_in =
        |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    // Some neighbours, so that its page is shared.
    for _ in 0..20 {
        desk.create().await;
    }
    let task = canary(&desk).await;
    desk.done(D1, task, 1, CANCEL).await;
    let before = bytes(&desk).await;
    for canary in &CANARIES[..5] {
        assert!(is_in(&before, canary), "{canary} is written down");
    }
    desk.executor.erase_task(&ADMIN, task, EraseReason::Asked).await.unwrap();
    let after = bytes(&desk).await;
    for canary in CANARIES {
        assert!(!is_in(&after, canary), "{canary} is still in the file");
    }
}
