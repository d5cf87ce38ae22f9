//! Two desks get the same commands, one of them in batches and the other one by one, and must give the same answers:
//! a batch is a line.

use dispatch_desk::domain::{
    command::{Act, Actor, Command, Verb},
    id::TaskId,
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{
    batch::{desk_of_one_lane, in_one_batch, on_one_thread},
    short::{clear, is_done},
};
use crate::harness::*;

/// How many tasks the commands are about.
const TASKS: usize = 5;
/// How many commands a batch has.
const COMMANDS: usize = 16;

/// What a task would be if everything so far had been done. A guess: it makes most commands fit.
#[derive(Clone, Copy)]
enum Guess {
    Open,
    Offered(i64),
    Assigned(i64),
}

/// A command that fits the guess, and the guess after it.
fn fitting(rng: &mut StdRng, guess: Guess) -> (Actor, Act, Guess) {
    let who = rng.random_range(1..=3);
    let other = |rider: i64| rider % 3 + 1;
    let choices = match guess {
        Guess::Open => vec![
            (rider(who), GRAB, Guess::Assigned(who)),
            (D1, offer(who), Guess::Offered(who)),
            (SUPERVISOR, assign(who), Guess::Assigned(who)),
        ],
        Guess::Offered(it) => vec![
            (rider(it), Act::Accept, Guess::Assigned(it)),
            (rider(it), DECLINE, Guess::Open),
            (D2, WITHDRAW, Guess::Open),
        ],
        Guess::Assigned(it) => vec![
            (rider(it), HAND_BACK, Guess::Open),
            (D1, reassign(other(it)), Guess::Offered(other(it))),
            (rider(it), Act::Arrive, Guess::Assigned(it)),
        ],
    };
    choices.choose(rng).expect("there are some").clone()
}

/// Commands of three riders and their dispatchers, some of them based on what is not true.
async fn plan(desk: &Desk, tasks: &[TaskId], seed: u64) -> Vec<Command> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut guesses = Vec::new();
    for id in tasks {
        let task = desk.task(*id).await;
        let guess = match (task.state.offer_until(), task.state.rider()) {
            (Some(_), Some(rider)) => Guess::Offered(rider.0),
            (None, Some(rider)) => Guess::Assigned(rider.0),
            (_, None) => Guess::Open,
        };
        guesses.push((*id, task.revision.0, guess));
    }
    let mut commands = Vec::new();
    for number in 0..COMMANDS {
        let (id, revision, guess) = &mut guesses[rng.random_range(0..TASKS)];
        // The twin desk gives out the same keys for its own commands; these are for both.
        let key = Some(Desk::key(&format!("twins-{seed}-{number}")));
        let (actor, act, after) = fitting(&mut rng, *guess);
        let command = if rng.random_bool(0.15) {
            // From an old page, or from another one.
            let old = (*revision - rng.random_range(0..=1)).max(1);
            let (actor, act, _) = fitting(&mut rng, Guess::Offered(1));
            desk.change(actor, *id, old, act)
        } else {
            let command = desk.change(actor, *id, *revision, act);
            (*revision, *guess) = (*revision + 1, after);
            command
        };
        commands.push(Command { key, ..command });
    }
    // The lane takes answers to offers first; so does whoever sends them one by one.
    commands.sort_by_key(|command| !matches!(command.what.verb(), Verb::Accept | Verb::Decline));
    commands
}

on_one_thread!(a_batch_answers_as_if_each_command_had_come_alone, |database| async move {
    let (batched, single) = (desk_of_one_lane(database).await, desk_of_one_lane(database).await);
    let (mut done, mut all) = (0, 0);
    for round in 0..rounds(5, 200) {
        let tasks = batched.create_many(TASKS).await;
        assert_eq!(single.create_many(TASKS).await, tasks, "the desks are twins");
        for step in 0..4 {
            let seed = u64::try_from(round * 4 + step).expect("a small number");
            let commands = plan(&batched, &tasks, seed).await;
            let together = in_one_batch(&batched, commands.clone()).await;
            for (command, together) in commands.into_iter().zip(together) {
                let alone = single.send(command).await;
                assert_eq!(alone.came, together.came, "seed {seed}: {:#?}", alone.command);
                all += 1;
                done += usize::from(is_done(&alone));
            }
            // Some of the offers lapse before the next batch.
            for desk in [&batched, &single] {
                desk.advance_ms(if step == 1 { 31_000 } else { 1_000 }).await;
            }
        }
        for desk in [&batched, &single] {
            clear(desk, &tasks).await;
            desk.advance_ms(24 * 60 * 60 * 1_000).await;
        }
    }
    println!("batched against one by one: {all} commands, {done} of them done");
    assert!(done * 4 > all, "only {done} of {all} commands were done: that shows little");
    batched.check().await;
    single.check().await;
});
