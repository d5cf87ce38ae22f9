//! The routes: commands.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::{Body, Bytes},
    extract::{Path, Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot};

use super::{
    Fault,
    arrivals::Arrival,
    desk::Desk,
    draft::{Reply, TurnedAway},
    looks,
};
use crate::domain::{
    answer::{Answer, Outcome},
    command::{Act, Actor, Command, NewTask, RequestKey, Stop, Verb, What},
    id::{RegionId, Revision, RiderId, TaskId, Timestamp, rfc3339},
    refusal::Lang,
    task::Vehicle,
};

const NOT_FOUND: TurnedAway = TurnedAway { status: 404, code: "NOT_FOUND" };
const BODY: TurnedAway = TurnedAway { status: 422, code: "BODY_INVALID" };
const KEY: TurnedAway = TurnedAway { status: 400, code: "KEY_MISSING" };
const REVISION: TurnedAway = TurnedAway { status: 428, code: "REVISION_MISSING" };

type Told = Result<Response, TurnedAway>;

/// Serves until it is told to stop.
pub(super) async fn serve(
    listener: TcpListener,
    desk: Arc<Desk>,
    stopped: oneshot::Receiver<()>,
) -> std::io::Result<()> {
    let router = Router::new()
        .route("/api/v1/tasks", post(create))
        .route("/api/v1/tasks/{id}", get(looks::task))
        .route("/api/v1/tasks/{id}/{what}", get(looks::of_task).post(command))
        .route("/api/v1/bulk", post(bulk))
        .route("/api/v1/track/{token}", get(looks::tracked))
        .route("/api/v1/track/{token}/cancel", post(cancel))
        .route("/api/v1/rider/tasks", get(looks::mine))
        .route("/api/v1/rider/pool", get(looks::pool))
        .route("/api/v1/rider/duty", post(looks::duty))
        .route("/api/v1/events", get(looks::events))
        .route("/api/v1/time", get(looks::time))
        .layer(middleware::from_fn_with_state(Arc::clone(&desk), around))
        .with_state(desk);
    // Answers are short; they are not held back to be sent with others.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!("no TCP_NODELAY: {error}");
        }
    });
    let ends = async {
        // Whoever would tell is gone: an end as well.
        let _ = stopped.await;
    };
    axum::serve(listener, router).with_graceful_shutdown(ends).await
}

/// Counts whoever comes, and tells the time with every answer.
async fn around(State(desk): State<Arc<Desk>>, mut request: Request, next: Next) -> Response {
    if request.method() == Method::POST {
        request.extensions_mut().insert(desk.arrivals.request());
    }
    let mut response = next.run(request).await;
    if let Ok(now) = HeaderValue::from_str(&desk.now().to_string()) {
        response.headers_mut().insert("server-time", now);
    }
    response
}

impl IntoResponse for TurnedAway {
    fn into_response(self) -> Response {
        let Self { status, code } = self;
        let body = json!({ "type": "about:blank", "title": code, "status": status, "code": code });
        let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = (header::CONTENT_TYPE, "application/problem+json");
        (code, [kind], body.to_string()).into_response()
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let code = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = (header::CONTENT_TYPE, "application/json");
        let mut response = (code, [kind], Body::from(self.body.to_string())).into_response();
        if self.replayed {
            let replayed = HeaderValue::from_static("true");
            response.headers_mut().insert("idempotency-replayed", replayed);
        }
        response
    }
}

/// Who sends this.
pub(super) fn caller(desk: &Desk, headers: &HeaderMap) -> Result<Actor, TurnedAway> {
    let given = headers.get(header::AUTHORIZATION).and_then(|given| given.to_str().ok());
    let token = given.and_then(|given| given.strip_prefix("Bearer "));
    let actor = token.and_then(|token| desk.house.actor(token)).cloned();
    actor.ok_or(TurnedAway { status: 401, code: "NOT_SIGNED_IN" })
}

fn key(headers: &HeaderMap) -> Result<RequestKey, TurnedAway> {
    let given = headers.get("idempotency-key").and_then(|given| given.to_str().ok());
    given.and_then(RequestKey::parse).ok_or(KEY)
}

/// The number of a task in a path.
pub(super) fn number(text: &str) -> Result<TaskId, TurnedAway> {
    TaskId::parse(text).ok_or(NOT_FOUND)
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, TurnedAway> {
    serde_json::from_slice(body).map_err(|_| BODY)
}

/// What commands name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    task_id: Option<TaskId>,
    revision: Option<Revision>,
    rider_id: Option<RiderId>,
    seconds: Option<u32>,
    handover_confirmed: bool,
}

