//! How a scenario ended, as each of the three clients sees it; and tidying up.

use super::{Runner, Stop, ask::Scene, play::duty};
use crate::{
    acceptance::{product, record::Purpose, scenario::Scenario, table::Ask, words::Who},
    domain::{
        command::Verb,
        id::TaskId,
        task::{Stage, StateName},
    },
};

/// Has every client look at every task, and reads the logs.
pub(super) async fn ends(
    runner: &mut Runner,
    scene: &mut Scene,
    scenario: &Scenario,
) -> Result<(), Stop> {
    for task in scenario.tasks() {
        let Some(id) = scene.tasks.get(&task).map(|known| known.id) else {
            return Err(Stop::Scenario(format!("{task} was never made")));
        };
        for who in [Who::Dispatcher(1), Who::Customer] {
            let request = product::look(&runner.names(scene), &who, &task);
            let purpose = Purpose::End(task.clone());
            let ready = runner.reading(scene, 0, purpose, &who, request);
            runner.ask(scene, ready).await?;
        }
        let riders: Vec<_> = scene.cast.keys().cloned().collect();
        for rider in riders {
            let who = Who::Rider(rider);
            for request in [product::mine(), product::pool(TaskId(id.0 - 1))] {
                let purpose = Purpose::End(task.clone());
                let ready = runner.reading(scene, 0, purpose, &who, request);
                runner.ask(scene, ready).await?;
            }
        }
        for (purpose, request) in [
            (Purpose::Log(task.clone()), product::log(&runner.names(scene), &task)),
            (Purpose::Attempts(task.clone()), product::attempts(&runner.names(scene), &task)),
        ] {
            let ready = runner.reading(scene, 0, purpose, &Who::Auditor, request);
            runner.ask(scene, ready).await?;
        }
    }
    Ok(())
}

/// Leaves nothing behind: nobody holds a task of this scenario afterwards, and everybody is on duty.
pub(super) async fn tidy_up(
    runner: &mut Runner,
    scene: &mut Scene,
    scenario: &Scenario,
) -> Result<(), Stop> {
    let names: Vec<_> = scene.tasks.keys().cloned().collect();
    for task in names {
        let who = Who::Dispatcher(1);
        let request = product::look(&runner.names(scene), &who, &task);
        let ready = runner.reading(scene, 0, Purpose::TidyUp, &who, request);
        runner.ask(scene, ready).await?;
        let Some(view) = scene.seen.get(&task).cloned() else { continue };
        let owner = scene.cast.iter().find(|(_, seat)| Some(seat.id) == view.rider_id);
        let owner = owner.map(|(name, _)| Who::Rider(name.clone()));
        let last = match (view.state, view.stage) {
            (StateName::Cancelled, _) | (_, Some(Stage::Delivered)) => continue,
            // Goods in hand can only be brought.
            (_, Some(Stage::PickedUp)) => owner.map(|owner| (owner, Verb::Deliver)),
            (StateName::Open | StateName::Offered | StateName::Assigned, _) => {
                Some((who, Verb::Cancel))
            }
        };
        let Some((who, command)) = last else { continue };
        let ask = Ask {
            who,
            command,
            task,
            rider: None,
            seconds: None,
            revision: Some(view.revision.0),
            key: None,
            has_key: true,
            confirmed: true,
            release_in_ms: None,
            vehicle: None,
        };
        let ready = runner.ready(scene, 0, Purpose::TidyUp, ask, false);
        runner.ask(scene, ready).await?;
    }
    for (name, facts) in &scenario.riders {
        if !facts.on_duty {
            duty(runner, scene, name, true, Purpose::TidyUp).await?;
        }
    }
    Ok(())
}
