//! Texts: U+0000 is turned away, everything else is kept byte for byte.

use dispatch_desk::domain::{
    command::{Act, Actor, Command, DetailChanges, NewTask, Stop, Ticket, What},
    id::Revision,
};

use crate::{contract::raw::Raw, harness::*};

/// Characters that have tripped somebody up: outside of the first plane, right to left, joined, separators that
/// are line breaks to JavaScript, controls, quotes, the ends of ranges, and a mark that looks like the end of a file.
const ODD: &str = "🛵👩‍🚀 שלום \u{202e}abc\u{202c} e\u{301} \u{2028}\u{2029}\u{1}\u{1f}\u{7f}\u{85}\t\r\n \
                   '\"\\;--/*%_{}[]\u{feff}\u{fffd}\u{ffff}\u{10ffff}\u{1a} $1 ?1 :x NULL \\u0000 \\0";

/// Orders with `text` in one place each.
fn orders(text: &str) -> Vec<NewTask> {
    let (text, plain) = (text.to_owned(), order());
    let stops = |stop: &Stop| {
        [
            Stop { address: text.clone(), ..stop.clone() },
            Stop { name: Some(text.clone()), ..stop.clone() },
            Stop { phone: Some(text.clone()), ..stop.clone() },
        ]
    };
    let pickups = stops(&plain.pickup).map(|pickup| NewTask { pickup, ..plain.clone() });
    let dropoffs = stops(&plain.dropoff).map(|dropoff| NewTask { dropoff, ..plain.clone() });
    let noted = NewTask { note: Some(text.clone()), ..plain.clone() };
    [&pickups[..], &dropoffs[..], &[noted]].concat()
}

/// Edits with `text` in one place each.
fn edits(text: &str) -> Vec<DetailChanges> {
    let text = || Some(text.to_owned());
    vec![
        DetailChanges { note: text(), ..DetailChanges::default() },
        DetailChanges { pickup_address: text(), ..DetailChanges::default() },
        DetailChanges { dropoff_address: text(), ..DetailChanges::default() },
    ]
}

for_each_database!(a_nul_is_turned_away_and_nothing_is_stored, |desk| async move {
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    let mut commands: Vec<Command> = Vec::new();
    for text in ["\0", "before\0after", "at the end\0"] {
        let create = |new: NewTask| desk.command(shop(), What::Create(Box::new(new)));
        commands.extend(orders(text).into_iter().map(create));
        commands.extend(edits(text).into_iter().map(|changes| {
            let changes = Box::new(changes);
            desk.command(D1, What::Edit { task, detail_revision: Revision(1), changes })
        }));
        let source = Actor::Intake(text.to_owned());
        commands.push(desk.command(source.clone(), What::Create(Box::new(order()))));
        commands.push(desk.change(source, task, 1, CANCEL));
        let ticket = Some(Ticket { round: 1, nonce: text.to_owned() });
        commands.push(desk.change(rider(1), task, 1, Act::Grab { ticket }));
    }
    assert_eq!(commands.len(), 3 * 13);
    for command in commands {
        let sent = desk.send(command).await;
        assert_eq!(sent.came.code(), "NUL_IN_TEXT", "{:?}", sent.command);
    }
    assert_eq!(raw.dump_all().await, before);
    desk.check().await;
});

