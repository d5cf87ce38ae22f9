//! Writing what a batch decided: rows, numbers, events, attempts, answers.

use std::collections::HashMap;

use super::{
    super::{
        Error, Job, Settings,
        reply::Reply,
        world::{Logged, World},
    },
    Batch, Decided, Outcome, rounds,
};
use crate::{
    domain::{
        answer::EventView,
        command::{Actor, Verb},
        decide,
        event::Event,
        fingerprint::hex,
        id::{Revision, RiderId, TaskId},
    },
    fault::{Fault, fail_point, planted},
    store::{self, AttemptRow, Created, EventRow, OutcomeRow, RiderChange, Steps, Tx},
};

pub(super) async fn write(
    tx: &mut Tx,
    world: &World,
    jobs: &[Job],
    mut decided: Vec<Decided>,
    rider_change: Option<(RiderId, &RiderChange, &Actor)>,
    settings: &Settings,
) -> store::Result<Batch> {
    let changed: Vec<_> = world
        .tasks
        .values()
        .filter(|entry| !entry.steps.is_empty())
        .map(|entry| Steps { before: &entry.before, steps: &entry.steps })
        .collect();
    tx.apply(&changed, || token(settings)).await?;
    rounds::end(tx, &changed).await?;
    tx.apply_edits(&world.edits.iter().collect::<Vec<_>>()).await?;
    fail_point!("after-tasks");

    let attempts = attempts(world, jobs, &decided);
    let events =
        i64::try_from(world.log.len()).unwrap_or(i64::MAX) + i64::from(rider_change.is_some());
    let tried = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
    if events == 0 && tried == 0 {
        // Nothing to keep, but answers all the same: replays, and refusals of the expiry's own commands.
        let outcomes = outcomes(&decided, &replies(&decided));
        return Ok(Batch {
            outcomes,
            head: None,
            writes: false,
            offers: false,
            over: over(world),
            stray_events: Vec::new(),
        });
    }
    // From here to the commit the counter is ours alone: as little as possible is left to do.
    let (first_event, first_attempt) = tx.take_numbers(events, tried).await?;
    fail_point!("after-numbers");
    tx.insert_tasks(&created(world, jobs, settings)?).await?;
    let mut rows = number(world, jobs, &mut decided, first_event, settings)?;
    if let Some((rider, change, actor)) = rider_change {
        let detail = serde_json::to_string(change).expect("a change of a rider has only text keys");
        let at = world.now();
        let number = first_event + events - 1;
        let (id, region) = (token(settings)?, world.riders.get(&rider).map(|rider| rider.region));
        rows.push(EventRow::of_rider(number, id, rider, region, actor, at, detail));
    }
    let stray = planted(Fault::EventOutsideTransaction);
    if !stray {
        tx.insert_events(&rows).await?;
    }
    fail_point!("after-events");
    let numbered: Vec<_> = (first_attempt..)
        .zip(attempts)
        .map(|(number, attempt)| AttemptRow { number, ..attempt })
        .collect();
    tx.insert_attempts(&numbered).await?;

    let replies = replies(&decided);
    store_replies(tx, world, jobs, &replies).await?;
    Ok(Batch {
        outcomes: outcomes(&decided, &replies),
        head: (events > 0).then_some(first_event + events - 1),
        writes: true,
        offers: changed.iter().any(|change| change.after().state.offer_until().is_some()),
        over: over(world),
        stray_events: if stray { rows } else { Vec::new() },
    })
}

/// The tasks that are over, whether this batch has ended them or only looked at them.
fn over(world: &World) -> Vec<TaskId> {
    let over = world.tasks.values().filter(|entry| entry.now.is_over());
    over.map(|entry| entry.now.id).collect()
}

/// An unguessable name of 128 bits.
fn token(settings: &Settings) -> store::Result<String> {
    let mut bytes = [0; 16];
    settings.entropy.fill(&mut bytes).map_err(|error| store::Error::Driver(error.into()))?;
    Ok(hex(&bytes))
}

/// One attempt for every job that was decided or denied. Replays are no attempts: nothing was decided.
/// Nor are the expiry's own commands: a timer that comes too late has tried nothing.
fn attempts(world: &World, jobs: &[Job], decided: &[Decided]) -> Vec<AttemptRow> {
    let attempt = |(job, decided): (&Job, &Decided)| {
        let (code, seen, made) = match decided {
            // What a creation has made is what it was about.
            Decided::Draft(draft) => (draft.code.clone(), draft.seen_revision(), draft.task()),
            Decided::Denied(denial) => (denial.as_str().to_owned(), None, None),
            Decided::KeyReused => ("REQUEST_KEY_REUSED".to_owned(), None, None),
            Decided::Replay(_) | Decided::SameAs(_) | Decided::Later => return None,
        };
        let command = &job.command;
        command.key.as_ref()?;
        Some(AttemptRow {
            number: 0,
            actor_kind: command.actor.kind(),
            actor_id: command.actor.id(),
            key_hash: job.key_hash.clone(),
            task: command.what.task().or(made).map(|task| task.0),
            verb: command.what.verb().as_str(),
            code,
            revision_seen: seen.map(|seen| seen.0),
            at: world.now().0,
        })
    };
    jobs.iter().zip(decided).filter_map(attempt).collect()
}

