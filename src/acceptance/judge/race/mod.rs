//! Is there an order of the racers that gives these answers?
//!
//! Whoever is refused changes nothing, so refusals may be taken as soon as they fit. What is left to try are the orders
//! of the few that were done, and the moment at which the system releases what lapsed.
//!
//! | file | |
//! |---|---|
//! | `mod` | one race, judged |
//! | `search` | the search for an order |
//! | `rows` | its rows in the report |

mod rows;
mod search;

use self::{
    rows::rows,
    search::{Run, Search},
};
use super::{
    Did, Rule, StepVerdict, Where,
    round::{Hearing, answers},
};
use crate::acceptance::{
    record::Purpose,
    scenario::{Race, Racer},
    table::Task,
    words::{Returns, Standing, WINNER},
};

pub(super) fn judge(
    hearing: &mut Hearing<'_, '_>,
    number: usize,
    race: &Race,
    out: &mut Vec<StepVerdict>,
) {
    let round = hearing.round;
    let mut runs = Vec::new();
    for (place, racer) in race.racers.iter().enumerate() {
        let Racer::Asks(asked) = racer else { continue };
        let found = round
            .exchanges
            .iter()
            .find(|exchange| exchange.step == number && exchange.purpose == Purpose::Racer(place));
        let Some((exchange, ask)) = found.and_then(|it| Some((*it, it.asks.first()?))) else {
            if round.cut_short.is_none() {
                let about = asked.ask.who.to_string();
                hearing.find(Rule::RecordDiffers, Some(number), &about, "a request", "none");
            }
            return;
        };
        hearing.is_the_scenarios(number, asked, ask);
        let Some(told) = answers(exchange).pop() else { return };
        let decided = Hearing::decided_at(exchange, &told);
        let decided_ms = decided.map(|at| hearing.since_ms(at));
        runs.push(Run { place, asked, exchange, ask, told, decided_ms });
    }
    let moment = round.clocks.iter().find(|clock| clock.step == number);
    let met = {
        let mut all = runs.iter().enumerate();
        all.any(|(index, run)| {
            let other = runs[..index].iter().any(|other| run.exchange.overlaps(other.exchange));
            let clock = moment.is_some_and(|clock| {
                run.exchange.began_ns < clock.ended_ns && clock.began_ns < run.exchange.ended_ns
            });
            other || clock
        })
    };
    if race.racers.len() > 1 {
        hearing.counts &= met;
    }

    let before = hearing.findings.len();
    let at: Vec<_> = runs.iter().map(|run| Where::of(hearing.world.task(&run.ask.task))).collect();
    let done: Vec<usize> =
        (0..runs.len()).filter(|index| runs[*index].told.returns == Returns::Done).collect();
    for run in &runs {
        if matches!(run.told.returns, Returns::Broken(_)) {
            let about = format!("{} {}", run.ask.who, run.ask.command);
            let found = run.told.returns.to_string();
            hearing.find(Rule::NoAnswer, Some(number), &about, "an answer", &found);
        }
    }
    if !race.wins.fits(done.len(), runs.len()) {
        let too_many = done.len() > 1;
        let rule = if too_many { Rule::TwoWinners } else { Rule::NoWinner };
        let who: Vec<_> = done.iter().map(|index| runs[*index].ask.who.to_string()).collect();
        let found = format!("{}: {}", done.len(), who.join(", "));
        hearing.find(rule, Some(number), "race", race.wins.as_str(), &found);
    }

    let moment_ms = moment.map(|clock| hearing.since_ms(clock.to));
    let mut world = hearing.world.clone();
    let order = {
        let cast = &round.line.cast;
        let search = Search { table: &hearing.court.table, cast, runs: &runs, moment_ms };
        search.order(&mut world, &(0..runs.len()).collect::<Vec<_>>(), moment_ms.is_some())
    };
    match order {
        Ok(world) => hearing.world = *world,
        Err(left) => {
            let words = |index: &usize| {
                let Run { ask, told, .. } = &runs[*index];
                format!("{} {}: {}", ask.who, ask.command, told.returns)
            };
            let found: Vec<_> = left.iter().take(5).map(words).collect();
            let more = left.len().saturating_sub(5);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let expected = "answers that some order of the racers gives";
            let found = format!("{}{more}", found.join("; "));
            hearing.find(Rule::NoOrder, Some(number), "race", expected, &found);
            follow(hearing, &runs, moment_ms);
        }
    }
    for run in &runs {
        hearing.same_answer(number, run.ask, run.exchange, &run.told);
    }
    hearing.winner = match done.as_slice() {
        [one] => runs[*one].ask.who.rider().map(ToOwned::to_owned),
        _ => None,
    };
    hearing.settled(number);
    if hearing.court.as_written() {
        as_written(hearing, number, race, &runs);
    }
    let fits = hearing.findings.len() == before;
    for (run, at) in runs.iter().zip(at) {
        hearing.court.coverage.add(run.ask.command, at, fits);
    }
    if let Some(clock) = moment {
        let words = race.racers.iter().find_map(|racer| match racer {
            Racer::Clock(moment) => Some(moment.to_string()),
            Racer::Asks(_) => None,
        });
        let did = Did::Clock { moment: words.unwrap_or_default(), racing: true };
        out.push(StepVerdict { at: Some(clock.to), fits, ..StepVerdict::of(number, did) });
    }
    rows(number, &runs, fits, out);
}

