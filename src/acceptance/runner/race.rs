//! Several at once: all requests are written but for their last byte, and let go together.

use std::time::Duration;

use super::{
    Runner, Stop,
    ask::{Ready, Scene},
    play::{moment_of, real, settle},
};
use crate::{
    acceptance::{
        product,
        record::{ClockLine, Line, Purpose},
        scenario::{Race, Racer},
        wire::Gate,
        words::Who,
    },
    domain::id::Timestamp,
};

/// How long racers may take to be ready.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long before a moment that comes by itself they get ready, in milliseconds.
const AHEAD_MS: i64 = 1_000;

pub(super) async fn race(
    runner: &mut Runner,
    scene: &mut Scene,
    step: usize,
    race: &Race,
) -> Result<(), Stop> {
    let gate = Gate::new();
    let mut ready: Vec<(usize, Ready)> = Vec::new();
    let mut clock: Option<Timestamp> = None;
    for (place, racer) in race.racers.iter().enumerate() {
        match racer {
            Racer::Asks(asked) => {
                let ask = real(runner, scene, asked);
                let made = runner.ready(scene, step, Purpose::Racer(place), ask, asked.lost);
                ready.push((place, made));
            }
            Racer::Clock(moment) => clock = Some(moment_of(scene, *moment)?),
        }
    }
    if let (Some(to), None) = (clock, &runner.set_clock) {
        // A clock that can not be set brings the moment by itself. Nobody waits at the start for half a minute: a product
        // may well give up on a request that does not come to its end.
        let wait_ms = to.ms_since(scene.now).saturating_sub(AHEAD_MS).max(0).unsigned_abs();
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        scene.now = scene.now.max(to.plus_ms(-AHEAD_MS));
    }
    // Whoever is written first has no advantage that would last over rounds.
    runner.chance.shuffle(&mut ready);
    let racing = ready.len();
    let running: Vec<_> = ready
        .into_iter()
        .map(|(_, ready)| {
            let (wire, gate) = (runner.wire.clone(), gate.clone());
            tokio::spawn(async move {
                let Ready { token, key, request, .. } = &ready;
                let sent = wire.send(token.as_deref(), key.as_deref(), request, Some(gate)).await;
                (ready, sent)
            })
        })
        .collect();
    let all_ready = async {
        while gate.waiting() < racing {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, all_ready).await.is_err() {
        gate.open();
        return Err(Stop::Scenario(format!(
            "only {} of {racing} racers came to the start",
            gate.waiting()
        )));
    }
    let moved = match (clock, runner.set_clock.clone()) {
        (Some(to), Some(set)) => {
            gate.open();
            // Sometimes it comes before the others have arrived, sometimes while they are decided.
            let after = runner.chance.u64(0..1_500);
            tokio::time::sleep(Duration::from_micros(after)).await;
            let began_ns = runner.wire.now_ns();
            set(to).await.map_err(Stop::Scenario)?;
            Some((to, began_ns, runner.wire.now_ns()))
        }
        (Some(to), None) => {
            let began_ns = runner.wire.now_ns();
            let wait_ms = to.ms_since(scene.now).max(0).unsigned_abs();
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            gate.open();
            Some((to, began_ns, runner.wire.now_ns()))
        }
        (None, _) => {
            gate.open();
            None
        }
    };
    if let Some((to, began_ns, ended_ns)) = moved {
        scene.now = scene.now.max(to);
        let (scenario, round) = (scene.scenario.clone(), scene.round);
        runner.line(Line::Clock(ClockLine { scenario, round, step, to, began_ns, ended_ns }))?;
    }
    for racer in running {
        let (ready, sent) = racer.await.map_err(|error| Stop::Scenario(error.to_string()))?;
        runner.keep(scene, ready, sent)?;
    }
    // Everybody looks afterwards: what they name next is the present revision.
    let names: Vec<_> = scene.tasks.keys().cloned().collect();
    for name in names {
        let who = Who::Dispatcher(1);
        let request = product::look(&runner.names(scene), &who, &name);
        let ready = runner.reading(scene, step, Purpose::Settle, &who, request);
        runner.ask(scene, ready).await?;
    }
    settle(runner, scene, step).await
}
