//! Is there an order of the racers that gives these answers?
//!
//! Whoever is refused changes nothing, so refusals may be taken as soon as they fit. What is left to try are the orders
//! of the few that were done, and the moment at which the system releases what lapsed.

use std::collections::BTreeMap;

use super::{
    Did, Rule, StepVerdict, Where,
    round::{Hearing, answers, did, is_shown_as, took_ms},
};
use crate::{
    acceptance::{
        product::{self, Told},
        record::{Exchange, Player, Purpose},
        scenario::{Asked, Race, Racer},
        table::{Ask, Table, World},
        words::{Returns, Standing, WINNER},
    },
    domain::id::Timestamp,
};

/// One racer as recorded.
struct Run<'a> {
    place: usize,
    asked: &'a Asked,
    exchange: &'a Exchange,
    ask: &'a Ask,
    told: Told,
    decided_ms: Option<i64>,
}

/// The rules of a search for an order.
struct Search<'a> {
    table: &'a Table,
    cast: &'a BTreeMap<String, Player>,
    runs: &'a [Run<'a>],
    /// The moment that comes during the race, in milliseconds since the scenario began.
    moment_ms: Option<i64>,
}

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
        out.push(StepVerdict { at: Some(clock.to), fits, ..empty(number, did) });
    }
    rows(number, &runs, fits, out);
}

impl Search<'_> {
    /// Takes the racers in `left` in some order that gives the answers that were recorded. Returns the world after it,
    /// or those that were left over where the search got furthest.
    fn order(
        &self,
        world: &mut World,
        left: &[usize],
        moment_left: bool,
    ) -> Result<Box<World>, Vec<usize>> {
        let mut left = left.to_vec();
        // Whoever changes nothing and fits may as well come now.
        loop {
            let before = left.len();
            left.retain(|index| {
                let run = &self.runs[*index];
                if run.told.returns == Returns::Done {
                    return true;
                }
                let mut after = world.clone();
                if !self.fits(&mut after, run) {
                    return true;
                }
                *world = after;
                false
            });
            if left.len() == before {
                break;
            }
        }
        if left.is_empty() {
            let mut last = world.clone();
            if moment_left {
                self.come(&mut last);
            }
            return Ok(Box::new(last));
        }
        let mut furthest = left.clone();
        for (at, index) in left.iter().enumerate() {
            let run = &self.runs[*index];
            if run.told.returns != Returns::Done {
                continue;
            }
            let mut after = world.clone();
            if !self.fits(&mut after, run) {
                continue;
            }
            let mut rest = left.clone();
            rest.remove(at);
            match self.order(&mut after, &rest, moment_left) {
                Ok(world) => return Ok(world),
                Err(stuck) if stuck.len() < furthest.len() => furthest = stuck,
                Err(_) => {}
            }
        }
        if moment_left {
            let mut after = world.clone();
            self.come(&mut after);
            match self.order(&mut after, &left, false) {
                Ok(world) => return Ok(world),
                Err(stuck) if stuck.len() < furthest.len() => furthest = stuck,
                Err(_) => {}
            }
        }
        Err(furthest)
    }

    /// The moment comes, and the system releases what lapsed.
    fn come(&self, world: &mut World) {
        world.now_ms = world.now_ms.max(self.moment_ms.unwrap_or(world.now_ms));
        world.expire(self.table);
    }

    /// Whether the table gives `run` its answer in this world, which it then moves.
    fn fits(&self, world: &mut World, run: &Run<'_>) -> bool {
        if let Some(decided) = run.decided_ms {
            world.now_ms = world.now_ms.max(decided);
        }
        let Ok(decided) = world.ask(self.table, run.ask) else { return false };
        if decided.returns != run.told.returns {
            return false;
        }
        if matches!(decided.returns, Returns::Again(_)) {
            return true;
        }
        let shown = run.told.answer.as_ref().and_then(|answer| answer.task.as_ref());
        let Some((shown, task)) = shown.zip(world.task(&run.ask.task)) else { return true };
        let view = product::View { task: shown.clone(), rider_name: None };
        let stands = product::standing(&view, self.cast);
        shown.revision.0 == task.revision && is_shown_as(&stands, &task.standing())
    }
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
        let stands = hearing.world.task(task).map(|task| task.standing());
        if !stands.as_ref().is_some_and(|stands| may.contains(stands)) {
            let may: Vec<_> = may.iter().map(ToString::to_string).collect();
            let stands = stands.map_or("nothing".to_owned(), |it| it.to_string());
            let (task, may) = (task.clone(), may.join(" | "));
            hearing.find(Rule::NotAsWritten, Some(number), &task, &may, &stands);
        }
    }
}

fn empty(step: usize, did: Did) -> StepVerdict {
    StepVerdict {
        step,
        did,
        expected: Vec::new(),
        returned: Vec::new(),
        should_stand: None,
        stands: None,
        revision: None,
        event: None,
        at: None,
        status: None,
        took_ms: None,
        note: None,
        fits: true,
    }
}

/// One row for each kind of racer: those who give the same command on the same task.
fn rows(number: usize, runs: &[Run<'_>], fits: bool, out: &mut Vec<StepVerdict>) {
    let mut kinds: Vec<Vec<&Run<'_>>> = Vec::new();
    for run in runs {
        let same = |kind: &&mut Vec<&Run<'_>>| {
            kind.first().is_some_and(|first| {
                (first.ask.command, &first.ask.task, &first.ask.rider)
                    == (run.ask.command, &run.ask.task, &run.ask.rider)
                    && first.ask.who.rider().is_some() == run.ask.who.rider().is_some()
            })
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.push(run),
            None => kinds.push(vec![run]),
        }
    }
    for kind in kinds {
        let Some(first) = kind.first() else { continue };
        let mut came: BTreeMap<String, usize> = BTreeMap::new();
        for run in &kind {
            *came.entry(run.told.returns.to_string()).or_default() += 1;
        }
        let counted = |(returns, count): (String, usize)| {
            if kind.len() == 1 { returns } else { format!("{count} × {returns}") }
        };
        let won = kind.iter().find(|run| run.told.returns == Returns::Done).unwrap_or(first);
        let told = won.told.answer.as_ref();
        let times = || kind.iter().map(|run| took_ms(run.exchange));
        let at: Option<Timestamp> = Hearing::decided_at(won.exchange, &won.told);
        out.push(StepVerdict {
            expected: first.asked.returns.iter().map(ToString::to_string).collect(),
            returned: came.into_iter().map(counted).collect(),
            revision: told.and_then(|answer| answer.seen_revision()).map(|it| it.0),
            event: told.and_then(|answer| answer.event.as_ref()).map(|event| event.number),
            at,
            status: won.exchange.reply.as_ref().map(|reply| reply.status),
            took_ms: Some(times().fold(0.0, f64::max)),
            fits,
            ..empty(number, did(first.ask, first.asked, kind.len()))
        });
    }
}