/// Where no order fits, the world follows those who were told that it was done, as far as the table lets it.
fn follow(hearing: &mut Hearing<'_, '_>, runs: &[Run<'_>], moment_ms: Option<i64>) {
    let mut done: Vec<_> = runs.iter().filter(|run| run.told.returns == Returns::Done).collect();
    done.sort_by_key(|run| (run.decided_ms, run.place));
    for run in done {
        let mut after = hearing.world.clone();
        if after.ask(&hearing.court.table, run.ask).is_ok_and(|it| it.returns == Returns::Done) {
            hearing.world = after;
        }
    }
    if let Some(moment_ms) = moment_ms {
        hearing.world.now_ms = hearing.world.now_ms.max(moment_ms);
        hearing.world.expire(&hearing.court.table);
    }
}

/// Holds the scenario's own expectations against what came back.
fn as_written(hearing: &mut Hearing<'_, '_>, number: usize, race: &Race, runs: &[Run<'_>]) {
    for run in runs {
        if !run.asked.returns.contains(&run.told.returns) {
            let written: Vec<_> = run.asked.returns.iter().map(ToString::to_string).collect();
            let about = format!("{} {}", run.ask.who, run.ask.command);
            let (written, found) = (written.join(" | "), run.told.returns.to_string());
            hearing.find(Rule::NotAsWritten, Some(number), &about, &written, &found);
        }
    }
    let mut tasks: Vec<&String> = race.ends.iter().map(|(task, _)| task).collect();
    tasks.dedup();
    for task in tasks {
        let winner = hearing.winner.clone();
        let named = |standing: &Standing| {
            let is_winner = standing.rider.as_deref() == Some(WINNER);
            let rider = if is_winner { winner.clone() } else { standing.rider.clone() };
            Standing { rider, ..standing.clone() }
        };
        let may: Vec<_> =
            race.ends.iter().filter(|(of, _)| of == task).map(|(_, it)| named(it)).collect();
        let stands = hearing.world.task(task).map(Task::standing);
        if !stands.as_ref().is_some_and(|stands| may.contains(stands)) {
            let may: Vec<_> = may.iter().map(ToString::to_string).collect();
            let stands = stands.map_or("nothing".to_owned(), |it| it.to_string());
            let (task, may) = (task.clone(), may.join(" | "));
            hearing.find(Rule::NotAsWritten, Some(number), &task, &may, &stands);
        }
    }
}
