//! One verb on many tasks, with an outcome for each: never one green tick for a mixed result.

use axum::{Json, extract::State};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::super::{
    desk::Desk,
    extract::{Body, Key, Object},
    problem::{Problem, ProblemBody, ProblemCode},
    who::Bearer,
};
use crate::{
    domain::{
        answer::Answer,
        command::{Act, Command, Reason, RequestKey, Verb, What},
        id::{Revision, RiderId, TaskId, Timestamp, rfc3339},
        refusal::Lang,
    },
    engine::executor::Reply,
};

/// The most tasks in one bulk.
const MOST: usize = 500;

/// One task of a bulk.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkItem {
    /// Which task.
    task_id: TaskId,
    /// The revision that the command is based on.
    #[schema(required = true, value_type = i64)]
    revision: Option<Revision>,
    /// For offer, assign and reassign: which rider.
    #[serde(default)]
    rider_id: Option<RiderId>,
    /// For offer and reassign: how long the offer waits.
    #[serde(default)]
    seconds: Option<u32>,
    /// For reassign: whether the present owner knows.
    #[serde(default)]
    handover_confirmed: Option<bool>,
    /// Why, as a code.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^[a-z][a-z0-9_]{0,39}$")]
    reason: Option<Reason>,
}

/// One verb on many tasks.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BulkBody {
    /// What is asked of each of them: a verb of staff.
    verb: Verb,
    /// The tasks, each of them once.
    #[schema(value_type = Vec<BulkItem>, min_items = 1, max_items = 500)]
    items: Vec<Object<BulkItem>>,
}

/// What became of one task of a bulk.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BulkOutcome {
    /// Which task.
    task_id: TaskId,
    /// The status that the command would have had alone.
    status: u16,
    /// The answer, byte for byte what is stored under the item's own key, `key#task_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Answer>)]
    answer: Option<Box<RawValue>>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ProblemBody>)]
    problem: Option<ProblemBody>,
    /// Whether this answer was given before, under the same key.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
}

/// What became of a bulk.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BulkAnswer {
    /// In the order of the request.
    items: Vec<BulkOutcome>,
    /// How many were done, now or before.
    done: usize,
    /// How many were refused.
    refused: usize,
    /// How many got no outcome.
    failed: usize,
    /// The time of the answer.
    #[serde(with = "rfc3339")]
    #[schema(value_type = String, format = DateTime)]
    server_time: Timestamp,
}

/// One verb on many tasks, each decided by itself.
///
/// The answer is 200 with an outcome for each task, mixed results included. Ask again under the same key for those
/// that got none: the others are replayed.
#[utoipa::path(
    post, path = "/api/v1/bulk", tag = "commands", operation_id = "bulk", request_body = BulkBody,
    params(("Idempotency-Key" = String, Header, description = "The request key of the whole")),
    responses((status = 200, body = BulkAnswer)), security(("token" = []))
)]
pub(super) async fn bulk(
    State(desk): State<Desk>,
    bearer: Bearer,
    Key(key): Key,
    Body(body): Body<BulkBody>,
) -> Result<Json<BulkAnswer>, Problem> {
    if !bearer.scope.actions.include(Some(body.verb)) {
        return Err(Problem::new(ProblemCode::Forbidden, bearer.lang));
    }
    let commands = commands(body, &key, &bearer)?;
    let tasks: Vec<_> = commands.iter().filter_map(|command| command.what.task()).collect();
    bearer.reaches_tasks(&desk, &tasks).await?;
    let asked = commands.into_iter().map(|command| desk.executor().execute(command));
    let replies = join_all(asked).await;
    let items: Vec<_> = tasks
        .into_iter()
        .zip(replies)
        .map(|(task, reply)| match reply {
            Ok(reply) => outcome(task, &reply),
            Err(error) => {
                let problem = Problem::of(&error, bearer.lang);
                let status = problem.code.status();
                let problem = Some(problem.body());
                BulkOutcome { task_id: task, status, answer: None, problem, replayed: false }
            }
        })
        .collect();
    let of = |fits: fn(u16) -> bool| items.iter().filter(|item| fits(item.status)).count();
    let (done, refused) = (of(|status| status < 300), of(|status| status == 409));
    let failed = items.len() - done - refused;
    Ok(Json(BulkAnswer { done, refused, failed, items, server_time: desk.now() }))
}

