//! What its answers mean.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{
    acceptance::{
        record::{Player, Received},
        words::{Returns, Standing},
    },
    domain::{
        answer::{Answer, Outcome, TaskView},
        id::{RegionId, RiderId, TaskId, Timestamp, rfc3339},
    },
};

/// What a client is told about one command.
#[derive(Clone, Debug)]
pub(in crate::acceptance) struct Told {
    pub(in crate::acceptance) returns: Returns,
    pub(in crate::acceptance) answer: Option<Answer>,
}

#[derive(Deserialize)]
struct Problem {
    code: String,
}

#[derive(Deserialize)]
struct BulkAnswer {
    items: Vec<BulkItem>,
}

#[derive(Deserialize)]
struct BulkItem {
    status: u16,
    #[serde(default)]
    answer: Option<Value>,
    #[serde(default)]
    problem: Option<Value>,
    #[serde(default)]
    replayed: bool,
}

fn told(status: u16, replayed: bool, body: &str) -> Told {
    let broken = |why: String| Told { returns: Returns::Broken(why), answer: None };
    if status >= 500 {
        return broken(format!("status {status}"));
    }
    if let Ok(answer) = serde_json::from_str::<Answer>(body) {
        if answer.status() != status && !(status == 200 && answer.is_success()) {
            return broken(format!("status {status} with the outcome {:?}", answer.outcome));
        }
        let code = || answer.code.clone().unwrap_or_default();
        let first = match answer.outcome {
            Outcome::Done => Returns::Done,
            Outcome::AlreadyDone => Returns::Already(code()),
            Outcome::Refused => Returns::Refused(code()),
        };
        let returns = if replayed { Returns::Again(Box::new(first)) } else { first };
        return Told { returns, answer: Some(answer) };
    }
    match serde_json::from_str::<Problem>(body) {
        Ok(problem) if (400..500).contains(&status) => {
            Told { returns: Returns::TurnedAway(problem.code), answer: None }
        }
        _ => broken(format!("status {status} with a body that is no answer")),
    }
}

/// What a reply says about each of the commands in its request.
pub(in crate::acceptance) fn told_of(asks: usize, is_bulk: bool, reply: &Received) -> Vec<Told> {
    let Received { status, replayed, body, .. } = reply;
    if !is_bulk {
        return vec![told(*status, *replayed, body)];
    }
    match serde_json::from_str::<BulkAnswer>(body) {
        Ok(all) if *status == 200 && all.items.len() == asks => all
            .items
            .iter()
            .map(|item| {
                let body = item.answer.as_ref().or(item.problem.as_ref());
                told(item.status, item.replayed, &body.map(ToString::to_string).unwrap_or_default())
            })
            .collect(),
        _ => vec![told(*status, *replayed, body); asks],
    }
}

#[derive(Deserialize)]
struct Seen {
    task: TaskView,
    #[serde(default)]
    tracking: Option<String>,
    #[serde(default)]
    rider_name: Option<String>,
}

#[derive(Deserialize)]
struct SeenPage {
    items: Vec<Seen>,
    #[serde(default)]
    next_cursor: Option<TaskId>,
}

/// A task as one client sees it.
#[derive(Clone, Debug)]
pub(in crate::acceptance) struct View {
    pub(in crate::acceptance) task: TaskView,
    /// The owner's name, where the client shows names.
    pub(in crate::acceptance) rider_name: Option<String>,
}

/// The end of the customer's link, if a reading of staff shows it.
pub(in crate::acceptance) fn tracking(reply: &Received) -> Option<String> {
    let seen: Seen = serde_json::from_str(&reply.body).ok()?;
    seen.tracking.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
}

/// The task that a reading shows; `None` if it shows none.
pub(in crate::acceptance) fn view(reply: &Received) -> Option<View> {
    if reply.status != 200 {
        return None;
    }
    let Seen { task, rider_name, .. } = serde_json::from_str(&reply.body).ok()?;
    Some(View { task, rider_name })
}

