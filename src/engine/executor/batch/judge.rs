//! The decision on each job of a batch, in order, against the working set.

use std::collections::{BTreeSet, HashMap};

use super::{
    super::{
        Job,
        reply::{Draft, Reply},
        world::{Prior, World},
    },
    Decided,
};
use crate::{
    domain::{
        answer::role,
        command::{Act, Actor, DetailChanges, NewTask, Verb, What},
        decide::{
            self, Already, Denial, Repeat, Verdict, create, decide, edit, offer_seconds, right,
        },
        event::Event,
        fingerprint::Fingerprint,
        id::{Revision, TaskId, Timestamp},
        legal::legal,
        policy::{Region, RegionMode},
        task::Task,
    },
    fault::{Fault, planted},
    store::{self, Tx},
};

pub(super) fn decide_job(world: &mut World, index: usize, job: &Job) -> Decided {
    match &job.command.what {
        What::Create(new) => decide_creation(world, index, job, new),
        What::Change { task, revision, act } => {
            decide_change(world, index, job, *task, *revision, act)
        }
        What::Edit { task, detail_revision, changes } => {
            decide_edit(world, index, job, *task, *detail_revision, changes)
        }
    }
}

/// The repeat of a used key, if it is one; else the key is this job's.
fn repeated(world: &mut World, index: usize, job: &Job, scope: &str) -> Option<Decided> {
    let (_, key) = job.key()?;
    let slot = (scope.to_owned(), key.to_owned());
    match world.prior.get(&slot) {
        None => {
            world.prior.insert(slot, Prior::Job(index, job.fingerprint.clone()));
            None
        }
        Some(Prior::Stored(stored)) => {
            let prior = Fingerprint::stored(stored.fingerprint.clone());
            Some(match decide::repeat(Some(&prior), &job.fingerprint) {
                Some(Repeat::KeyReused) => Decided::KeyReused,
                Some(Repeat::Replay) | None => Decided::Replay(Reply::stored(stored, true)),
            })
        }
        Some(Prior::Job(first, prior)) => {
            Some(match decide::repeat(Some(prior), &job.fingerprint) {
                Some(Repeat::KeyReused) => Decided::KeyReused,
                Some(Repeat::Replay) | None => Decided::SameAs(*first),
            })
        }
    }
}

fn decide_change(
    world: &mut World,
    index: usize,
    job: &Job,
    id: TaskId,
    named: Revision,
    act: &Act,
) -> Decided {
    if world.held_elsewhere.contains(&id) {
        return Decided::Later;
    }
    let actor = &job.command.actor;
    let within_limits = {
        let entry = world.tasks.get(&id);
        let Some((entry, region)) =
            entry.and_then(|entry| Some((entry, world.regions.get(&entry.now.region)?)))
        else {
            return Decided::Denied(Denial::NotFound);
        };
        let facts = world.facts(&entry.now, actor, job.command.rider(), region);
        if let Err(denial) = right(Some(&entry.now), actor, act.verb(), &facts) {
            return Decided::Denied(denial);
        }
        offer_seconds(act, &facts)
    };
    if let Some(repeat) = repeated(world, index, job, &job.principal) {
        return repeat;
    }
    // After the repeat: an offer that was made under earlier limits keeps its answer. Nothing is stored for
    // this one, so its key stays free.
    if let Err(denial) = within_limits {
        if let Some((principal, key)) = job.key() {
            world.prior.remove(&(principal.to_owned(), key.to_owned()));
        }
        return Decided::Denied(denial);
    }
    let now = world.now();
    let (decision, mode) = {
        let entry = &world.tasks[&id];
        let region = &world.regions[&entry.now.region];
        let facts = world.facts(&entry.now, actor, job.command.rider(), region);
        let now = if planted(Fault::AcceptAfterDeadline) && act.verb() == Verb::Accept {
            entry.now.changed_at
        } else {
            now
        };
        (decide(&entry.now, actor, named, act, &facts, now), region.policy.mode)
    };
    if let Some(lapse) = decision.lapse {
        world.take(None, *lapse);
    }
    let verdict = decision.verdict;
    if let Verdict::Apply(step) = &verdict {
        world.take(Some(index), step.as_ref().clone());
    }
    Decided::Draft(Box::new(draft(world, job, &verdict, id, named, mode)))
}

fn draft<T>(
    world: &World,
    job: &Job,
    verdict: &Verdict<T>,
    task: TaskId,
    named: Revision,
    mode: RegionMode,
) -> Draft {
    let (now, actor) = (world.now(), &job.command.actor);
    let task = world.tasks.get(&task).map(|entry| &entry.now);
    let legal = task.map(|task| legal_for(world, task, actor, mode, now)).unwrap_or_default();
    Draft::new(verdict, task, Some(named), legal, actor, job.command.lang, now)
}

fn legal_for(
    world: &World,
    task: &Task,
    actor: &Actor,
    mode: RegionMode,
    now: Timestamp,
) -> Vec<Verb> {
    let staff = world.acting_staff(actor).map(|staff| staff.role);
    legal(task, actor, role(actor, staff), mode, now)
}

