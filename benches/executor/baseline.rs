//! The way of the seeds: one transaction per command, one statement at a time, with a row lock.
//!
//! Written as well as that way allows: prepared statements, one writer on SQLite, a pool on PostgreSQL, the rows
//! locked in the executor's own order, the decision by the same pure function, and the same rows stored: task, offer,
//! event, attempt, outcome.

use std::sync::atomic::{AtomicU64, Ordering};

use dispatch_desk::{
    clock::{Clock, SystemClock},
    domain::{
        answer::{Answer, BeatenBy, EventView, TaskView, role, wording},
        command::{Act, Actor, Command, NewTask, Verb, What},
        decide::{Decision, Verdict, create, decide, repeat, right, source},
        event::{Change, Event},
        facts::{Duty, Facts, Rider, Staff},
        fingerprint::{Fingerprint, key_hash},
        id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
        legal::legal,
        policy::{Policy, Region},
        task::{Mode, OfferAnswer, Slot, Stage, State, StateName, Task},
    },
    store::etag,
};

/// Unique enough for a bench; the executor draws its tokens from the system.
static TOKEN: AtomicU64 = AtomicU64::new(1);

fn token() -> String {
    format!("{:032x}", TOKEN.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed))
}

type TaskRow = (
    i64,
    i64,
    String,
    String,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<String>,
    Option<i64>,
    i64,
    i64,
    i64,
    i64,
    String,
    Option<String>,
);

fn task_of(row: TaskRow) -> Task {
    let (
        id,
        region,
        source,
        state_name,
        rider,
        slot,
        how_far,
        mode,
        until,
        revision,
        release,
        priority,
        at,
        kind,
        by,
    ) = row;
    let rider = RiderId(rider.unwrap_or_default());
    let slot = slot.map(|slot| Slot::try_from(slot).expect("a place"));
    let state = match StateName::parse(&state_name).expect("a state") {
        StateName::Open => State::Open,
        StateName::Cancelled => State::Cancelled,
        StateName::Offered => State::Offered {
            rider,
            slot: slot.expect("a place"),
            until: Timestamp(until.unwrap_or_default()),
        },
        StateName::Assigned => State::Assigned {
            rider,
            slot,
            stage: how_far.as_deref().and_then(Stage::parse).expect("a stage"),
            mode: mode.as_deref().and_then(Mode::parse).expect("a mode"),
        },
    };
    Task {
        id: TaskId(id),
        region: RegionId(region),
        source,
        revision: Revision(revision),
        state,
        release_at: Timestamp(release),
        vehicle: None,
        priority,
        changed_at: Timestamp(at),
        changed_by: Actor::from_columns(&kind, by.as_deref()).expect("an actor"),
    }
}

fn answer_of(
    decision: &Decision,
    task: &Task,
    command: &Command,
    staff: Option<&Staff>,
    region: &Region,
    number: i64,
    now: Timestamp,
) -> Answer {
    let (outcome, code, reason, message) = wording(&decision.verdict, command.lang);
    let event = match &decision.verdict {
        Verdict::Apply(step) => Some(view(number, step.event())),
        Verdict::Already(_) | Verdict::Refused(_) => None,
    };
    let role = role(&command.actor, staff.map(|staff| staff.role));
    Answer {
        outcome,
        code,
        reason,
        message,
        task: Some(TaskView::of(task, &command.actor, now)),
        event,
        beaten_by: None,
        legal: legal(task, &command.actor, role, region.policy.mode, now),
        server_time: now,
    }
}

fn view(number: i64, event: &Event) -> EventView {
    EventView {
        number,
        action: event.action,
        from_revision: event.from,
        to_revision: event.to,
        occurred_at: event.at,
    }
}