/// The tasks of a page, and where the next one starts; `None` if it is no page.
pub(in crate::acceptance) fn page(reply: &Received) -> Option<(Vec<TaskView>, Option<TaskId>)> {
    if reply.status != 200 {
        return None;
    }
    let page: SeenPage = serde_json::from_str(&reply.body).ok()?;
    Some((page.items.into_iter().map(|seen| seen.task).collect(), page.next_cursor))
}

/// How a task stands in a view, with the scenario's names for riders.
pub(in crate::acceptance) fn standing(view: &View, riders: &BTreeMap<String, Player>) -> Standing {
    let by_id = |id: RiderId| {
        let known = riders.iter().find(|(_, player)| player.id == id);
        known.map_or_else(|| id.to_string(), |(name, _)| name.clone())
    };
    let by_name = |shown: &String| {
        let fits = |player: &Player| player.name.as_ref() == Some(shown);
        let known = riders.iter().find(|(_, player)| fits(player));
        known.map_or_else(|| shown.clone(), |(name, _)| name.clone())
    };
    let task = &view.task;
    let rider = task.rider_id.map(by_id).or_else(|| view.rider_name.as_ref().map(by_name));
    Standing { state: task.state, stage: task.stage, rider }
}

/// One entry of a task's log.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::acceptance) struct Entry {
    pub(in crate::acceptance) number: i64,
    #[serde(default)]
    pub(in crate::acceptance) region: Option<RegionId>,
    #[serde(default)]
    pub(in crate::acceptance) task_id: Option<TaskId>,
    #[serde(default)]
    pub(in crate::acceptance) from_revision: Option<i64>,
    #[serde(default)]
    pub(in crate::acceptance) to_revision: Option<i64>,
    pub(in crate::acceptance) action: String,
    pub(in crate::acceptance) actor: EntryActor,
    #[serde(default)]
    pub(in crate::acceptance) rider_id: Option<RiderId>,
    #[serde(default)]
    pub(in crate::acceptance) mode: Option<String>,
    #[serde(default)]
    pub(in crate::acceptance) reason: Option<String>,
    #[serde(with = "rfc3339")]
    pub(in crate::acceptance) occurred_at: Timestamp,
}

/// Who made an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub(in crate::acceptance) struct EntryActor {
    pub(in crate::acceptance) kind: String,
    #[serde(default)]
    pub(in crate::acceptance) id: Option<String>,
}

/// One attempt on a task.
#[derive(Clone, Debug, Deserialize)]
pub(in crate::acceptance) struct Attempt {
    pub(in crate::acceptance) actor: EntryActor,
    pub(in crate::acceptance) verb: String,
    /// `done`, or the code.
    pub(in crate::acceptance) code: String,
}

#[derive(Deserialize)]
struct Items<T> {
    items: Vec<T>,
}

/// The entries of a list; `None` if it is none.
pub(in crate::acceptance) fn items<T: for<'a> Deserialize<'a>>(reply: &Received) -> Option<Vec<T>> {
    let list: Items<T> = serde_json::from_str(&reply.body).ok()?;
    (reply.status == 200).then_some(list.items)
}

/// The bounds of a page of the whole log.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(in crate::acceptance) struct Bounds {
    pub(in crate::acceptance) after: i64,
    pub(in crate::acceptance) through: i64,
    pub(in crate::acceptance) head: i64,
}

/// The bounds of a page of the whole log; `None` if it is none.
pub(in crate::acceptance) fn bounds(reply: &Received) -> Option<Bounds> {
    serde_json::from_str(&reply.body).ok().filter(|_| reply.status == 200)
}

/// The product's time, as it answers when asked for it.
pub(in crate::acceptance) fn time_of(reply: &Received) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Time {
        #[serde(with = "rfc3339")]
        server_time: Timestamp,
    }
    serde_json::from_str::<Time>(&reply.body).ok().map(|time| time.server_time)
}
