//! One request of a scenario, recorded with its answer.

use std::collections::BTreeMap;

use super::{Runner, Stop, cast::players};
use crate::{
    acceptance::{
        product::{self, Known, Names, Place, Request},
        record::{Exchange, Line, Player, Purpose, Received},
        table::Ask,
        wire::{Gate, Sent},
        words::Who,
    },
    domain::{
        answer::TaskView,
        command::Verb,
        id::{Timestamp, rfc3339},
    },
    stand::RiderSeat,
};

/// What the clients of one scenario know.
pub(super) struct Scene {
    pub(super) scenario: String,
    pub(super) round: u32,
    pub(super) cast: BTreeMap<String, RiderSeat>,
    pub(super) players: BTreeMap<String, Player>,
    pub(super) tasks: BTreeMap<String, Known>,
    /// Each task as it was last shown.
    pub(super) seen: BTreeMap<String, TaskView>,
    /// The product's time, as it was last told.
    pub(super) now: Timestamp,
    /// The scenario's names for keys, as they were really written.
    keys: BTreeMap<(Who, String), String>,
}

impl Scene {
    pub(super) fn new(
        scenario: &str,
        round: u32,
        cast: BTreeMap<String, RiderSeat>,
        now: Timestamp,
    ) -> Self {
        Self {
            scenario: scenario.to_owned(),
            round,
            players: players(&cast),
            cast,
            tasks: BTreeMap::new(),
            seen: BTreeMap::new(),
            now,
            keys: BTreeMap::new(),
        }
    }

    /// The revision that whoever has just looked would name.
    pub(super) fn revision(&self, task: &str) -> Option<i64> {
        self.seen.get(task).map(|view| view.revision.0)
    }

    /// The deadline that is next.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.seen.values().filter_map(|view| view.offer_until).min()
    }

    fn learn(&mut self, name: &str, view: &TaskView) {
        if self.seen.get(name).is_none_or(|known| known.revision <= view.revision) {
            self.seen.insert(name.to_owned(), view.clone());
        }
    }

    fn tell_time(&mut self, reply: &Received) {
        let told = reply.server_time.as_deref().and_then(rfc3339::parse);
        self.now = self.now.max(told.unwrap_or(self.now));
    }
}

/// A request that is ready to be sent.
pub(super) struct Ready {
    pub(super) step: usize,
    pub(super) purpose: Purpose,
    pub(super) who: Who,
    pub(super) asks: Vec<Ask>,
    pub(super) request: Request,
    pub(super) key: Option<String>,
    pub(super) lost: bool,
    pub(super) token: Option<String>,
}

impl Runner {
    /// Names of people and tasks for the product.
    pub(super) fn names<'a>(&self, scene: &'a Scene) -> Names<'a> {
        let people = self.troupe.people();
        let place = Place { region: people.region, lat: people.lat, lng: people.lng };
        Names { riders: &scene.players, tasks: &scene.tasks, place, now: scene.now }
    }

    /// The key as it is really written; a name of the scenario always means the same one.
    pub(super) fn key(&mut self, scene: &mut Scene, ask: &Ask) -> Option<String> {
        if !ask.has_key {
            return None;
        }
        self.keys += 1;
        let fresh = format!("{}-{}", self.run, self.keys);
        match &ask.key {
            // The keys of two people are written alike: whether they are kept apart is for the product to show.
            Some(name) => {
                let shared = format!("{}-{}-{}-{name}", self.run, scene.scenario, scene.round);
                scene.keys.insert((ask.who.clone(), name.clone()), shared.clone());
                Some(shared)
            }
            None => Some(fresh),
        }
    }

    /// Makes the request for a command.
    pub(super) fn ready(
        &mut self,
        scene: &mut Scene,
        step: usize,
        purpose: Purpose,
        ask: Ask,
        lost: bool,
    ) -> Ready {
        let key = self.key(scene, &ask);
        let order = key.clone().unwrap_or_default();
        let request = product::command(&self.names(scene), &ask, &order);
        let token = self.token(&scene.cast, &ask.who).map(ToOwned::to_owned);
        Ready { step, purpose, who: ask.who.clone(), asks: vec![ask], request, key, lost, token }
    }

    /// Makes a request without a command.
    pub(super) fn reading(
        &self,
        scene: &Scene,
        step: usize,
        purpose: Purpose,
        who: &Who,
        request: Request,
    ) -> Ready {
        let token = self.token(&scene.cast, who).map(ToOwned::to_owned);
        let (asks, key) = (Vec::new(), None);
        Ready { step, purpose, who: who.clone(), asks, request, key, lost: false, token }
    }

    /// Sends a request, records it with its answer, and learns from the answer what its clients would.
    pub(super) async fn ask(
        &mut self,
        scene: &mut Scene,
        ready: Ready,
    ) -> Result<Option<Received>, Stop> {
        let sent = self.send(&ready, None).await;
        self.keep(scene, ready, sent)
    }

    pub(super) async fn send(&self, ready: &Ready, gate: Option<Gate>) -> Sent {
        let Ready { token, key, request, .. } = ready;
        self.wire.send(token.as_deref(), key.as_deref(), request, gate).await
    }

    /// Records a request that was sent.
    pub(super) fn keep(
        &mut self,
        scene: &mut Scene,
        ready: Ready,
        sent: Sent,
    ) -> Result<Option<Received>, Stop> {
        let Ready { step, purpose, who, asks, request, key, lost, .. } = ready;
        let Sent { reply, began_ns, ended_ns } = sent;
        if let Ok(reply) = &reply {
            scene.tell_time(reply);
            if !lost {
                learn(scene, &asks, &request, reply);
            }
        }
        let failed = reply.as_ref().err().cloned();
        let mut kept = reply.clone().ok();
        if let (Some(kept), Some(token)) =
            (&mut kept, reply.as_ref().ok().and_then(product::tracking))
        {
            kept.body = kept.body.replace(&token, product::HIDDEN);
        }
        self.line(Line::Exchange(Box::new(Exchange {
            scenario: scene.scenario.clone(),
            round: scene.round,
            step,
            purpose,
            who,
            asks,
            method: request.method.to_owned(),
            path: request.kept_path,
            key,
            sent: request.body,
            reply: kept,
            failed,
            lost,
            began_ns,
            ended_ns,
        })))?;
        Ok(reply.ok())
    }
}

/// Takes note of what an answer shows.
fn learn(scene: &mut Scene, asks: &[Ask], request: &Request, reply: &Received) {
    let is_bulk = asks.len() > 1;
    for (ask, told) in asks.iter().zip(product::told_of(asks.len(), is_bulk, reply)) {
        let Some(view) = told.answer.and_then(|answer| answer.task) else { continue };
        if ask.command == Verb::Create {
            let known = Known { id: view.id, tracking: None };
            scene.tasks.entry(ask.task.clone()).or_insert(known);
        }
        scene.learn(&ask.task, &view);
    }
    if asks.is_empty() && request.method == "GET" {
        let Some(view) = product::view(reply) else { return };
        let found = scene.tasks.iter_mut().find(|(_, known)| known.id == view.task.id);
        let Some((name, known)) = found else { return };
        known.tracking = product::tracking(reply).or_else(|| known.tracking.take());
        let name = name.clone();
        scene.learn(&name, &view.task);
    }
}
