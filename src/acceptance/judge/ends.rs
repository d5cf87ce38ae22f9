//! The three ends: what the dispatcher's, the customer's and the riders' clients showed of each task.

use super::{
    EndVerdict, EndView, Rule,
    round::{Hearing, seen_by},
};
use crate::{
    acceptance::{
        product,
        record::{Exchange, Purpose},
        scenario::Scenario,
        words::{RiderSees, Standing, WINNER, Who},
    },
    domain::{
        answer::TaskView,
        id::TaskId,
        task::{Stage, StateName},
    },
};

/// What was shown of one task.
struct Shown {
    dispatcher: Option<product::View>,
    customer: Option<product::View>,
    riders: Vec<RiderShown>,
}

/// What was shown of one task to one rider.
struct RiderShown {
    name: String,
    sees: RiderSees,
    view: Option<TaskView>,
    /// Whether one reading showed it and the next did not.
    split: bool,
}

pub(super) fn judge(hearing: &mut Hearing<'_, '_>, scenario: &Scenario) -> Vec<EndVerdict> {
    scenario.tasks().iter().filter_map(|task| end(hearing, scenario, task)).collect()
}

fn end(hearing: &mut Hearing<'_, '_>, scenario: &Scenario, task: &str) -> Option<EndVerdict> {
    let round = hearing.round;
    let of_task = |exchange: &&&Exchange| exchange.purpose == Purpose::End(task.to_owned());
    let looks: Vec<&Exchange> = round.exchanges.iter().filter(of_task).copied().collect();
    if looks.is_empty() {
        if round.cut_short.is_none() {
            hearing.find(Rule::RecordDiffers, None, task, "how it ended", "nothing");
        }
        return None;
    }
    let shown = shown(hearing, task, &looks);
    let world = hearing.world.task(task)?.clone();
    let (should, revision) = (world.standing(), world.revision);
    let mut views = Vec::new();
    for (who, view) in [(Who::Dispatcher(1), &shown.dispatcher), (Who::Customer, &shown.customer)] {
        let expected = seen_by(&who, &should);
        let stands = view.as_ref().map(|view| product::standing(view, &round.line.cast));
        let at = view.as_ref().map(|view| view.task.revision.0);
        let fits = stands.as_ref() == Some(&expected) && at == Some(revision);
        let seen = stands.zip(at).map_or("nothing".to_owned(), |(stands, revision)| {
            format!("{stands}, revision {revision}")
        });
        let expected = format!("{expected}, revision {revision}");
        views.push(EndView { who: who.to_string(), expected, seen, fits });
    }
    for RiderShown { name: rider, sees, view, split } in &shown.riders {
        let expected = should_see(hearing, task, rider);
        // What stands in a list has a state and a revision too.
        let is_so = |view: &TaskView| {
            (view.state, view.stage, view.revision.0) == (should.state, should.stage, revision)
        };
        let whole = view.as_ref().is_none_or(is_so);
        let fits = *sees == expected && whole && !split;
        let seen = match view.as_ref().filter(|_| !whole) {
            _ if *split => format!("{sees} | {}", RiderSees::Nothing),
            Some(view) => format!("{sees}: {}, revision {}", view.state, view.revision),
            None => sees.to_string(),
        };
        let expected = expected.to_string();
        views.push(EndView { who: rider.clone(), expected, seen, fits });
    }
    for view in views.iter().filter(|view| !view.fits) {
        let about = format!("{task} to {}", view.who);
        hearing.find(Rule::WrongEnd, None, &about, &view.expected, &view.seen);
    }
    let agree = agree(hearing, task, &shown);
    if hearing.court.as_written() {
        as_written(hearing, scenario, task, &should);
    }
    Some(EndVerdict { task: task.to_owned(), views, agree })
}

fn shown(hearing: &Hearing<'_, '_>, task: &str, looks: &[&Exchange]) -> Shown {
    let by = |who: Who| {
        let look = looks.iter().find(|look| look.who == who)?;
        product::view(look.reply.as_ref()?)
    };
    let (dispatcher, customer) = (by(Who::Dispatcher(1)), by(Who::Customer));
    let id = dispatcher.as_ref().or(customer.as_ref()).map(|view| view.task.id);
    let id = id.or_else(|| made_as(hearing, task));
    let riders = hearing.round.line.cast.keys();
    let mut riders: Vec<_> = riders.map(|rider| of_rider(hearing, task, rider, id)).collect();
    riders.sort_by_key(|rider| (rider.name.len(), rider.name.clone()));
    Shown { dispatcher, customer, riders }
}

/// What a rider's lists showed of a task. Nothing changes at the end, so every reading of the own list has to show the same,
/// whichever task it was taken for.
fn of_rider(hearing: &Hearing<'_, '_>, task: &str, rider: &str, id: Option<TaskId>) -> RiderShown {
    let me = Who::Rider(rider.to_owned());
    let mine = Purpose::End(task.to_owned());
    let (mut sees, mut view, mut in_lists) = (RiderSees::Nothing, None, Vec::new());
    let by_me = hearing.round.exchanges.iter().filter(|look| look.who == me);
    for look in by_me.filter(|look| matches!(look.purpose, Purpose::End(_))) {
        let is_pool = look.path.contains("/pool");
        if is_pool && look.purpose != mine {
            continue;
        }
        let tasks = look.reply.as_ref().and_then(product::page).map(|(tasks, _)| tasks);
        let found = tasks.into_iter().flatten().find(|view: &TaskView| Some(view.id) == id);
        match found.as_ref().map(|view| view.state) {
            Some(_) if is_pool => sees = RiderSees::Pool,
            Some(StateName::Offered) => sees = RiderSees::Invited,
            Some(_) => sees = RiderSees::Mine,
            None => {}
        }
        if !is_pool {
            in_lists.push(found.as_ref().map(|view| view.revision));
        }
        view = found.or(view);
    }
    let split = in_lists.windows(2).any(|pair| pair[0] != pair[1]);
    RiderShown { name: rider.to_owned(), sees, view, split }
}