/// The decided creations with their keys.
fn created<'a>(
    world: &'a World,
    jobs: &'a [Job],
    settings: &Settings,
) -> store::Result<Vec<Created<'a>>> {
    let created = |(job, creation): &'a (usize, decide::Creation)| {
        let job = jobs.get(*job)?;
        let (_, request_key) = job.key()?;
        let fingerprint = job.fingerprint.as_str();
        Some(token(settings).map(|tracking_token| Created {
            creation,
            request_key,
            fingerprint,
            tracking_token,
        }))
    };
    world.creations.iter().filter_map(created).collect()
}

/// Gives every decided change its number, in the log and in its answer.
fn number(
    world: &World,
    jobs: &[Job],
    decided: &mut [Decided],
    first: i64,
    settings: &Settings,
) -> store::Result<Vec<EventRow>> {
    let mut rows = Vec::with_capacity(world.log.len());
    for (number, (job, logged)) in (first..).zip(&world.log) {
        let key_hash = job.and_then(|job| jobs.get(job)).and_then(|job| job.key_hash.clone());
        let event_id = token(settings)?;
        let (row, event) = match logged {
            Logged::Step(task, step) => {
                let event = world.tasks[task].steps[*step].event();
                (EventRow::of_task(number, event_id, event, key_hash), view(number, event))
            }
            Logged::Creation(creation) => {
                let event = world.creations[*creation].1.event();
                (EventRow::of_task(number, event_id, event, key_hash), view(number, event))
            }
            Logged::Edit(edit) => {
                let event = world.edits[*edit].event();
                let view = EventView {
                    number,
                    action: Verb::Edit,
                    from_revision: Revision(event.to.0 - 1),
                    to_revision: event.to,
                    occurred_at: event.at,
                };
                (EventRow::of_detail(number, event_id, event, key_hash), view)
            }
        };
        if let Some(Decided::Draft(draft)) = job.and_then(|job| decided.get_mut(job)) {
            draft.number(event);
        }
        rows.push(row);
    }
    Ok(rows)
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

async fn store_replies(
    tx: &mut Tx,
    world: &World,
    jobs: &[Job],
    replies: &HashMap<usize, Reply>,
) -> store::Result<()> {
    let row = |(index, job): (usize, &'_ Job)| {
        let reply = replies.get(&index)?;
        job.key()?;
        Some((index, reply))
    };
    let stored: Vec<_> = jobs.iter().enumerate().filter_map(row).collect();
    let rows: Vec<_> = stored
        .iter()
        .filter_map(|(index, reply)| {
            let job = jobs.get(*index)?;
            let (principal, request_key) = job.key()?;
            Some(OutcomeRow {
                principal,
                request_key,
                fingerprint: job.fingerprint.as_str(),
                status: reply.status,
                location: reply.location.as_deref(),
                etag: reply.etag.as_deref(),
                body: &reply.body,
                at: world.now().0,
            })
        })
        .collect();
    tx.insert_outcomes(&rows).await
}

/// The answers to what was decided, by the place of the job.
fn replies(decided: &[Decided]) -> HashMap<usize, Reply> {
    let reply = |(index, decided): (usize, &Decided)| match decided {
        Decided::Draft(draft) => Some((index, draft.reply())),
        _ => None,
    };
    decided.iter().enumerate().filter_map(reply).collect()
}

fn outcomes(decided: &[Decided], replies: &HashMap<usize, Reply>) -> Vec<Outcome> {
    let outcome = |(index, decided): (usize, &Decided)| match decided {
        Decided::Denied(denial) => Outcome::Error(Error::Denied(*denial)),
        Decided::KeyReused => Outcome::Error(Error::KeyReused),
        Decided::Replay(reply) => Outcome::Reply(reply.clone()),
        Decided::Later => Outcome::Later,
        Decided::SameAs(first) => match replies.get(first) {
            Some(reply) => Outcome::Reply(Reply { replayed: true, ..reply.clone() }),
            None => Outcome::Later,
        },
        Decided::Draft(_) => match replies.get(&index) {
            Some(reply) => Outcome::Reply(reply.clone()),
            None => Outcome::Error(Error::Faulty),
        },
    };
    decided.iter().enumerate().map(outcome).collect()
}
