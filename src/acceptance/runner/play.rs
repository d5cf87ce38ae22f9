//! One scenario, step by step.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Runner, Stop,
    ask::{Ready, Scene},
    ends, race,
};
use crate::{
    acceptance::{
        product,
        record::{ClockLine, Line, Purpose, ScenarioLine},
        scenario::{Asked, Moment, Named, Scenario, What},
        table::Ask,
        words::Who,
    },
    domain::{command::Verb, id::Timestamp, task::StateName},
    stand::RiderSeat,
};

/// How long the release of a lapsed offer is waited for, in real time.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a product gets to do by itself what it must not do.
const GRACE: Duration = Duration::from_millis(40);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(3);

/// Plays one round of a scenario and records it.
pub(super) async fn play(
    runner: &mut Runner,
    scenario: &Scenario,
    round: u32,
    cast: BTreeMap<String, RiderSeat>,
) -> Result<(), Stop> {
    let mut scene = Scene::new(&scenario.id, round, cast, Timestamp(0));
    let request = product::time();
    let sent = runner.wire.send(None, None, &request, None).await;
    let now = sent.reply.as_ref().ok().and_then(product::time_of);
    scene.now =
        now.ok_or_else(|| Stop::Scenario("the product does not tell its time".to_owned()))?;
    runner.line(Line::Scenario(Box::new(ScenarioLine {
        scenario: scenario.id.clone(),
        round,
        text: scenario.text.clone(),
        cast: scene.players.clone(),
        began_at: scene.now,
    })))?;
    prepare(runner, &mut scene, scenario).await?;
    let played = steps(runner, &mut scene, scenario).await;
    let ended = match played {
        Ok(()) => ends::ends(runner, &mut scene, scenario).await,
        stopped => stopped,
    };
    let tidied = ends::tidy_up(runner, &mut scene, scenario).await;
    ended.and(tidied)
}

/// Sends those off duty who have to be.
async fn prepare(runner: &mut Runner, scene: &mut Scene, scenario: &Scenario) -> Result<(), Stop> {
    for (name, facts) in &scenario.riders {
        if !facts.on_duty {
            duty(runner, scene, name, false, Purpose::Prepare).await?;
        }
    }
    Ok(())
}

/// Puts a rider on or off duty.
pub(super) async fn duty(
    runner: &mut Runner,
    scene: &mut Scene,
    rider: &str,
    on: bool,
    purpose: Purpose,
) -> Result<(), Stop> {
    let who = Who::Rider(rider.to_owned());
    let ready = runner.reading(scene, 0, purpose, &who, product::duty(on));
    let reply = runner.ask(scene, ready).await?;
    if reply.is_some_and(|reply| reply.status == 200) {
        Ok(())
    } else {
        Err(Stop::Scenario(format!("{rider} can not be put on or off duty")))
    }
}

async fn steps(runner: &mut Runner, scene: &mut Scene, scenario: &Scenario) -> Result<(), Stop> {
    for (index, step) in scenario.steps.iter().enumerate() {
        let number = index + 1;
        match &step.what {
            What::Ask(asked) => command(runner, scene, number, asked).await?,
            What::Bulk(items) => bulk(runner, scene, number, items).await?,
            What::Clock(moment) => {
                let to = moment_of(scene, *moment)?;
                set_clock(runner, scene, number, to).await?;
                // Time for a timer that is wrong to show it: one that comes early, late, or was armed for something else.
                tokio::time::sleep(GRACE).await;
                settle(runner, scene, number).await?;
            }
            What::Look { who, task } => {
                let request = product::look(&runner.names(scene), who, task);
                let ready = runner.reading(scene, number, Purpose::Step, who, request);
                runner.ask(scene, ready).await?;
            }
            What::Race(race) => race::race(runner, scene, number, race).await?,
        }
    }
    Ok(())
}

/// The command of a step as it is really given: what the table calls an offer, and the revision that is named.
pub(super) fn real(runner: &Runner, scene: &Scene, asked: &Asked) -> Ask {
    let mut ask = asked.ask.clone();
    ask.command = runner.table.means(ask.command).unwrap_or(ask.command);
    ask.revision = match asked.named {
        Named::Missing => None,
        Named::Revision(revision) => Some(revision),
        // Of a task that does not exist yet, nobody knows a revision.
        Named::Present if ask.command == Verb::Create => None,
        Named::Present => scene.revision(&ask.task),
    };
    ask
}

