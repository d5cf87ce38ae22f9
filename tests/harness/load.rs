//! Mixed load on nodes that may die at any moment, and what must be true of it afterwards.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dispatch_desk::domain::{
    command::{Act, Actor, Command, What},
    id::{Revision, TaskId},
    refusal::Lang,
};

use super::{
    cast::{CANCEL, D1, D2, DECLINE, GRAB, RIDERS, offer, order, rider, shop},
    node::Node,
    record::{Came, Recorder, Returned, Sent, now_ns},
};

/// A task as the clients last saw it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    task: TaskId,
    revision: Revision,
    rider: Option<i64>,
}

/// Clients that create, offer, accept, decline, grab and cancel, on the same few tasks.
#[derive(Debug, Default)]
pub struct Load {
    pub recorder: Recorder,
    seen: Mutex<Vec<Seen>>,
    stopped: AtomicBool,
    notes: Option<String>,
}

impl Load {
    /// A load whose new tasks carry a note of that many bytes.
    pub fn heavy(bytes: usize) -> Self {
        Self { notes: Some("n".repeat(bytes)), ..Self::default() }
    }

    /// Starts `clients` clients, by turns on `nodes`. Each ends when its node dies, or when told to.
    pub fn start(self: &Arc<Self>, nodes: &[Node], clients: usize) -> tokio::task::JoinSet<()> {
        self.stopped.store(false, Ordering::SeqCst);
        let mut set = tokio::task::JoinSet::new();
        for client in 0..clients {
            let (load, node) = (Arc::clone(self), nodes[client % nodes.len()].clone());
            set.spawn(async move {
                while !load.stopped.load(Ordering::SeqCst) {
                    if load.once(&node).await.came == Came::Nothing {
                        return;
                    }
                }
            });
        }
        set
    }

    /// Tells the clients to end after what they are at.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// One command of one client.
    pub async fn once(&self, node: &Node) -> Sent {
        let command = self.next();
        let invoked = now_ns();
        let came = node.execute(command.clone()).await;
        self.learn(&command, &came);
        self.recorder.note(command, invoked, now_ns(), came)
    }

    /// Returns once `count` commands from the `from`-th on were answered.
    pub async fn until_answered(&self, from: usize, count: usize) {
        let answered = || {
            let sent = self.recorder.sent();
            sent[from..].iter().filter(|sent| matches!(sent.came, Came::Back(_))).count()
        };
        while answered() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn next(&self) -> Command {
        let (actor, what) = self.choose();
        Command { actor, key: Some(self.recorder.fresh_key()), lang: Lang::En, what }
    }

    fn choose(&self) -> (Actor, What) {
        let seen = self.seen.lock().expect("never poisoned");
        // The newest tasks alone, so that the clients meet.
        let recent = &seen[seen.len().saturating_sub(40)..];
        let roll = rand::random_range(0..100);
        if recent.is_empty() || roll < 25 {
            let mut new = order();
            new.note = self.notes.clone().or(new.note);
            return (shop(), What::Create(Box::new(new)));
        }
        let Seen { task, revision, rider: holder } = recent[rand::random_range(0..recent.len())];
        let anyone = rand::random_range(1..=RIDERS);
        let holder = rider(holder.unwrap_or(anyone));
        let (actor, act) = match roll {
            25..50 => (D1, offer(anyone)),
            50..70 => (holder, Act::Accept),
            70..75 => (holder, DECLINE),
            75..90 => (rider(anyone), GRAB),
            _ => (D2, CANCEL),
        };
        (actor, What::Change { task, revision, act })
    }

    fn learn(&self, command: &Command, came: &Came) {
        let Came::Back(returned) = came else { return };
        let Some(view) = returned.answer().task else { return };
        let mut all = self.seen.lock().expect("never poisoned");
        let by_staff = matches!(command.actor, Actor::Staff(_));
        let holder = view.rider_id.map(|rider| rider.0);
        match all.iter_mut().rev().find(|seen| seen.task == view.id) {
            None => all.push(Seen { task: view.id, revision: view.revision, rider: holder }),
            Some(seen) if view.revision >= seen.revision => {
                seen.revision = view.revision;
                seen.rider = if by_staff { holder } else { holder.or(seen.rider) };
            }
            Some(_) => {}
        }
    }

    /// Sends everything again that was sent since the `from`-th command, each under its own key: what was answered
    /// must be answered byte for byte alike, and what is unknown must be decided now.
    pub async fn settle(&self, node: &Node, from: usize) -> Settled {
        let mut settled = Settled::default();
        let sent: Vec<_> = self.recorder.sent().split_off(from);
        for some in sent.chunks(128) {
            let again = some.iter().map(|sent| async {
                let invoked = now_ns();
                let came = node.execute(sent.command.clone()).await;
                (invoked, now_ns(), came)
            });
            let again = futures_util::future::join_all(again).await;
            for (sent, (invoked, returned, came)) in some.iter().zip(again) {
                settled.count(sent, &came);
                self.recorder.note(sent.command.clone(), invoked, returned, came);
            }
        }
        settled
    }
}

/// What sending everything again has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Commands that were answered, and are still answered so.
    pub acknowledged: usize,
    /// Commands that got no answer, and had been done all the same.
    pub had_counted: usize,
    /// Commands that got no answer, and had not been done.
    pub had_not: usize,
}

impl Settled {
    #[track_caller]
    fn count(&mut self, sent: &Sent, again: &Came) {
        match (&sent.came, again) {
            (Came::Back(first), again) => {
                let same = Came::Back(Returned { replayed: true, ..first.clone() });
                assert_eq!(again, &same, "an acknowledged command was lost: {sent:?}");
                self.acknowledged += 1;
            }
            (Came::Nothing | Came::Error(_), Came::Back(decided)) => {
                self.had_counted += usize::from(decided.replayed);
                self.had_not += usize::from(!decided.replayed);
            }
            (first, again) => panic!("{first:?} is not decided but {again:?}: {:?}", sent.command),
        }
    }

    /// Adds up.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            acknowledged: self.acknowledged + other.acknowledged,
            had_counted: self.had_counted + other.had_counted,
            had_not: self.had_not + other.had_not,
        }
    }
}
