//! What the desk does by itself.

use super::*;

for_each_database!(a_new_task_goes_to_the_nearest_and_the_first_grab_wins, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    town.look().await;
    let round = town.last(task).await;
    assert_eq!((round.step, round.status), (1, RoundStatus::Running));
    assert_eq!(round.radius_m, Some(2_000));
    assert_eq!(town.asked(task, round.id).await, [1, 2, 3]);
    assert_eq!(town.left_out(task, round.id, 4).await, Some(LeftOut::NotAmongTheFirst));
    // Who was not asked has no ticket, and nobody can use another's.
    assert_eq!(town.ticket(4, task).await, None);
    let of_another = town.grab(1, task).await;
    desk.refused(rider(4), task, 1, GRAB, Code::InvalidTicket).await;
    desk.refused(rider(2), task, 1, of_another, Code::InvalidTicket).await;
    desk.done(rider(2), task, 1, town.grab(2, task).await).await;
    let round = town.last(task).await;
    assert_eq!(round.status, RoundStatus::Placed, "it ended with the grab");
    assert_eq!(town.ticket(1, task).await, None, "the losers' tickets are gone at once");
    town.after_ms(60_000).await;
    assert_eq!(town.rounds_of(task).await.len(), 1, "nobody is asked any more");
    assert_eq!(desk.read().await.search_of(task).await.unwrap(), None);
    desk.check().await;
});

