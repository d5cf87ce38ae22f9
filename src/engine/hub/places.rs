//! How many read at once, and who they are: per session, per person, in all.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

use super::{
    Reader,
    rights::{Rights, Way},
    told::Why,
};
use crate::domain::actor::Actor;

/// Whose rights are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose<'a> {
    /// Everybody's.
    All,
    /// Those of these people.
    These(&'a HashSet<Actor>),
    /// Those of one part of the readers, of [`PARTS`]: so that thousands are not asked about at once.
    Part(u64),
}

/// Into how many parts readers are divided when they are looked after.
pub(super) const PARTS: u32 = 10;

impl Whose<'_> {
    fn includes(self, reader: &Reader) -> bool {
        match self {
            Self::All => true,
            Self::These(people) => people.contains(&reader.actor),
            Self::Part(part) => {
                let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&reader.way);
                hash % u64::from(PARTS) == part
            }
        }
    }
}

/// How many may read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// On this node.
    pub node: usize,
    /// By one person, or by one customer's link.
    pub person: usize,
    /// In one session, or by one token.
    pub session: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { node: 5_000, person: 16, session: 4 }
    }
}

/// As many read as may: which cap it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// Of the session or token.
    Session,
    /// Of the person.
    Person,
    /// Of the node.
    Node,
    /// The server stops.
    Stopping,
}

/// How many read, and what became of those who did, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Streams that are open.
    pub open: usize,
    /// Streams that were opened.
    pub opened: u64,
    /// Streams that were turned away, for as many were open as may be.
    pub turned_away: u64,
    /// Times that a reader was so far behind that it read the log by itself.
    pub lagged: u64,
    /// Readers who were told to read everything anew.
    pub resets: u64,
    /// Streams that were ended, for their readers may not read any more.
    pub revoked: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    opened: AtomicU64,
    turned_away: AtomicU64,
    pub(super) lagged: AtomicU64,
    pub(super) resets: AtomicU64,
    revoked: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// One who reads.
#[derive(Debug)]
struct Entry {
    reader: Reader,
    /// What they could read when they began; none before that was looked up.
    rights: Option<Rights>,
    end: watch::Sender<Option<Why>>,
}

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    readers: BTreeMap<u64, Entry>,
    by_way: HashMap<Way, usize>,
    by_person: HashMap<Actor, usize>,
    stopping: bool,
}

/// All who read.
#[derive(Debug)]
pub(super) struct Places {
    caps: Caps,
    taken: Arc<Mutex<Taken>>,
    pub(super) counters: Counters,
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

fn leave<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        // Whoever has gone takes up no memory.
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// The place of one reader, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    id: u64,
    taken: Arc<Mutex<Taken>>,
    /// Set once the stream is to end.
    pub(super) end: watch::Receiver<Option<Why>>,
}

impl Place {
    /// Keeps what the reader may read now, to be held against what they may read later.
    pub(super) fn note(&self, rights: &Rights) {
        if let Some(entry) = lock(&self.taken).readers.get_mut(&self.id) {
            entry.rights = Some(rights.clone());
        }
    }

    /// A number of its own.
    pub(super) const fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        if let Some(entry) = taken.readers.remove(&self.id) {
            leave(&mut taken.by_way, &entry.reader.way);
            leave(&mut taken.by_person, &entry.reader.actor);
        }
    }
}

impl Places {
    pub(super) fn new(caps: Caps) -> Self {
        Self { caps, taken: Arc::default(), counters: Counters::default() }
    }

    /// A place for one more reader.
    pub(super) fn take(&self, reader: &Reader) -> Result<Place, Full> {
        let mut taken = lock(&self.taken);
        let of_way = taken.by_way.get(&reader.way).copied().unwrap_or_default();
        let of_person = taken.by_person.get(&reader.actor).copied().unwrap_or_default();
        let full = match () {
            () if taken.stopping => Some(Full::Stopping),
            () if of_way >= self.caps.session => Some(Full::Session),
            () if of_person >= self.caps.person => Some(Full::Person),
            () if taken.readers.len() >= self.caps.node => Some(Full::Node),
            () => None,
        };
        if let Some(full) = full {
            count(&self.counters.turned_away);
            return Err(full);
        }
        count(&self.counters.opened);
        *taken.by_way.entry(reader.way.clone()).or_default() += 1;
        *taken.by_person.entry(reader.actor.clone()).or_default() += 1;
        let id = taken.next;
        taken.next += 1;
        let (end, ended) = watch::channel(None);
        taken.readers.insert(id, Entry { reader: reader.clone(), rights: None, end });
        drop(taken);
        Ok(Place { id, taken: Arc::clone(&self.taken), end: ended })
    }

    /// By what those came in whose rights are to be looked at.
    pub(super) fn ways(&self, whose: Whose<'_>) -> HashSet<Way> {
        let taken = lock(&self.taken);
        let concerned = taken.readers.values().filter(|entry| whose.includes(&entry.reader));
        concerned.map(|entry| entry.reader.way.clone()).collect()
    }

    /// Ends the streams of those of `ways` who may not read what they could: their rights are others `now`, or none.
    pub(super) fn hold_against(&self, ways: &HashSet<Way>, now: &HashMap<&Way, Rights>) {
        let taken = lock(&self.taken);
        for entry in taken.readers.values().filter(|entry| ways.contains(&entry.reader.way)) {
            let Some(then) = &entry.rights else { continue };
            if now.get(&entry.reader.way) != Some(then) && entry.end.borrow().is_none() {
                count(&self.counters.revoked);
                entry.end.send_replace(Some(Why::Rights));
            }
        }
    }

    /// Ends all streams, and lets nobody in any more.
    pub(super) fn end_all(&self, why: Why) {
        let mut taken = lock(&self.taken);
        taken.stopping = true;
        for entry in taken.readers.values() {
            entry.end.send_replace(Some(why));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.taken).readers.is_empty()
    }

    pub(super) fn figures(&self) -> Figures {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Figures {
            open: lock(&self.taken).readers.len(),
            opened: get(&self.counters.opened),
            turned_away: get(&self.counters.turned_away),
            lagged: get(&self.counters.lagged),
            resets: get(&self.counters.resets),
            revoked: get(&self.counters.revoked),
        }
    }
}