fn outcome(task_id: TaskId, reply: &Reply) -> BulkOutcome {
    let answer = RawValue::from_string(reply.body.to_string()).ok();
    BulkOutcome { task_id, status: reply.status, answer, problem: None, replayed: reply.replayed }
}

/// The commands of a bulk; an error if the bulk as a whole makes no sense, so that nothing is done by halves.
fn commands(body: BulkBody, key: &RequestKey, bearer: &Bearer) -> Result<Vec<Command>, Problem> {
    let lang = bearer.lang;
    if body.items.is_empty() || body.items.len() > MOST {
        let wrong = Problem::new(ProblemCode::BodyInvalid, lang);
        return Err(wrong.with(format!("items: 1 to {MOST}")).at("/items"));
    }
    let mut seen = std::collections::HashSet::new();
    let mut commands = Vec::with_capacity(body.items.len());
    for (index, Object(item)) in body.items.into_iter().enumerate() {
        let at = |field: &str| format!("/items/{index}/{field}");
        if !seen.insert(item.task_id) {
            let twice = Problem::new(ProblemCode::TaskTwice, lang);
            return Err(twice.with(item.task_id.to_string()).at(at("task_id")));
        }
        let Some(revision) = item.revision else {
            return Err(Problem::new(ProblemCode::RevisionMissing, lang).at(at("revision")));
        };
        let own = RequestKey::parse(&format!("{}#{}", key.as_str(), item.task_id.0));
        let own = own.ok_or_else(|| Problem::new(ProblemCode::KeyMalformed, lang))?;
        let task = item.task_id;
        let act = act(body.verb, item, lang).map_err(|problem| {
            let field = problem.pointer.clone().unwrap_or_default();
            // The verb is the whole bulk's.
            if field == "verb" { problem.at("/verb") } else { problem.at(at(&field)) }
        })?;
        let what = What::Change { task, revision, act };
        commands.push(Command { actor: bearer.actor.clone(), key: Some(own), lang, what });
    }
    Ok(commands)
}

/// What is asked of one task. A field that the verb does not take is refused like any unknown one.
fn act(verb: Verb, item: BulkItem, lang: Lang) -> Result<Act, Problem> {
    let BulkItem { rider_id, seconds, handover_confirmed, reason, .. } = item;
    let wrong = |field: &str, what: &str| {
        Problem::new(ProblemCode::BodyInvalid, lang)
            .with(format!("{verb}: {field} {what}"))
            .at(field)
    };
    let takes: &[&str] = match verb {
        Verb::Offer => &["rider_id", "seconds"],
        Verb::Assign => &["rider_id", "reason"],
        Verb::Reassign => &["rider_id", "seconds", "handover_confirmed", "reason"],
        Verb::Withdraw | Verb::Cancel => &["reason"],
        Verb::Create
        | Verb::Grab
        | Verb::Accept
        | Verb::Decline
        | Verb::Expire
        | Verb::HandBack
        | Verb::Arrive
        | Verb::PickUp
        | Verb::Deliver
        | Verb::Edit => return Err(wrong("verb", "is not a verb of staff")),
    };
    let given = [
        ("rider_id", rider_id.is_some()),
        ("seconds", seconds.is_some()),
        ("handover_confirmed", handover_confirmed.is_some()),
        ("reason", reason.is_some()),
    ];
    for (field, given) in given {
        if given && !takes.contains(&field) {
            return Err(wrong(field, "is not taken"));
        }
    }
    let rider = || rider_id.ok_or_else(|| wrong("rider_id", "is missing"));
    Ok(match verb {
        Verb::Offer => Act::Offer { rider: rider()?, seconds, round: None },
        Verb::Assign => Act::Assign { rider: rider()?, reason },
        Verb::Reassign => {
            let handover_confirmed =
                handover_confirmed.ok_or_else(|| wrong("handover_confirmed", "is missing"))?;
            Act::Reassign { rider: rider()?, seconds, handover_confirmed, reason }
        }
        Verb::Withdraw => Act::Withdraw { reason },
        _ => Act::Cancel { reason },
    })
}
