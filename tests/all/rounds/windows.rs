//! Fair windows: grabs are collected, then the best goes first.

use dispatch_desk::engine::rounds::Grabbed;

use super::*;

impl Town<'_> {
    async fn wants(&self, number: i64, task: TaskId) -> dispatch_desk::domain::command::Command {
        let act = self.grab(number, task).await;
        let command = self.desk.change(rider(number), task, 1, act);
        // It is under way from here on; its answer comes under its key.
        let now = record::now_ns();
        self.desk.recorder.note(command.clone(), now, now, record::Came::Nothing);
        command
    }
}

for_each_database!(the_best_of_a_window_wins_not_the_fastest, |desk| async move {
    let town = Town::of(&desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    let (fast, best) = (town.wants(3, task).await, town.wants(1, task).await);
    let waits = |grabbed: &Result<Grabbed, _>| matches!(grabbed, Ok(Grabbed::Waits { .. }));
    assert!(waits(&town.rounds.grab(fast.clone()).await));
    desk.advance_ms(1_000).await;
    assert!(waits(&town.rounds.grab(best.clone()).await));
    // Asked again meanwhile, it still waits; nobody owns anything yet.
    assert!(waits(&town.rounds.grab(fast.clone()).await));
    assert_eq!(desk.task(task).await.state.name().as_str(), "open");
    town.after_ms(1_000).await;
    assert!(desk.task(task).await.state.is_held_by(RiderId(1)));
    // The outcome waits under each one's own key.
    let Grabbed::Decided(won) = town.rounds.grab(best).await.unwrap() else { panic!("decided") };
    assert!(won.replayed && won.status == 200, "{won:?}");
    let Grabbed::Decided(lost) = town.rounds.grab(fast).await.unwrap() else { panic!("decided") };
    assert!(lost.replayed && lost.body.contains("TAKEN_BY_OTHER"), "{lost:?}");
    desk.check().await;
});

for_each_database!(if_the_best_can_not_take_it_the_next_one_does, |desk| async move {
    let town = Town::of(&desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    for number in [2, 1] {
        let wanted = town.wants(number, task).await;
        town.rounds.grab(wanted).await.unwrap();
    }
    let off = RiderChange { duty: Some(Duty::Off), ..RiderChange::default() };
    desk.executor.change_rider(&D1, RiderId(1), &off).await.unwrap();
    town.after_ms(2_000).await;
    assert!(desk.task(task).await.state.is_held_by(RiderId(2)));
    desk.check().await;
});

for_each_database!(a_key_of_a_waiting_grab_is_no_other_requests, |desk| async move {
    let town = Town::of(&desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
    let (one, two) = (desk.create().await, desk.create().await);
    town.look().await;
    let first = town.wants(1, one).await;
    let mut second = desk.change(rider(1), two, 1, town.grab(1, two).await);
    second.key.clone_from(&first.key);
    town.rounds.grab(first).await.unwrap();
    let reused = town.rounds.grab(second).await.unwrap_err();
    assert_eq!(reused.to_string(), "REQUEST_KEY_REUSED");
    town.after_ms(2_000).await;
    desk.check().await;
});

for_each_database!(a_ticket_that_is_not_good_is_refused_at_once, |desk| async move {
    let town = Town::of(&desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    let of_another = town.grab(1, task).await;
    let wrong = desk.change(rider(2), task, 1, of_another);
    let Grabbed::Decided(reply) = town.rounds.grab(wrong).await.unwrap() else {
        panic!("decided at once")
    };
    assert!(reply.body.contains("INVALID_TICKET"), "{}", reply.body);
    desk.check().await;
});

for_each_database!(a_window_ends_before_its_round_does, |desk| async move {
    let town = Town::of(&desk, RoundRules { fair_window_ms: 5_000, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    desk.advance_ms(19_000).await;
    let late = town.wants(2, task).await;
    let Grabbed::Waits { until } = town.rounds.grab(late).await.unwrap() else {
        panic!("it waits")
    };
    assert_eq!(until, NOON.plus_ms(19_500), "there is time to decide while the ticket is good");
    // The loop wakes late, and the ticket is good all the same.
    town.after_ms(700).await;
    assert!(desk.task(task).await.state.is_held_by(RiderId(2)));
    // In the last moments nothing is collected any more: first commit wins.
    let other = desk.create().await;
    town.look().await;
    desk.advance_ms(19_600).await;
    let last = town.wants(3, other).await;
    let Grabbed::Decided(won) = town.rounds.grab(last).await.unwrap() else { panic!("decided") };
    assert_eq!(won.status, 200, "{}", won.body);
    desk.check().await;
});

for_each_database!(
    whoever_says_no_after_a_grab_that_waits_does_not_get_the_task,
    |desk| async move {
        let town = Town::of(&desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
        let task = desk.create().await;
        town.look().await;
        let wanted = town.wants(1, task).await;
        assert!(matches!(town.rounds.grab(wanted.clone()).await, Ok(Grabbed::Waits { .. })));
        let (key, round) = (desk.recorder.fresh_key(), town.last(task).await.id);
        let no = town.rounds.decline(RiderId(1), &key, Lang::En, round).await.unwrap();
        assert_eq!(no.status, 200, "{}", no.body);
        town.after_ms(2_000).await;
        assert_eq!(desk.task(task).await.state.name().as_str(), "open", "the last word counts");
        let Grabbed::Decided(lost) = town.rounds.grab(wanted).await.unwrap() else {
            panic!("decided")
        };
        assert!(lost.replayed && lost.body.contains("INVALID_TICKET"), "{lost:?}");
        // Somebody else still can.
        let other = town.wants(2, task).await;
        assert!(matches!(town.rounds.grab(other).await, Ok(Grabbed::Waits { .. })));
        town.after_ms(2_000).await;
        assert!(desk.task(task).await.state.is_held_by(RiderId(2)));
        desk.check().await;
    }
);

/// PostgreSQL alone: SQLite has one writer, so that one grab can not be held up and the next one not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_best_can_not_be_decided_nor_can_the_second() {
    use sqlx::{AssertSqlSafe, Connection, Executor as _};
    let desk = Desk::open(Database::Postgres).await;
    let town = Town::of(&desk, RoundRules { fair_window_ms: 2_000, ..rules() }).await;
    let task = desk.create().await;
    town.look().await;
    for number in [2, 1] {
        let wanted = town.wants(number, task).await;
        town.rounds.grab(wanted).await.unwrap();
    }
    let mut other = desk.beside().await;
    let hold = "BEGIN; SELECT id FROM rider WHERE id = 1 FOR UPDATE";
    other.execute(sqlx::raw_sql(AssertSqlSafe(hold.to_owned()))).await.unwrap();
    town.after_ms(2_000).await;
    let waits = desk.task(task).await;
    assert_eq!(waits.state.name().as_str(), "open", "the second did not win by that: {waits:?}");
    other.execute("ROLLBACK").await.unwrap();
    other.close().await.unwrap();
    town.look().await;
    assert!(desk.task(task).await.state.is_held_by(RiderId(1)));
    desk.check().await;
}
