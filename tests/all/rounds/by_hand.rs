//! What dispatchers ask for.

use super::*;

for_each_database!(a_dispatcher_sends_widens_and_takes_over, |desk| async move {
    let town = Town::of(&desk, RoundRules { start: RoundStart::ByHand, ..rules() }).await;
    let task = desk.create().await;
    let options = Options { radius_m: Some(300), batch: Some(2), seconds: Some(60) };
    let sent = town.wish(task, Wish::Start(options)).await;
    let round = sent.round.expect("a round");
    assert_eq!((round.asked, round.radius_m), (2, Some(300)));
    assert_eq!(round.until.ms_since(round.started_at), 60_000);
    // Sent again from another window: it runs already.
    assert_eq!(town.wish(task, START).await.code.as_deref(), Some("ALREADY_DONE"));
    let wider = town.wish(task, Wish::Widen).await.round.expect("the next round");
    assert_eq!((wider.step, wider.radius_m, wider.asked), (2, Some(5_000), 3));
    let stopped = town.wish(task, Wish::Stop).await;
    assert_eq!(stopped.round.map(|round| round.status), Some(RoundStatus::Stopped));
    town.after_ms(120_000).await;
    assert_eq!(town.rounds_of(task).await.len(), 2, "it stays with the dispatcher");
    assert_eq!(town.wish(task, Wish::Stop).await.code.as_deref(), Some("ALREADY_DONE"));
    assert_eq!(
        town.story(task).await,
        ["round-started", "round-ended", "round-started", "round-ended", "search-stopped"]
    );
    // Open to everybody again.
    desk.done(rider(30), task, 1, GRAB).await;
    desk.check().await;
});

for_each_database!(an_offer_by_hand_ends_the_round, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    town.look().await;
    let grab = town.grab(1, task).await;
    desk.done(D1, task, 1, offer(9)).await;
    assert_eq!(town.last(task).await.status, RoundStatus::Stopped);
    desk.refused(rider(1), task, 2, grab, Code::NotOpen).await;
    desk.done(rider(9), task, 2, DECLINE).await;
    // The dispatcher has taken it in hand: nothing starts behind their back.
    town.after_ms(60_000).await;
    assert_eq!(town.rounds_of(task).await.len(), 1);
    desk.check().await;
});

for_each_database!(the_same_request_has_one_effect_and_one_answer, |desk| async move {
    let town = Town::of(&desk, RoundRules { start: RoundStart::ByHand, ..rules() }).await;
    let task = desk.create().await;
    let key = RequestKey::parse("round-1").unwrap();
    let ask = |wish| town.rounds.ask(&D1, &key, Lang::En, task, Revision(1), wish);
    let first = ask(START).await.unwrap();
    desk.advance_ms(5_000).await;
    let again = ask(START).await.unwrap();
    assert_eq!((again.body, again.replayed), (first.body, true));
    assert_eq!(town.rounds_of(task).await.len(), 1);
    let other = ask(Wish::Stop).await.unwrap_err();
    assert_eq!(other.to_string(), "REQUEST_KEY_REUSED");
    desk.check().await;
});

for_each_database!(an_old_page_sends_nobody, |desk| async move {
    let town = Town::of(&desk, RoundRules { start: RoundStart::ByHand, ..rules() }).await;
    let task = desk.create().await;
    desk.done(D1, task, 1, offer(9)).await;
    desk.done(rider(9), task, 2, DECLINE).await;
    let key = desk.recorder.fresh_key();
    let stale = town.rounds.ask(&D1, &key, Lang::Zh, task, Revision(1), START).await.unwrap();
    assert_eq!(stale.status, 409);
    let reply: RoundReply = serde_json::from_str(&stale.body).unwrap();
    assert_eq!(reply.code.as_deref(), Some("STALE_REVISION"));
    assert_eq!(reply.task.revision, Revision(3), "it says where the task stands");
    assert!(reply.message.is_some_and(|message| message.contains("变更")));
    assert_eq!(town.rounds_of(task).await, []);
    desk.check().await;
});

for_each_database!(who_may_not_offer_may_not_ask_either, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    let cases = [
        (ADMIN, "FORBIDDEN"),
        (AUDITOR, "FORBIDDEN"),
        (FOREIGN_DISPATCHER, "NOT_FOUND"),
        (rider(1), "FORBIDDEN"),
        (shop(), "FORBIDDEN"),
    ];
    for (actor, code) in cases {
        let key = desk.recorder.fresh_key();
        let denied = town.rounds.ask(&actor, &key, Lang::En, task, Revision(1), START).await;
        assert_eq!(denied.unwrap_err().to_string(), code, "{actor}");
    }
    let key = desk.recorder.fresh_key();
    let nowhere = TaskId(99_999);
    let denied = town.rounds.ask(&D1, &key, Lang::En, nowhere, Revision(1), START).await;
    assert_eq!(denied.unwrap_err().to_string(), "NOT_FOUND");
    assert_eq!(town.rounds_of(task).await, []);
    desk.check().await;
});

for_each_database!(a_task_leaves_the_manual_pool_by_hand, |desk| async move {
    let town = Town::of(&desk, RoundRules { rounds: 1, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    town.after_ms(20_000).await;
    assert!(town.pooled(task).await.is_some());
    town.wish(task, Wish::LeavePool).await;
    assert_eq!(town.pooled(task).await, None);
    // Sent out again, it is searched for from the first circle on.
    let again = town.wish(task, START).await.round.expect("a round");
    assert_eq!((again.step, again.radius_m), (2, Some(2_000)));
    town.after_ms(20_000).await;
    assert!(town.pooled(task).await.is_some(), "nobody answered again");
    desk.check().await;
});

for_each_database!(what_was_seen_before_sending_is_what_is_sent, |desk| async move {
    let town = Town::of(&desk, RoundRules { start: RoundStart::ByHand, ..rules() }).await;
    let task = desk.create().await;
    let seen = town.rounds.preview(task, Options::default()).await.unwrap().expect("the task");
    let would: Vec<_> = seen.looked.ranking.candidates.iter().map(|c| c.rider.0).collect();
    assert_eq!(town.rounds_of(task).await, [], "a preview asks nobody");
    town.wish(task, START).await;
    assert_eq!(town.asked(task, town.last(task).await.id).await, would);
    desk.check().await;
});
