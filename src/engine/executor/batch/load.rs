//! What a batch locks and loads, in the one order: staff, regions, riders, tasks, each sorted; then the facts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{
    Job,
    world::{Entry, Prior, World},
};
use crate::{
    domain::{
        command::{Act, Actor, Verb, What},
        decide,
        id::{RiderId, TaskId, Timestamp},
        task::State,
        ticket::TicketKey,
    },
    engine::positions::Positions,
    fault::{Fault, planted},
    store::{self, RiderChange, Tx},
};

/// Locks in the one order (staff, regions, riders, tasks, each sorted), then loads the facts.
pub(super) async fn load(
    tx: &mut Tx,
    jobs: &[Job],
    rider_change: Option<(RiderId, &RiderChange, &Actor)>,
    key: &TicketKey,
    positions: &Positions,
) -> store::Result<World> {
    let (mut staff, mut regions) = (BTreeSet::new(), BTreeSet::new());
    let (mut riders, mut tasks) = (BTreeSet::new(), BTreeSet::new());
    for job in jobs {
        if let Actor::Staff(id) = &job.command.actor {
            staff.insert(*id);
        }
        riders.extend(job.command.actor.rider());
        riders.extend(job.command.rider());
        tasks.extend(job.command.what.task());
        if let What::Create(new) = &job.command.what {
            regions.insert(new.region);
        }
    }
    riders.extend(rider_change.map(|(rider, ..)| rider));
    let all = |set: &BTreeSet<TaskId>| set.iter().copied().collect::<Vec<_>>();
    let wanted = all(&tasks);

    let staff = tx.lock_staff(&staff.into_iter().collect::<Vec<_>>()).await?;
    let locked = tx.lock_regions(&wanted, &regions.into_iter().collect::<Vec<_>>()).await?;
    let riders: Vec<_> = riders.into_iter().collect();
    if let Some((rider, change, _)) = rider_change {
        tx.lock_riders(&riders).await?;
        tx.change_rider(rider, change).await?;
    }
    let mut riders = tx.lock_riders(&riders).await?;
    let found = tx.lock_tasks(&wanted).await?;
    let now = tx.now().await?;
    let regions = tx.policies(locked, now).await?;
    tx.load_places(&mut riders).await?;
    if regions.iter().any(|region| region.policy.position_max_age_ms.is_some()) {
        tx.load_fixes(&mut riders).await?;
        for rider in &mut riders {
            // What riders have sent counts from then on, not from when it is written.
            rider.last_fix_at = rider.last_fix_at.max(positions.seen_at(rider.id));
        }
    }

    let mut world = World {
        now: Some(now),
        staff: staff.into_iter().map(|staff| (staff.id, staff)).collect(),
        regions: regions.into_iter().map(|region| (region.id, region)).collect(),
        riders: riders.into_iter().map(|rider| (rider.id, rider)).collect(),
        ..World::default()
    };
    for task in found {
        tasks.remove(&task.id);
        world.tasks.insert(task.id, Entry::new(task));
    }
    if !tasks.is_empty() {
        world.held_elsewhere = tx.existing(&all(&tasks)).await?.into_iter().collect();
    }
    load_keys(tx, &mut world, jobs).await?;
    load_offers_and_rounds(tx, &mut world, jobs, key).await?;
    load_rest(tx, &mut world, jobs).await?;
    Ok(world)
}

/// What is known of the jobs' keys.
async fn load_keys(tx: &mut Tx, world: &mut World, jobs: &[Job]) -> store::Result<()> {
    let keys: Vec<_> = jobs.iter().filter_map(Job::key).collect();
    let creations: Vec<_> = jobs
        .iter()
        .filter(|job| matches!(job.command.what, What::Create(_)))
        .filter_map(|job| Some((decide::source(&job.command.actor), job.key()?.1)))
        .collect();
    if !creations.is_empty() {
        for created in tx.created(&creations).await? {
            let key = (created.source, created.request_key);
            world.created.insert(key, (TaskId(created.id), created.fingerprint));
        }
    }
    if !planted(Fault::KeyIgnored) {
        for stored in tx.outcomes(&keys).await? {
            let key = (stored.principal.clone(), stored.request_key.clone());
            world.prior.insert(key, Prior::Stored(stored));
        }
    }
    load_forgotten(tx, world, jobs).await
}