fn decide_creation(world: &mut World, index: usize, job: &Job, new: &NewTask) -> Decided {
    let actor = &job.command.actor;
    let region = world.regions.get(&new.region).cloned();
    let staff = world.acting_staff(actor).cloned();
    let id = TaskId(world.next_task);
    let created = match create(actor, new, id, staff.as_ref(), region.as_ref(), world.now()) {
        Ok(created) => created,
        Err(denial) => return Decided::Denied(denial),
    };
    let key = job.key().map(|(_, key)| key.to_owned()).unwrap_or_default();
    let existing = world.created.get(&(decide::source(actor), key.clone())).cloned();
    let is_stored =
        matches!(world.prior.get(&(job.principal.clone(), key)), Some(Prior::Stored(_)));
    if let Some((_, fingerprint)) = &existing
        && !is_stored
        && *fingerprint != job.fingerprint.as_str()
    {
        return Decided::KeyReused;
    }
    if let Some(repeat) = repeated(world, index, job, &job.principal) {
        return repeat;
    }
    if let Some((task, _)) = existing {
        // The stored answer has expired; the task itself still answers for its key.
        if world.held_elsewhere.contains(&task) {
            return Decided::Later;
        }
        let mode = region.map_or(RegionMode::Reserve, |region| region.policy.mode);
        let already: Verdict = Verdict::Already(Already::Done);
        return Decided::Draft(Box::new(draft(
            world,
            job,
            &already,
            task,
            Revision::NONE.next(),
            mode,
        )));
    }
    let after = match &created {
        Verdict::Apply(creation) => Some(creation.after().clone()),
        Verdict::Already(_) | Verdict::Refused(_) => None,
    };
    let legal = legal_of_creation(world, after.as_ref(), actor, region.as_ref());
    let (lang, now) = (job.command.lang, world.now());
    let draft = Draft::new(&created, after.as_ref(), None, legal, actor, lang, now);
    if let Verdict::Apply(creation) = created {
        world.take_creation(index, *creation);
    }
    Decided::Draft(Box::new(draft))
}

fn legal_of_creation(
    world: &World,
    task: Option<&Task>,
    actor: &Actor,
    region: Option<&Region>,
) -> Vec<Verb> {
    let mode = region.map_or(RegionMode::Reserve, |region| region.policy.mode);
    task.map(|task| legal_for(world, task, actor, mode, world.now())).unwrap_or_default()
}

fn decide_edit(
    world: &mut World,
    index: usize,
    job: &Job,
    id: TaskId,
    named: Revision,
    changes: &DetailChanges,
) -> Decided {
    if world.held_elsewhere.contains(&id) {
        return Decided::Later;
    }
    let actor = &job.command.actor;
    let mode = {
        let entry = world.tasks.get(&id);
        let Some((entry, region)) =
            entry.and_then(|entry| Some((entry, world.regions.get(&entry.now.region)?)))
        else {
            return Decided::Denied(Denial::NotFound);
        };
        let facts = world.facts(&entry.now, actor, None, region);
        if let Err(denial) = right(Some(&entry.now), actor, Verb::Edit, &facts) {
            return Decided::Denied(denial);
        }
        region.policy.mode
    };
    if let Some(repeat) = repeated(world, index, job, &job.principal) {
        return repeat;
    }
    let now = world.now();
    let entry = &world.tasks[&id];
    let verdict = edit(&entry.now, entry.detail_revision, named, actor, changes, now);
    if let Verdict::Apply(edit) = &verdict {
        world.take_edit(index, edit.as_ref().clone());
    }
    // An edit names a detail revision, so it has no place in the line of the task's own revisions.
    let revision = world.tasks[&id].now.revision;
    Decided::Draft(Box::new(draft(world, job, &verdict, id, revision, mode)))
}

/// Finds, for every refusal of an old revision, the change that was first.
pub(super) async fn name_the_first(
    tx: &mut Tx,
    world: &World,
    decided: &mut [Decided],
) -> store::Result<()> {
    let in_batch = |task: TaskId, named: Revision| {
        let steps = world.tasks.get(&task).map_or(&[][..], |entry| entry.steps.as_slice());
        steps.iter().map(decide::Transition::event).find(|event| event.from == named)
    };
    let mut unknown = BTreeSet::new();
    for decided in decided.iter_mut() {
        let Decided::Draft(draft) = decided else { continue };
        let Some((task, named)) = draft.beaten_after else { continue };
        match in_batch(task, named) {
            Some(event) => draft.beaten_by(event),
            None => {
                unknown.insert((task, named));
            }
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let unknown: Vec<_> = unknown.into_iter().collect();
    let mut first: HashMap<(TaskId, Revision), Event> = HashMap::new();
    for logged in tx.following(&unknown).await? {
        if let Some(event) = logged.task_event()? {
            first.insert((event.task, event.from), event);
        }
    }
    for decided in decided.iter_mut() {
        let Decided::Draft(draft) = decided else { continue };
        if let Some(event) = draft.beaten_after.and_then(|place| first.get(&place)) {
            draft.beaten_by(event);
        }
    }
    Ok(())
}