/// Makes the same way for each database: only the lock, the clock and the driver differ.
macro_rules! one_by_one {
    ($name:ident, $pool:ty, $driver:ty, $begin:literal, $lock:literal, $share:literal, $now:literal) => {
        pub mod $name {
            use super::*;

            type Tx = sqlx::Transaction<'static, $driver>;

            /// Decides and stores one command in a transaction of its own.
            ///
            /// # Errors
            /// Whatever the database says; the caller counts it.
            pub async fn execute(pool: &$pool, command: &Command) -> sqlx::Result<Answer> {
                let mut tx = pool.begin_with($begin).await?;
                let answer = match &command.what {
                    What::Create(new) => creation(&mut tx, command, new).await?,
                    What::Change { task, revision, act } => {
                        change(&mut tx, command, *task, *revision, act).await?
                    }
                    What::Edit { .. } => unreachable!("the mix has no edits"),
                };
                tx.commit().await?;
                Ok(answer)
            }

            async fn region(tx: &mut Tx, id: RegionId, now: Timestamp) -> sqlx::Result<Region> {
                let (zone, area): (String, String) =
                    sqlx::query_as(concat!("SELECT time_zone, area FROM region WHERE id = $1", $share))
                        .bind(id.0)
                        .fetch_one(&mut **tx)
                        .await?;
                let (rules,): (String,) = sqlx::query_as(
                    "SELECT rules FROM policy WHERE region_id = $1 AND starts_at <= $2 ORDER BY version DESC LIMIT 1",
                )
                .bind(id.0)
                .bind(now.0)
                .fetch_one(&mut **tx)
                .await?;
                let policy: Policy = serde_json::from_str(&rules).expect("a policy");
                Ok(Region {
                    id,
                    time_zone: zone.parse().expect("a zone"),
                    area: serde_json::from_str(&area).expect("an area"),
                    policy,
                })
            }

            async fn staff(tx: &mut Tx, id: StaffId) -> sqlx::Result<Staff> {
                let (role, disabled): (String, i64) =
                    sqlx::query_as(concat!("SELECT role, disabled FROM staff WHERE id = $1", $share))
                        .bind(id.0)
                        .fetch_one(&mut **tx)
                        .await?;
                let regions: Vec<(i64,)> =
                    sqlx::query_as("SELECT region_id FROM staff_region WHERE staff_id = $1")
                        .bind(id.0)
                        .fetch_all(&mut **tx)
                        .await?;
                Ok(Staff {
                    id,
                    role: dispatch_desk::domain::command::Role::parse(&role).expect("a role"),
                    regions: regions.into_iter().map(|(region,)| RegionId(region)).collect(),
                    disabled: disabled != 0,
                })
            }

            async fn rider(tx: &mut Tx, id: RiderId) -> sqlx::Result<Rider> {
                let (region, capacity, duty, disabled, risk): (i64, i64, String, i64, i64) =
                    sqlx::query_as(concat!(
                        "SELECT region_id, capacity, duty, disabled, risk_rejected FROM rider WHERE id = $1",
                        $lock
                    ))
                    .bind(id.0)
                    .fetch_one(&mut **tx)
                    .await?;
                Ok(Rider {
                    id,
                    region: RegionId(region),
                    capacity: u32::try_from(capacity).expect("a capacity"),
                    held: Vec::new(),
                    duty: Duty::parse(&duty).expect("a duty"),
                    disabled: disabled != 0,
                    vehicle: None,
                    risk_rejected: risk != 0,
                    last_fix_at: None,
                })
            }

            async fn clock(tx: &mut Tx) -> sqlx::Result<Timestamp> {
                if $now.is_empty() {
                    return Ok(SystemClock.now());
                }
                let (now,): (i64,) = sqlx::query_as($now).fetch_one(&mut **tx).await?;
                Ok(Timestamp(now))
            }

            async fn known(
                tx: &mut Tx,
                command: &Command,
                fingerprint: &Fingerprint,
            ) -> sqlx::Result<Option<Answer>> {
                let key = command.key.as_ref().expect("a key");
                let found: Option<(String, String)> = sqlx::query_as(
                    "SELECT fingerprint, body FROM command_outcome WHERE principal = $1 AND request_key = $2",
                )
                .bind(command.actor.principal())
                .bind(key.as_str())
                .fetch_optional(&mut **tx)
                .await?;
                Ok(found.and_then(|(prior, body)| {
                    repeat(Some(&Fingerprint::stored(prior)), fingerprint)?;
                    serde_json::from_str(&body).ok()
                }))
            }

            async fn change(
                tx: &mut Tx,
                command: &Command,
                id: TaskId,
                named: Revision,
                act: &Act,
            ) -> sqlx::Result<Answer> {
                let fingerprint = Fingerprint::of(&command.what);
                if let Some(answer) = known(tx, command, &fingerprint).await? {
                    return Ok(answer);
                }
                let staff = match &command.actor {
                    Actor::Staff(id) => Some(staff(tx, *id).await?),
                    Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
                };
                let mut rider = match command.rider() {
                    Some(id) => Some(rider(tx, id).await?),
                    None => None,
                };
                let row: TaskRow = sqlx::query_as(concat!(
                    "SELECT id, region_id, source, state, rider_id, rider_slot, stage, mode, offer_until, revision, ",
                    "release_at, priority, changed_at, changed_by_kind, changed_by_id FROM task WHERE id = $1",
                    $lock
                ))
                .bind(id.0)
                .fetch_one(&mut **tx)
                .await?;
                let task = task_of(row);
                let now = clock(tx).await?;
                let region = region(tx, task.region, now).await?;
                if let Some(rider) = &mut rider {
                    let held: Vec<(i64,)> = sqlx::query_as(
                        "SELECT rider_slot FROM task WHERE rider_id = $1 AND rider_slot IS NOT NULL",
                    )
                    .bind(rider.id.0)
                    .fetch_all(&mut **tx)
                    .await?;
                    rider.held = held
                        .into_iter()
                        .map(|(slot,)| Slot::try_from(slot).expect("a place"))
                        .collect();
                }
                if act.verb() == Verb::Grab {
                    let running: Option<(i64,)> = sqlx::query_as(
                        "SELECT id FROM round WHERE task_id = $1 AND status = 'running'",
                    )
                    .bind(id.0)
                    .fetch_optional(&mut **tx)
                    .await?;
                    assert_eq!(running, None, "the mix has no rounds");
                }
                let facts = Facts {
                    staff: staff.as_ref(),
                    me: rider.as_ref().filter(|rider| command.actor.rider() == Some(rider.id)),
                    rider: rider.as_ref(),
                    region: &region,
                    own_offers: &[],
                    round: None,
                    alone: None,
                    hand_backs_today: 0,
                };
                right(Some(&task), &command.actor, act.verb(), &facts).expect("the mix is entitled");
                let decision = decide(&task, &command.actor, named, act, &facts, now);
                let after = decision.after(&task);
                let step = match &decision.verdict {
                    Verdict::Apply(step) => Some(step),
                    Verdict::Already(_) | Verdict::Refused(_) => None,
                };
                if let Some(step) = step {
                    let moved = sqlx::query(
                        "UPDATE task SET state = $3, rider_id = $4, rider_slot = $5, stage = $6, mode = $7, \
                         offer_until = $8, revision = $9, changed_at = $10, changed_by_kind = $11, \
                         changed_by_id = $12 WHERE id = $1 AND revision = $2",
                    )
                    .bind(task.id.0)
                    .bind(task.revision.0)
                    .bind(after.state.name().as_str())
                    .bind(after.state.rider().map(|rider| rider.0))
                    .bind(after.state.held().map(|(_, slot)| i64::from(slot)))
                    .bind(after.state.stage().map(Stage::as_str))
                    .bind(after.state.mode().map(Mode::as_str))
                    .bind(after.state.offer_until().map(|until| until.0))
                    .bind(after.revision.0)
                    .bind(after.changed_at.0)
                    .bind(after.changed_by.kind())
                    .bind(after.changed_by.id())
                    .execute(&mut **tx)
                    .await?
                    .rows_affected();
                    assert_eq!(moved, 1);
                    offers(tx, &task, step.event()).await?;
                }
                let number = number(tx, i64::from(step.is_some())).await?;
                let hash = key_hash(&command.actor.principal(), command.key.as_ref().expect("a key"));
                if let Some(step) = step {
                    event(tx, number.0, step.event(), &hash).await?;
                }
                let mut answer =
                    answer_of(&decision, after, command, staff.as_ref(), &region, number.0, now);
                if !answer.is_success() && named < after.revision {
                    answer.beaten_by = first(tx, id, named, &command.actor).await?;
                }
                store(tx, command, &fingerprint, &hash, &answer, number.1, now).await?;
                Ok(answer)
            }

            /// Who was first.
            async fn first(
                tx: &mut Tx,
                task: TaskId,
                named: Revision,
                reader: &Actor,
            ) -> sqlx::Result<Option<BeatenBy>> {
                let found: Option<(i64, String, String, Option<String>, i64, String)> = sqlx::query_as(
                    "SELECT region_id, action, actor_kind, actor_id, occurred_at, detail FROM dispatch_event \
                     WHERE task_id = $1 AND to_revision = $2",
                )
                .bind(task.0)
                .bind(named.0 + 1)
                .fetch_optional(&mut **tx)
                .await?;
                Ok(found.map(|(region, action, kind, by, at, detail)| {
                    let event = Event {
                        task,
                        region: RegionId(region),
                        from: named,
                        to: named.next(),
                        action: Verb::parse(&action).expect("a verb"),
                        actor: Actor::from_columns(&kind, by.as_deref()).expect("an actor"),
                        at: Timestamp(at),
                        reason: None,
                        rider: None,
                        change: serde_json::from_str(&detail).expect("a change"),
                    };
                    BeatenBy::of(&event, reader)
                }))
            }

            async fn creation(
                tx: &mut Tx,
                command: &Command,
                new: &NewTask,
            ) -> sqlx::Result<Answer> {
                let fingerprint = Fingerprint::of(&command.what);
                if let Some(answer) = known(tx, command, &fingerprint).await? {
                    return Ok(answer);
                }
                let taken: Option<(i64,)> =
                    sqlx::query_as("SELECT id FROM task WHERE source = $1 AND request_key = $2")
                        .bind(source(&command.actor))
                        .bind(command.key.as_ref().expect("a key").as_str())
                        .fetch_optional(&mut **tx)
                        .await?;
                assert_eq!(taken, None, "the mix has no used keys");
                let now = clock(tx).await?;
                let region = region(tx, new.region, now).await?;
                let (id,): (i64,) = sqlx::query_as(
                    "UPDATE task_counter SET number = number + 1 WHERE id = 1 RETURNING number",
                )
                .fetch_one(&mut **tx)
                .await?;
                let created = create(&command.actor, new, TaskId(id), None, Some(&region), now);
                let Ok(Verdict::Apply(created)) = created else { unreachable!("the mix is entitled") };
                let (task, key) = (created.after(), command.key.as_ref().expect("a key").as_str());
                sqlx::query(
                    "INSERT INTO task (id, region_id, source, request_key, fingerprint, state, revision, release_at, \
                     priority, changed_at, changed_by_kind, changed_by_id) \
                     VALUES ($1, $2, $3, $4, $5, 'open', 1, $6, $7, $8, $9, $10)",
                )
                .bind(id)
                .bind(task.region.0)
                .bind(&task.source)
                .bind(key)
                .bind(fingerprint.as_str())
                .bind(task.release_at.0)
                .bind(task.priority)
                .bind(now.0)
                .bind(command.actor.kind())
                .bind(command.actor.id())
                .execute(&mut **tx)
                .await?;
                sqlx::query(
                    "INSERT INTO task_detail (task_id, detail_revision, pickup_lat, pickup_lng, pickup_address, \
                     pickup_name, pickup_phone, dropoff_lat, dropoff_lng, dropoff_address, dropoff_name, \
                     dropoff_phone, ready_at, due_at, fee, note) \
                     VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
                )
                .bind(id)
                .bind(new.pickup.lat)
                .bind(new.pickup.lng)
                .bind(&new.pickup.address)
                .bind(&new.pickup.name)
                .bind(&new.pickup.phone)
                .bind(new.dropoff.lat)
                .bind(new.dropoff.lng)
                .bind(&new.dropoff.address)
                .bind(&new.dropoff.name)
                .bind(&new.dropoff.phone)
                .bind(new.ready_at.map(|at| at.0))
                .bind(new.due_at.map(|at| at.0))
                .bind(new.fee)
                .bind(&new.note)
                .execute(&mut **tx)
                .await?;
                let number = number(tx, 1).await?;
                let hash = key_hash(&command.actor.principal(), command.key.as_ref().expect("a key"));
                event(tx, number.0, created.event(), &hash).await?;
                let role = role(&command.actor, None);
                let (outcome, code, reason, message) = wording(
                    &Verdict::Apply(created.clone()),
                    command.lang,
                );
                let answer = Answer {
                    outcome,
                    code,
                    reason,
                    message,
                    task: Some(TaskView::of(task, &command.actor, now)),
                    event: Some(view(number.0, created.event())),
                    beaten_by: None,
                    legal: legal(task, &command.actor, role, region.policy.mode, now),
                    server_time: now,
                };
                store(tx, command, &fingerprint, &hash, &answer, number.1, now).await?;
                Ok(answer)
            }

            async fn number(tx: &mut Tx, events: i64) -> sqlx::Result<(i64, i64)> {
                sqlx::query_as(
                    "UPDATE event_counter SET number = number + $1, attempt = attempt + 1 WHERE id = 1 \
                     RETURNING number, attempt",
                )
                .bind(events)
                .fetch_one(&mut **tx)
                .await
            }

            async fn offers(tx: &mut Tx, before: &Task, event: &Event) -> sqlx::Result<()> {
                if before.state.offer_until().is_some() {
                    sqlx::query(
                        "UPDATE offer SET answer = $3, answered_at = $4 WHERE task_id = $1 AND revision = $2",
                    )
                    .bind(before.id.0)
                    .bind(before.revision.0)
                    .bind(OfferAnswer::by(event.action).map(OfferAnswer::as_str))
                    .bind(event.at.0)
                    .execute(&mut **tx)
                    .await?;
                }
                if let Change::Offered { until, policy_version, .. } = &event.change {
                    sqlx::query(
                        "INSERT INTO offer (task_id, revision, token, rider_id, offered_at, offer_until, policy_version) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    )
                    .bind(event.task.0)
                    .bind(event.to.0)
                    .bind(token())
                    .bind(event.rider.map(|rider| rider.0))
                    .bind(event.at.0)
                    .bind(until.0)
                    .bind(policy_version)
                    .execute(&mut **tx)
                    .await?;
                }
                Ok(())
            }

            async fn event(tx: &mut Tx, number: i64, event: &Event, hash: &str) -> sqlx::Result<()> {
                let mode = match &event.change {
                    Change::Assigned { mode, .. } => Some(mode.as_str()),
                    _ => None,
                };
                sqlx::query(
                    "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, task_id, from_revision, \
                     to_revision, action, actor_kind, actor_id, rider_id, mode, reason, key_hash, occurred_at, \
                     detail_version, detail) \
                     VALUES ($1, $2, 'task', $3, $4, $3, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 1, $15)",
                )
                .bind(number)
                .bind(token())
                .bind(event.task.0)
                .bind(event.region.0)
                .bind(event.from.0)
                .bind(event.to.0)
                .bind(event.action.as_str())
                .bind(event.actor.kind())
                .bind(event.actor.id())
                .bind(event.rider.map(|rider| rider.0))
                .bind(mode)
                .bind(event.reason.as_ref().map(|reason| reason.as_str().to_owned()))
                .bind(hash)
                .bind(event.at.0)
                .bind(serde_json::to_string(&event.change).expect("text keys"))
                .execute(&mut **tx)
                .await?;
                Ok(())
            }

            async fn store(
                tx: &mut Tx,
                command: &Command,
                fingerprint: &Fingerprint,
                hash: &str,
                answer: &Answer,
                attempt: i64,
                now: Timestamp,
            ) -> sqlx::Result<()> {
                let task = answer.task.as_ref().expect("a task");
                let code = answer.code.as_deref().unwrap_or(answer.outcome.as_str());
                let asked = command.what.task().map(|task| task.0);
                sqlx::query(
                    "INSERT INTO attempt (number, actor_kind, actor_id, key_hash, task_id, verb, code, revision_seen, \
                     at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
                )
                .bind(attempt)
                .bind(command.actor.kind())
                .bind(command.actor.id())
                .bind(hash)
                .bind(asked)
                .bind(command.what.verb().as_str())
                .bind(code)
                .bind(task.revision.0)
                .bind(now.0)
                .execute(&mut **tx)
                .await?;
                let created = answer.status() == 201;
                sqlx::query(
                    "INSERT INTO command_outcome (principal, request_key, fingerprint, status, location, etag, body, \
                     created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                )
                .bind(command.actor.principal())
                .bind(command.key.as_ref().expect("a key").as_str())
                .bind(fingerprint.as_str())
                .bind(i64::from(answer.status()))
                .bind(created.then(|| format!("/api/v1/tasks/{}", task.id.0)))
                .bind(etag(task.revision))
                .bind(serde_json::to_string(answer).expect("text keys"))
                .bind(now.0)
                .execute(&mut **tx)
                .await?;
                Ok(())
            }
        }
    };
}

one_by_one!(
    sqlite,
    sqlx::SqlitePool,
    sqlx::Sqlite,
    "BEGIN IMMEDIATE",
    "",
    "",
    "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)"
);
one_by_one!(
    postgres,
    sqlx::PgPool,
    sqlx::Postgres,
    "BEGIN",
    " FOR NO KEY UPDATE",
    " FOR SHARE",
    "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
);