/// Creations whose stored answer has expired are answered by their tasks, as they stand now.
async fn load_forgotten(tx: &mut Tx, world: &mut World, jobs: &[Job]) -> store::Result<()> {
    let forgotten = |job: &Job| {
        let What::Create(_) = job.command.what else { return None };
        let (principal, key) = job.key()?;
        let source = decide::source(&job.command.actor);
        let (task, fingerprint) = world.created.get(&(source, key.to_owned()))?;
        let stored = world.prior.contains_key(&(principal.to_owned(), key.to_owned()));
        let known = world.tasks.contains_key(task) || world.held_elsewhere.contains(task);
        (!stored && !known && *fingerprint == job.fingerprint.as_str()).then_some(*task)
    };
    let mut forgotten: BTreeSet<_> = jobs.iter().filter_map(forgotten).collect();
    if forgotten.is_empty() {
        return Ok(());
    }
    let wanted: Vec<_> = forgotten.iter().copied().collect();
    for task in tx.lock_tasks(&wanted).await? {
        forgotten.remove(&task.id);
        world.tasks.insert(task.id, Entry::new(task));
    }
    world.held_elsewhere.extend(forgotten);
    Ok(())
}

/// The fate of riders' own offers, where the task does not say it all; and the rounds that grabs run into, and offers belong to.
async fn load_offers_and_rounds(
    tx: &mut Tx,
    world: &mut World,
    jobs: &[Job],
    key: &TicketKey,
) -> store::Result<()> {
    let (mut answered, mut grabbed, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for job in jobs {
        let What::Change { task, revision, act } = &job.command.what else { continue };
        if let Act::Offer { rider, round: Some(_), .. } = act {
            alone.push((*task, *rider));
        }
        let (Some(rider), Some(entry)) = (job.command.actor.rider(), world.tasks.get(task)) else {
            continue;
        };
        match act.verb() {
            Verb::Accept | Verb::Decline => {
                let waits = matches!(entry.before.state, State::Offered { .. })
                    && entry.before.state.is_held_by(rider);
                if !waits || *revision != entry.before.revision {
                    answered.push((*task, rider));
                }
            }
            Verb::Grab => grabbed.push((*task, rider)),
            _ => {}
        }
    }
    if !answered.is_empty() {
        answered.sort_unstable();
        answered.dedup();
        for (task, rider, offer) in tx.own_offers(&answered).await? {
            // A waiting offer is known from the task itself.
            if offer.answer.is_some() {
                world.own_offers.entry((task, rider)).or_default().push(offer);
            }
        }
    }
    if !grabbed.is_empty() {
        let now = world.now();
        for member in tx.running_rounds(&grabbed).await? {
            world.rounds.insert((member.task, member.rider), member.running(key, now));
        }
    }
    if !alone.is_empty() {
        for (task, rider, round) in tx.exclusive_rounds(&alone).await? {
            world.alone.insert((task, rider), round);
        }
    }
    Ok(())
}

/// What only some commands need: detail revisions, counts of hand-backs, task numbers.
async fn load_rest(tx: &mut Tx, world: &mut World, jobs: &[Job]) -> store::Result<()> {
    let edited: Vec<_> = jobs
        .iter()
        .filter(|job| matches!(job.command.what, What::Edit { .. }))
        .filter_map(|job| job.command.what.task())
        .collect();
    if !edited.is_empty() {
        for (task, revision) in tx.detail_revisions(&edited).await? {
            if let Some(entry) = world.tasks.get_mut(&task) {
                entry.detail_revision = revision;
            }
        }
    }
    let now = world.now();
    let mut returned: BTreeMap<Timestamp, BTreeSet<RiderId>> = BTreeMap::new();
    let days =
        jobs.iter().filter(|job| job.command.what.verb() == Verb::HandBack).filter_map(|job| {
            let task = world.tasks.get(&job.command.what.task()?)?;
            let region = world.regions.get(&task.before.region)?;
            Some((region.day_start(now), job.command.actor.rider()?))
        });
    for (day, rider) in days {
        returned.entry(day).or_default().insert(rider);
    }
    // One statement for each midnight, and there are as many as time zones.
    for (day, riders) in returned {
        let since: Vec<_> = riders.into_iter().map(|rider| (rider, day)).collect();
        for (rider, count) in tx.hand_backs(&since).await? {
            world.hand_backs.insert((rider, day), count);
        }
    }
    let creations = jobs.iter().filter(|job| job.command.what.verb() == Verb::Create).count();
    if creations > 0 {
        let count = i64::try_from(creations).unwrap_or(i64::MAX);
        world.next_task = tx.take_task_numbers(count).await?;
    }
    Ok(())
}