fn made_as(hearing: &Hearing<'_, '_>, task: &str) -> Option<TaskId> {
    hearing.round.exchanges.iter().find_map(|exchange| {
        let of_task = exchange.asks.first().is_some_and(|ask| ask.task == task);
        let told = super::round::answers(exchange).pop().filter(|_| of_task)?;
        told.answer?.task.map(|view| view.id)
    })
}

/// What a rider's own client has to show, by where the table has the task.
fn should_see(hearing: &Hearing<'_, '_>, name: &str, rider: &str) -> RiderSees {
    let Some(task) = hearing.world.task(name) else { return RiderSees::Nothing };
    let holds = task.holder.as_deref() == Some(rider);
    match task.state {
        StateName::Assigned if holds && task.stage != Some(Stage::Delivered) => RiderSees::Mine,
        StateName::Offered if holds => RiderSees::Invited,
        StateName::Open if hearing.world.may_grab(rider, name) => RiderSees::Pool,
        StateName::Open | StateName::Offered | StateName::Assigned | StateName::Cancelled => {
            RiderSees::Nothing
        }
    }
}

/// Whether the three kinds of client say the same: one state, one revision, one owner.
fn agree(hearing: &mut Hearing<'_, '_>, task: &str, shown: &Shown) -> bool {
    let cast = &hearing.round.line.cast;
    let by = |view: &Option<product::View>| {
        let view = view.as_ref()?;
        Some((product::standing(view, cast), view.task.revision.0))
    };
    let (dispatcher, customer) = (by(&shown.dispatcher), by(&shown.customer));
    let who_has = |sees: RiderSees| -> Vec<String> {
        let has = shown.riders.iter().filter(|rider| rider.sees == sees);
        has.map(|rider| rider.name.clone()).collect()
    };
    let (mine, invited) = (who_has(RiderSees::Mine), who_has(RiderSees::Invited));
    let agree = match (&dispatcher, &customer) {
        (Some((desk, at)), Some((customer, seen))) => {
            let holder: Vec<String> = desk.rider.iter().cloned().collect();
            let on_riders = match (desk.state, desk.stage) {
                (StateName::Assigned, Some(Stage::Delivered))
                | (StateName::Open | StateName::Cancelled, _) => {
                    mine.is_empty() && invited.is_empty()
                }
                (StateName::Assigned, _) => mine == holder && invited.is_empty(),
                (StateName::Offered, _) => invited == holder && mine.is_empty(),
            };
            at == seen && *customer == seen_by(&Who::Customer, desk) && on_riders
        }
        _ => false,
    };
    if !agree {
        let words = |seen: &Option<(Standing, i64)>| {
            seen.as_ref()
                .map_or("nothing".to_owned(), |(stands, at)| format!("{stands}, revision {at}"))
        };
        let found = format!(
            "dispatcher: {}; customer: {}; mine to: {}; invited: {}",
            words(&dispatcher),
            words(&customer),
            mine.join(", "),
            invited.join(", ")
        );
        hearing.find(Rule::EndsDisagree, None, task, "all three say the same", &found);
    }
    agree
}

/// Holds the scenario's own words about the end against where the table has the task.
fn as_written(hearing: &mut Hearing<'_, '_>, scenario: &Scenario, task: &str, should: &Standing) {
    let Some(end) = scenario.ends.iter().find(|end| end.task == task) else { return };
    let winner = hearing.winner.clone();
    let named = |standing: &Standing| {
        let is_winner = standing.rider.as_deref() == Some(WINNER);
        let rider = if is_winner { winner.clone() } else { standing.rider.clone() };
        Standing { rider, ..standing.clone() }
    };
    for (who, written) in [(Who::Dispatcher(1), &end.dispatcher), (Who::Customer, &end.customer)] {
        let (written, table) = (named(written), seen_by(&who, should));
        if written != table {
            let about = format!("{task} to {who}");
            let (written, table) = (written.to_string(), format!("the table gives: {table}"));
            hearing.find(Rule::NotAsWritten, None, &about, &written, &table);
        }
    }
    for (name, written) in &end.riders {
        let is_meant = |rider: &String| match name.as_str() {
            WINNER => winner.as_ref() == Some(rider),
            "the others" => winner.as_ref() != Some(rider),
            name => rider == name,
        };
        let meant: Vec<_> =
            hearing.round.line.cast.keys().filter(|rider| is_meant(rider)).cloned().collect();
        for rider in meant {
            let sees = should_see(hearing, task, &rider);
            if sees != *written {
                let about = format!("{task} to {rider}");
                let table = format!("the table gives: {sees}");
                hearing.find(Rule::NotAsWritten, None, &about, &written.to_string(), &table);
            }
        }
    }
}