for_each_database!(every_other_character_is_kept_byte_for_byte, |desk| async move {
    let raw = Raw::of(&desk).await;
    let columns = [
        "pickup_address",
        "pickup_name",
        "pickup_phone",
        "dropoff_address",
        "dropoff_name",
        "dropoff_phone",
        "note",
    ];
    for (column, new) in columns.into_iter().zip(orders(ODD)) {
        let task = desk.create_with(new).await;
        let sql = format!("SELECT {column} FROM task_detail WHERE task_id = {}", task.0);
        assert_eq!(raw.texts(&sql).await, [ODD], "{column}");
    }
    let task = desk.create().await;
    let columns = ["note", "pickup_address", "dropoff_address"];
    for ((revision, column), changes) in (1..).zip(columns).zip(edits(ODD)) {
        let changes = Box::new(changes);
        let detail_revision = Revision(revision);
        let edit = desk.command(D1, What::Edit { task, detail_revision, changes });
        assert!(desk.send(edit).await.came.is_success());
        let sql = format!("SELECT {column} FROM task_detail WHERE task_id = {}", task.0);
        assert_eq!(raw.texts(&sql).await, [ODD], "{column}");
    }
    // A source may have any name, and is found again by it.
    let source = Actor::Intake(ODD.to_owned());
    let created = desk.send(desk.command(source.clone(), What::Create(Box::new(order())))).await;
    let again = desk.again(&created).await;
    assert_eq!(node::back(&again.came).body, node::back(&created.came).body);
    let task = created.came.answer().task.expect("a task").id;
    assert_eq!(desk.task(task).await.source, ODD);
    desk.done(source, task, 1, CANCEL).await;
    assert_eq!(desk.events(task).await[1].actor_id.as_deref(), Some(ODD));
    desk.check().await;
});

for_each_database!(a_ticket_may_be_any_text_and_fits_only_itself, |desk| async move {
    let task = desk.create().await;
    let mut tx = desk.db.begin().await.unwrap();
    let until = NOON.plus_ms(20_000);
    a_round(&mut tx, 1, task, (NOON, until), &[(1, ODD)]).await;
    tx.commit().await.unwrap();
    let with = |nonce: &str| Act::Grab { ticket: Some(Ticket { round: 1, nonce: nonce.into() }) };
    for wrong in ["", "🛵", &ODD[..ODD.len() - 1], &format!("{ODD} ")] {
        let refused = desk.ask(rider(1), task, 1, with(wrong)).await;
        assert_eq!(refused.code.as_deref(), Some("INVALID_TICKET"));
    }
    desk.done(rider(1), task, 1, signed(task, 1, until, 1, ODD)).await;
    desk.check().await;
});

for_each_database!(a_very_long_note_is_kept_whole, |desk| async move {
    // 1 MiB and a little, of characters of every length.
    let note = "aé界🛵".repeat(105_000);
    assert!(note.len() > 1 << 20);
    let task = desk.create_with(NewTask { note: Some(note.clone()), ..order() }).await;
    assert_eq!(desk.read().await.note(task).await.unwrap().as_deref(), Some(note.as_str()));
    let longer = format!("{note}{note}");
    assert!(desk.send(desk.note(D1, task, 1, &longer)).await.came.is_success());
    assert_eq!(desk.read().await.note(task).await.unwrap().as_deref(), Some(longer.as_str()));
    // The log holds names of fields, not texts.
    let longest = desk.events(task).await.iter().map(|event| event.detail.len()).max();
    assert!(longest < Some(1_000), "{longest:?}");
    desk.check().await;
});

#[test]
fn broken_text_is_no_command() {
    let plain = Command {
        actor: D1,
        key: None,
        lang: dispatch_desk::domain::refusal::Lang::Zh,
        what: What::Create(Box::new(NewTask { note: Some("NOTE".to_owned()), ..order() })),
    };
    let good = serde_json::to_vec(&plain).unwrap();
    assert_eq!(serde_json::from_slice::<Command>(&good).unwrap(), plain);
    let at = good.windows(4).position(|bytes| bytes == b"NOTE").expect("the note");
    let broken: [&[u8]; 6] = [
        b"\xff",             // no byte of any text
        b"\xc3",             // cut short
        b"\xed\xa0\x80",     // half of a pair
        b"\xc0\x80",         // NUL, the long way round
        b"\xf4\x90\x80\x80", // past the last character
        b"\\ud800",          // half of a pair, escaped
    ];
    for bytes in broken {
        let body = [&good[..at], bytes, &good[at + 4..]].concat();
        let parsed = serde_json::from_slice::<Command>(&body);
        assert!(parsed.is_err(), "{bytes:?}: {parsed:?}");
    }
}