/// What is asked of a task.
fn what(task: TaskId, verb: Verb, fields: &Fields) -> Result<What, TurnedAway> {
    let revision = fields.revision.ok_or(REVISION)?;
    let (rider, seconds, reason) = (fields.rider_id.ok_or(BODY), fields.seconds, None);
    let act = match verb {
        Verb::Grab => Act::Grab { ticket: None },
        Verb::Offer => Act::Offer { rider: rider?, seconds, round: None },
        Verb::Assign => Act::Assign { rider: rider?, reason },
        Verb::Accept => Act::Accept,
        Verb::Decline => Act::Decline { reason },
        Verb::Withdraw => Act::Withdraw { reason },
        Verb::Cancel => Act::Cancel { reason },
        Verb::Reassign => Act::Reassign {
            rider: rider?,
            seconds,
            handover_confirmed: fields.handover_confirmed,
            reason,
        },
        Verb::HandBack => Act::HandBack { reason },
        Verb::Arrive => Act::Arrive,
        Verb::PickUp => Act::PickUp,
        Verb::Deliver => Act::Deliver,
        Verb::Create | Verb::Expire | Verb::Edit => return Err(NOT_FOUND),
    };
    Ok(What::Change { task, revision, act })
}

fn ask(actor: Actor, key: RequestKey, what: What) -> Command {
    Command { actor, key: Some(key), lang: Lang::En, what }
}

async fn command(
    State(desk): State<Arc<Desk>>,
    Path((task, verb)): Path<(String, String)>,
    headers: HeaderMap,
    Extension(arrival): Extension<Arc<Arrival>>,
    body: Bytes,
) -> Told {
    let (actor, key) = (caller(&desk, &headers)?, key(&headers)?);
    let verb = Verb::parse(&verb).ok_or(NOT_FOUND)?;
    let what = what(number(&task)?, verb, &read(&body)?)?;
    let reply = desk.carry_out(&ask(actor, key, what), &arrival).await?;
    Ok(reply.into_response())
}

async fn cancel(
    State(desk): State<Arc<Desk>>,
    Path(token): Path<String>,
    headers: HeaderMap,
    Extension(arrival): Extension<Arc<Arrival>>,
    body: Bytes,
) -> Told {
    let key = key(&headers)?;
    let task = looks::behind(&desk.rows(), &token).map(|card| card.task.id).ok_or(NOT_FOUND)?;
    let what = what(task, Verb::Cancel, &read(&body)?)?;
    let reply = desk.carry_out(&ask(Actor::Customer(task), key, what), &arrival).await?;
    Ok(reply.into_response())
}

#[derive(Debug, Deserialize)]
struct Order {
    request_key: Option<RequestKey>,
    region: RegionId,
    pickup: Stop,
    dropoff: Stop,
    #[serde(default, with = "rfc3339::option")]
    release_at: Option<Timestamp>,
    #[serde(default)]
    vehicle: Option<Vehicle>,
}

async fn create(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Extension(arrival): Extension<Arc<Arrival>>,
    body: Bytes,
) -> Told {
    let actor = caller(&desk, &headers)?;
    let Order { request_key, region, pickup, dropoff, release_at, vehicle } = read(&body)?;
    let new = NewTask {
        region,
        pickup,
        dropoff,
        release_at,
        ready_at: None,
        due_at: None,
        vehicle,
        priority: 0,
        fee: None,
        note: None,
    };
    let command = ask(actor, request_key.ok_or(KEY)?, What::Create(Box::new(new)));
    Ok(desk.carry_out(&command, &arrival).await?.into_response())
}

#[derive(Debug, Deserialize)]
struct Many {
    verb: Verb,
    items: Vec<Fields>,
}

async fn bulk(
    State(desk): State<Arc<Desk>>,
    headers: HeaderMap,
    Extension(arrival): Extension<Arc<Arrival>>,
    body: Bytes,
) -> Told {
    let (actor, key) = (caller(&desk, &headers)?, key(&headers)?);
    let Many { verb, items } = read(&body)?;
    let mut commands = Vec::new();
    for fields in &items {
        let task = fields.task_id.ok_or(BODY)?;
        let own = RequestKey::parse(&format!("{}#{}", key.as_str(), task.0)).ok_or(KEY)?;
        commands.push((task, ask(actor.clone(), own, what(task, verb, fields)?)));
    }
    let mut items = Vec::new();
    for (task, command) in commands {
        let told = desk.carry_out(&command, &arrival).await;
        let mut item = match told {
            Ok(reply) => {
                let answer: Value = serde_json::from_str(&reply.body).unwrap_or_default();
                json!({ "status": reply.status, "answer": answer, "replayed": reply.replayed })
            }
            Err(TurnedAway { status, code }) => {
                json!({ "status": status, "problem": { "status": status, "code": code } })
            }
        };
        // FAULT: one green tick for all.
        if desk.fault == Some(Fault::BulkAllDone) {
            done_anyway(&mut item);
        }
        item["task_id"] = json!(task);
        items.push(item);
    }
    let kind = (header::CONTENT_TYPE, "application/json");
    Ok(([kind], json!({ "items": items }).to_string()).into_response())
}

/// Makes a success of whatever became of an item.
fn done_anyway(item: &mut Value) {
    let answer = serde_json::from_value::<Answer>(item["answer"].clone());
    let Ok(answer) = answer else { return };
    let done = Answer { outcome: Outcome::Done, code: None, message: None, ..answer };
    *item = json!({ "status": 200, "answer": done });
}