async fn command(
    runner: &mut Runner,
    scene: &mut Scene,
    step: usize,
    asked: &Asked,
) -> Result<(), Stop> {
    let ask = real(runner, scene, asked);
    let created = (ask.command == Verb::Create).then(|| ask.task.clone());
    let about = ask.task.clone();
    let ready = runner.ready(scene, step, Purpose::Step, ask, asked.lost);
    runner.ask(scene, ready).await?;
    if asked.lost && scene.tasks.contains_key(&about) {
        // Whose answer was lost knows nothing; everybody else sees the task as it stands.
        let who = Who::Dispatcher(1);
        let request = product::look(&runner.names(scene), &who, &about);
        let ready = runner.reading(scene, step, Purpose::Settle, &who, request);
        runner.ask(scene, ready).await?;
    }
    if let Some(task) = created.filter(|task| scene.tasks.contains_key(task)) {
        // The dispatcher hands the customer's link on.
        let who = Who::Dispatcher(1);
        let request = product::look(&runner.names(scene), &who, &task);
        let ready = runner.reading(scene, step, Purpose::Prepare, &who, request);
        runner.ask(scene, ready).await?;
    }
    Ok(())
}

async fn bulk(
    runner: &mut Runner,
    scene: &mut Scene,
    step: usize,
    items: &[Asked],
) -> Result<(), Stop> {
    let asks: Vec<Ask> = items.iter().map(|asked| real(runner, scene, asked)).collect();
    let Some(first) = asks.first().cloned() else { return Ok(()) };
    let key = runner.key(scene, &first);
    let request = product::bulk(&runner.names(scene), &asks);
    let token = runner.token(&scene.cast, &first.who).map(ToOwned::to_owned);
    let (who, lost) = (first.who, items.iter().any(|asked| asked.lost));
    let ready = Ready { step, purpose: Purpose::Step, who, asks, request, key, lost, token };
    runner.ask(scene, ready).await?;
    Ok(())
}

/// When a moment is, by the product's clock.
pub(super) fn moment_of(scene: &Scene, moment: Moment) -> Result<Timestamp, Stop> {
    let deadline = scene.deadline().map(|at| at.0);
    let at = moment.at_ms(scene.now.0, deadline).map(Timestamp);
    at.ok_or_else(|| Stop::Scenario("no offer waits, so there is no deadline to go by".to_owned()))
}

/// Moves the product's clock, or lets real time pass.
pub(super) async fn set_clock(
    runner: &mut Runner,
    scene: &mut Scene,
    step: usize,
    to: Timestamp,
) -> Result<(), Stop> {
    let began_ns = runner.wire.now_ns();
    if let Some(set) = runner.set_clock.clone() {
        set(to).await.map_err(Stop::Scenario)?;
    } else {
        let wait_ms = to.ms_since(scene.now).max(0).unsigned_abs();
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
    }
    let (scenario, round) = (scene.scenario.clone(), scene.round);
    let ended_ns = runner.wire.now_ns();
    scene.now = scene.now.max(to);
    runner.line(Line::Clock(ClockLine { scenario, round, step, to, began_ns, ended_ns }))?;
    Ok(())
}

/// Looks until the system has released whatever lapsed.
pub(super) async fn settle(
    runner: &mut Runner,
    scene: &mut Scene,
    step: usize,
) -> Result<(), Stop> {
    let names: Vec<_> = scene.tasks.keys().cloned().collect();
    let who = Who::Dispatcher(1);
    for name in names {
        let waits = async {
            loop {
                let is_due = scene.seen.get(&name).is_some_and(|view| {
                    view.state == StateName::Offered
                        && view.offer_until.is_some_and(|until| until <= scene.now)
                });
                if !is_due {
                    return Ok::<(), Stop>(());
                }
                let request = product::look(&runner.names(scene), &who, &name);
                let ready = runner.reading(scene, step, Purpose::Settle, &who, request);
                runner.ask(scene, ready).await?;
                tokio::time::sleep(PAUSE).await;
            }
        };
        if let Ok(settled) = tokio::time::timeout(PATIENCE, waits).await {
            settled?;
        } else {
            // It stays as it is, and the judge will say so.
            tracing::warn!("{name} was not released {PATIENCE:?} after its deadline");
        }
    }
    Ok(())
}
