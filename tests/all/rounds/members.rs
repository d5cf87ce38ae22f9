//! What those who are asked can do, and when.

use super::*;

for_each_database!(the_nearest_see_it_first, |desk| async move {
    let town = Town::of(&desk, RoundRules { batch: 6, stagger_ms: 3_000, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    let see = async |number| town.ticket(number, task).await.is_some();
    assert!(see(1).await && see(2).await && !see(3).await && !see(5).await);
    // A ticket that is not shown yet is not good yet.
    desk.refused(rider(3), task, 1, GRAB, Code::InvalidTicket).await;
    desk.advance_ms(3_000).await;
    assert!(see(3).await && see(4).await && !see(5).await);
    desk.advance_ms(3_000).await;
    assert!(see(6).await);
    desk.done(rider(6), task, 1, town.grab(6, task).await).await;
    desk.check().await;
});

for_each_database!(a_no_is_kept_once_and_comes_too_late_after_the_end, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    town.look().await;
    let round = town.last(task).await.id;
    let key = desk.recorder.fresh_key();
    let no = async |number, key: RequestKey| {
        town.rounds.decline(RiderId(number), &key, Lang::En, round).await
    };
    let fresh = || desk.recorder.fresh_key();
    let first = no(1, key.clone()).await.unwrap();
    let again = no(1, key).await.unwrap();
    assert_eq!((first.status, again.replayed, again.body), (200, true, first.body));
    let twice = no(1, fresh()).await.unwrap();
    assert!(twice.body.contains("ALREADY_DONE"), "{}", twice.body);
    assert_eq!(town.ticket(1, task).await, None, "its card is gone");
    // Who was not asked learns nothing of the round.
    let stranger = no(40, fresh()).await;
    assert_eq!(stranger.unwrap_err().to_string(), "NOT_FOUND");
    desk.done(rider(2), task, 1, town.grab(2, task).await).await;
    let late = no(3, fresh()).await.unwrap();
    assert!(late.status == 409 && late.body.contains("TICKET_EXPIRED"), "{}", late.body);
    assert_eq!(town.story(task).await, ["round-started", "round-declined"]);
    desk.check().await;
});

for_each_database!(what_was_shown_is_noted_once, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    town.look().await;
    let show = async || {
        let mut tx = desk.read().await;
        let now = tx.now().await.unwrap();
        let cards = town.rounds.invitations(&mut tx, RiderId(1), now).await.unwrap();
        drop(tx);
        town.rounds.note_shown(RiderId(1), &cards, now).await.unwrap();
    };
    show().await;
    desk.advance_ms(5_000).await;
    show().await;
    let ledger = town.ledger(task).await;
    let shown = ledger.iter().filter_map(|line| line.asked.as_ref().ok()?.shown_at);
    assert_eq!(shown.collect::<Vec<_>>(), [NOON]);
    desk.check().await;
});

for_each_database!(members_who_grab_at_once_make_one_owner, |desk| async move {
    let town = Town::of(&desk, RoundRules { batch: 20, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    let mut commands = Vec::new();
    for number in 1..=20 {
        commands.push(desk.change(rider(number), task, 1, town.grab(number, task).await));
    }
    let sent = futures_util::future::join_all(commands.into_iter().map(|c| desk.send(c))).await;
    let won = sent.iter().filter(|sent| sent.came.answer().is_success()).count();
    assert_eq!(won, 1);
    let taken = |sent: &&record::Sent| {
        sent.came.answer().code.as_deref() == Some(Code::TakenByOther.as_str())
    };
    assert_eq!(sent.iter().filter(taken).count(), 19);
    let ledger = town.ledger(task).await;
    let answered = ledger.iter().filter_map(|line| line.asked.as_ref().ok()?.answered);
    assert_eq!(answered.count(), 1);
    desk.check().await;
});

for_each_database!(a_no_between_two_parts_of_a_round_forgets_nobody, |desk| async move {
    let rules = RoundRules { batch: 6, stagger_ms: 3_000, rounds: 1, ..rules() };
    let town = Town::of(&desk, rules).await;
    let task = desk.create().await;
    town.look().await;
    town.declines(1, task).await;
    town.after_ms(1_000).await;
    town.declines(2, task).await;
    // The desk looks late: the second part is told at once, the third in its own time.
    town.after_ms(3_500).await;
    town.after_ms(1_500).await;
    town.after_ms(13_000).await;
    let events = desk.events(task).await;
    let shown = events.iter().filter(|event| event.action == "round-shown");
    let asked = |event: &LoggedEvent| {
        let detail: serde_json::Value = serde_json::from_str(&event.detail).unwrap();
        (event.occurred_at - NOON.0, detail["asked"].clone())
    };
    let shown: Vec<_> = shown.map(asked).collect();
    let of = |riders: [i64; 2]| serde_json::json!(riders);
    assert_eq!(shown, [(4_500, of([3, 4])), (6_000, of([5, 6]))]);
    desk.check().await;
});