for_each_database!(silence_widens_the_circle_and_ends_in_the_manual_pool, |desk| async move {
    let town = Town::of(&desk, RoundRules { ladder_m: vec![250, 5_000], ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    let first = town.last(task).await.id;
    assert_eq!(town.asked(task, first).await, [1, 2]);
    town.after_ms(19_999).await;
    assert_eq!(town.rounds_of(task).await.len(), 1, "it still waits");
    town.after_ms(1).await;
    let second = town.last(task).await;
    assert_eq!((second.step, second.radius_m), (2, Some(5_000)));
    assert_eq!(town.rounds_of(task).await[0].status, RoundStatus::Passed);
    // Who was silent is asked again; the ticket of the round before is worth nothing.
    assert_eq!(town.asked(task, second.id).await, [1, 2, 3]);
    town.after_ms(20_000).await;
    assert_eq!(town.last(task).await.status, RoundStatus::Exhausted);
    let pooled = town.pooled(task).await.expect("it is in the manual pool");
    assert_eq!(pooled.reason.as_str(), "nobody_answered");
    assert_eq!(
        town.story(task).await,
        ["round-started", "round-ended", "round-started", "round-ended", "pool-entered"]
    );
    // A dispatcher places it by hand, and it is out of the pool.
    desk.done(D1, task, 1, offer(9)).await;
    assert!(town.pooled(task).await.is_some(), "an invitation is not ownership");
    desk.done(rider(9), task, 2, Act::Accept).await;
    assert_eq!(town.pooled(task).await, None);
    desk.check().await;
});

for_each_database!(who_declines_is_not_asked_again, |desk| async move {
    let town = Town::of(&desk, RoundRules { rounds: 3, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    for number in [1, 2, 3] {
        town.declines(number, task).await;
    }
    // Nobody is left to wait for: the next round comes at once.
    town.look().await;
    let second = town.last(task).await;
    assert_eq!((second.step, second.status), (2, RoundStatus::Running));
    assert_eq!(town.asked(task, second.id).await, [4, 5, 6]);
    assert_eq!(town.left_out(task, second.id, 1).await, Some(LeftOut::Declined));
    town.declines(4, task).await;
    town.after_ms(20_000).await;
    let third = town.last(task).await;
    assert_eq!(town.asked(task, third.id).await, [5, 6, 7]);
    // A dispatcher may have them asked again.
    assert!(town.wish(task, Wish::ResetDeclines).await.code.is_none());
    town.wish(task, Wish::Widen).await;
    assert!(town.asked(task, town.last(task).await.id).await.contains(&1));
    desk.check().await;
});

for_each_database!(nobody_near_is_said_and_everybody_may_grab_meanwhile, |desk| async move {
    let town = Town::of(&desk, RoundRules { ladder_m: vec![50, 60], ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    let empty = town.last(task).await;
    assert_eq!((empty.status, empty.radius_m), (RoundStatus::Passed, Some(60)));
    assert_eq!(town.asked(task, empty.id).await, [0_i64; 0]);
    assert_eq!(empty.farther, u32::try_from(RIDERS).unwrap());
    town.after_ms(20_000).await;
    assert_eq!(town.rounds_of(task).await.len(), 2);
    town.after_ms(20_000).await;
    let pooled = town.pooled(task).await.expect("it is in the manual pool");
    assert_eq!(pooled.reason.as_str(), "nobody_found");
    // It is open all the same: who wants it may have it.
    desk.done(rider(40), task, 1, GRAB).await;
    assert_eq!(town.pooled(task).await, None);
    desk.check().await;
});

for_each_database!(the_desk_offers_to_the_best_one_after_another, |desk| async move {
    let rules = RoundRules { rounds: 1, then: AfterRounds::AutoOffer, auto_offers: 2, ..rules() };
    let town = Town::of(&desk, rules).await;
    let task = desk.create().await;
    town.look().await;
    town.after_ms(20_000).await;
    // Nobody answered the round: the best one gets an offer alone.
    let offered = desk.task(task).await;
    assert!(offered.state.is_held_by(RiderId(1)), "{offered:?}");
    desk.done(rider(1), task, 2, DECLINE).await;
    town.look().await;
    let offered = desk.task(task).await;
    assert!(offered.state.is_held_by(RiderId(2)), "{offered:?}");
    // Silence this time: 30 s, the region's own.
    town.after_ms(30_000).await;
    let open = desk.task(task).await;
    assert_eq!(open.state.name().as_str(), "open");
    assert_eq!(town.pooled(task).await.map(|p| p.reason.as_str()), Some("offers_spent"));
    let kinds: Vec<_> = town.rounds_of(task).await.iter().map(|r| r.kind.as_str()).collect();
    assert_eq!(kinds, ["broadcast", "exclusive", "exclusive"]);
    desk.check().await;
});

for_each_database!(an_offer_that_goes_with_its_rider_is_followed_by_the_next, |desk| async move {
    let rules = RoundRules { rounds: 1, then: AfterRounds::AutoOffer, auto_offers: 2, ..rules() };
    let town = Town::of(&desk, rules).await;
    let task = desk.create().await;
    town.look().await;
    town.after_ms(20_000).await;
    assert!(desk.task(task).await.state.is_held_by(RiderId(1)));
    let out = RiderChange { disabled: Some(true), ..RiderChange::default() };
    desk.executor.change_rider(&ADMIN, RiderId(1), &out).await.unwrap();
    // At once, not when the offer would have ended.
    town.look().await;
    let offered = desk.task(task).await;
    assert!(offered.state.is_held_by(RiderId(2)), "{offered:?}");
    desk.check().await;
});

for_each_database!(an_accepted_offer_of_the_desk_ends_the_search, |desk| async move {
    let rules = RoundRules { rounds: 1, then: AfterRounds::AutoOffer, ..rules() };
    let town = Town::of(&desk, rules).await;
    let task = desk.create().await;
    town.look().await;
    town.after_ms(20_000).await;
    desk.done(rider(1), task, 2, Act::Accept).await;
    let last = town.last(task).await;
    assert_eq!((last.kind.as_str(), last.status), ("exclusive", RoundStatus::Placed));
    town.after_ms(120_000).await;
    assert_eq!(town.rounds_of(task).await.len(), 2);
    assert!(desk.task(task).await.state.is_held_by(RiderId(1)));
    desk.check().await;
});

for_each_database!(a_rider_who_hands_back_is_replaced_a_few_times, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    let mut revision = 1;
    for (turn, number) in [1_i64, 2, 3].into_iter().enumerate() {
        town.look().await;
        let round = town.last(task).await;
        assert_eq!(round.search, u32::try_from(turn + 1).unwrap());
        assert_eq!(town.asked(task, round.id).await[0], number, "who gave it back is left out");
        desk.done(rider(number), task, revision, town.grab(number, task).await).await;
        desk.advance_ms(1_000).await;
        desk.done(rider(number), task, revision + 1, HAND_BACK).await;
        revision += 2;
    }
    town.look().await;
    assert_eq!(town.rounds_of(task).await.len(), 3, "not for ever");
    assert_eq!(town.pooled(task).await.map(|p| p.reason.as_str()), Some("searched_too_often"));
    desk.check().await;
});

for_each_database!(a_cancelled_task_takes_its_round_with_it, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let task = desk.create().await;
    town.look().await;
    let grab = town.grab(1, task).await;
    desk.done(shop(), task, 1, CANCEL).await;
    assert_eq!(town.last(task).await.status, RoundStatus::Void);
    desk.refused(rider(1), task, 1, grab, Code::Cancelled).await;
    town.after_ms(60_000).await;
    assert_eq!(town.rounds_of(task).await.len(), 1);
    assert_eq!(town.pooled(task).await, None);
    desk.check().await;
});

for_each_database!(a_task_is_shown_to_nobody_before_its_release, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let mut new = order();
    new.release_at = Some(NOON.plus_ms(600_000));
    let task = desk.create_with(new).await;
    town.look().await;
    town.after_ms(599_999).await;
    assert_eq!(town.rounds_of(task).await, []);
    town.after_ms(1).await;
    assert_eq!(town.rounds_of(task).await.len(), 1);
    desk.check().await;
});

for_each_database!(a_region_that_begins_by_hand_is_left_alone, |desk| async move {
    let town = Town::of(&desk, RoundRules { start: RoundStart::ByHand, ..rules() }).await;
    let task = desk.create().await;
    town.after_ms(60_000).await;
    assert_eq!(town.rounds_of(task).await, []);
    desk.done(rider(30), task, 1, GRAB).await;
    desk.check().await;
});

// A timer of an earlier offer or round finds the task at a later revision, and does nothing to it (C12).
for_each_database!(an_old_timer_never_touches_a_newer_offer, |desk| async move {
    let rules = RoundRules { rounds: 1, then: AfterRounds::AutoOffer, ..rules() };
    let town = Town::of(&desk, rules).await;
    let task = desk.create().await;
    town.look().await;
    town.after_ms(20_000).await;
    // The desk has offered it to R1, until 50 s. At 49 s a dispatcher takes over and offers it to R7 for a minute.
    desk.advance_ms(29_000).await;
    desk.done(D1, task, 2, WITHDRAW).await;
    desk.done(D1, task, 3, Act::Offer { rider: RiderId(7), seconds: Some(60), round: None }).await;
    // The search was armed for 50 s.
    town.after_ms(1_000).await;
    town.after_ms(30_000).await;
    let held = desk.task(task).await;
    assert!(held.state.is_held_by(RiderId(7)), "{held:?}");
    assert_eq!(held.revision, Revision(4));
    assert_eq!(town.last(task).await.status, RoundStatus::Stopped);
    desk.done(rider(7), task, 4, Act::Accept).await;
    desk.check().await;
});

for_each_database!(two_nodes_that_look_at_once_ask_once, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let other = Rounds::new(desk.executor.clone(), Locator::default());
    let tasks = desk.create_many(8).await;
    let (one, two) = tokio::join!(town.rounds.run_once(), other.run_once());
    one.unwrap();
    two.unwrap();
    town.look().await;
    for task in tasks {
        let rounds = town.rounds_of(task).await;
        assert_eq!(rounds.len(), 1, "{rounds:#?}");
    }
    desk.check().await;
});

for_each_database!(riders_who_can_not_take_it_are_told_apart, |desk| async move {
    let town = Town::of(&desk, rules()).await;
    let off = RiderChange { duty: Some(Duty::Off), ..RiderChange::default() };
    desk.executor.change_rider(&D1, RiderId(1), &off).await.unwrap();
    let full = RiderChange { capacity: Some(0), ..RiderChange::default() };
    desk.executor.change_rider(&SUPERVISOR, RiderId(2), &full).await.unwrap();
    let task = desk.create().await;
    town.look().await;
    let round = town.last(task).await.id;
    assert_eq!(town.asked(task, round).await, [3, 4, 5]);
    assert_eq!(town.left_out(task, round, 1).await, Some(LeftOut::OffDuty));
    assert_eq!(town.left_out(task, round, 2).await, Some(LeftOut::AtCapacity));
    desk.check().await;
});
