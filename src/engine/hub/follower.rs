//! One reader: where it stands, and what it is told next.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};

use super::{
    Hub, PHASES, Pace, Reader,
    places::{Full, Place, count},
    rights::Rights,
    sight::Batch,
    told::{Cursor, Pulse, Seen, Told, Why, WhyReset},
};
use crate::{
    domain::id::TaskId,
    store::{self, Tx},
};

/// How many events a follower that is behind reads at a time.
const PAGE: i64 = 500;
/// A board that is further behind is read anew: that is less than all that happened.
const BOARD_REACHES: i64 = 10_000;
/// A board is told the names of so many tasks; if more have changed, that many have.
const MOST_TASKS: usize = 200;

/// What has gathered since a reader was last told of it.
#[derive(Debug, Default)]
struct Gathered {
    tasks: BTreeSet<TaskId>,
    others: bool,
    actions: BTreeSet<String>,
    /// Whether the tasks to grab are not the same any more.
    pool: bool,
}

impl Gathered {
    fn is_empty(&self) -> bool {
        self.tasks.is_empty() && !self.others && !self.pool
    }
}

/// One reader who follows the log. Dropped, it gives its place back.
#[derive(Debug)]
pub struct Follower {
    hub: Hub,
    reader: Reader,
    place: Place,
    batches: broadcast::Receiver<Arc<Batch>>,
    pulses: watch::Receiver<Pulse>,
    rights: Option<Rights>,
    cursor: Option<Cursor>,
    /// Up to which number it has looked.
    seen: i64,
    /// Up to which number it was told.
    told: i64,
    queue: VecDeque<Told>,
    gathered: Gathered,
    /// What has gathered is told from this moment on.
    quiet_until: Instant,
    /// Whether there is more in the log than the hub will tell.
    behind: bool,
    over: bool,
}

impl Follower {
    pub(super) fn open(hub: Hub, reader: Reader, cursor: Cursor) -> Result<Self, Full> {
        let place = hub.0.places.take(&reader)?;
        let phase = usize::try_from(place.id() % PHASES as u64).unwrap_or_default();
        let mut pulses = hub.0.pulses[phase].subscribe();
        pulses.mark_unchanged();
        // From here on nothing is missed; what was before is read from the log.
        let batches = hub.0.batches.subscribe();
        Ok(Self {
            batches,
            pulses,
            hub,
            reader,
            place,
            rights: None,
            cursor: Some(cursor),
            seen: 0,
            told: 0,
            queue: VecDeque::new(),
            gathered: Gathered::default(),
            quiet_until: Instant::now(),
            behind: true,
            over: false,
        })
    }

    /// What the reader is told next; none once it was told to go.
    pub async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(told) = self.queue.pop_front() {
                return Some(told);
            }
            if self.over {
                return None;
            }
            let ended = *self.place.end.borrow();
            if let Some(why) = ended {
                self.end(why);
            } else if self.behind {
                if let Err(error) = self.catch_up().await {
                    Hub::failed("a reader's own part of the log", &error);
                    self.end(Why::Away);
                }
            } else {
                self.wait().await;
            }
        }
    }

    fn end(&mut self, why: Why) {
        self.over = true;
        self.queue.push_back(Told::Bye(why));
    }

    async fn wait(&mut self) {
        let waits = !self.gathered.is_empty();
        tokio::select! {
            biased;
            // Before anything that is told: what was committed after the end is not for this reader.
            _ = self.place.end.changed() => {}
            Ok(()) = self.pulses.changed() => {
                let pulse = *self.pulses.borrow_and_update();
                self.catch_word();
                self.queue.push_back(Told::Ping(pulse));
            }
            got = self.batches.recv() => match got {
                Ok(batch) if batch.first().is_some_and(|first| first <= self.seen + 1) => self.take(&batch),
                // Something lies between, or was dropped while this reader was busy: the log has it.
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    count(&self.hub.0.places.counters.lagged);
                    self.behind = true;
                }
                Err(broadcast::error::RecvError::Closed) => self.end(Why::Stopping),
            },
            () = tokio::time::sleep_until(self.quiet_until), if waits => self.tell_gathered(),
        }
    }

    /// Says how far it has looked, if nothing of it was for this reader.
    fn catch_word(&mut self) {
        if self.seen > self.told && self.reader.pace == Pace::Each {
            self.queue.push_back(Told::Through { after: self.told, through: self.seen });
            self.told = self.seen;
        }
    }

    /// Reads on in the log, and in the same snapshot whether that may still be read.
    async fn catch_up(&mut self) -> store::Result<()> {
        let hub = self.hub.clone();
        // It is never closed.
        let _turn = hub.0.catching_up.acquire().await.ok();
        let mut tx = hub.db().read().await?;
        let now = Rights::of(&mut tx, &[&self.reader.way]).await?.remove(&self.reader.way);
        let now = now.filter(|now| now.actor == self.reader.actor);
        let Some(now) = now.filter(|now| self.rights.as_ref().is_none_or(|then| then == now))
        else {
            self.end(Why::Rights);
            return Ok(());
        };
        self.place.note(&now);
        self.rights = Some(now);
        let (head, _) = tx.head().await?;
        if let Some(cursor) = self.cursor.take() {
            self.begin(&mut tx, &cursor, head).await?;
        } else if self.seen > head {
            // The log was restored from a copy under a server that runs.
            self.reset(WhyReset::Ahead, head);
        }
        let events = tx.events_after(self.seen, PAGE).await?;
        self.behind = i64::try_from(events.len()).is_ok_and(|count| count >= PAGE);
        let batch = Arc::new(Batch::of(&mut tx, events).await?);
        tx.rollback().await?;
        self.take(&batch);
        Ok(())
    }

    /// The first words: from where it goes on.
    async fn begin(&mut self, tx: &mut Tx, cursor: &Cursor, head: i64) -> store::Result<()> {
        let first = tx.first_event().await?;
        let now = tx.now().await?;
        let oldest = first.as_ref().map_or(1, |(number, _)| *number);
        let epoch = first.map(|(_, id)| id);
        let other = |given: &String| epoch.as_ref().is_some_and(|epoch| epoch != given);
        let far = self.reader.pace == Pace::Board
            && cursor.after.is_some_and(|after| head - after > BOARD_REACHES);
        let why = match cursor.after {
            _ if cursor.garbled => Some(WhyReset::Unknown),
            _ if cursor.epoch.as_ref().is_some_and(other) => Some(WhyReset::OtherLog),
            Some(after) if after < 0 => Some(WhyReset::Unknown),
            Some(after) if after > head => Some(WhyReset::Ahead),
            Some(after) if after + 1 < oldest || far => Some(WhyReset::TooOld),
            Some(_) | None => None,
        };
        let after = cursor.after.filter(|_| why.is_none()).unwrap_or(head);
        (self.seen, self.told) = (after, after);
        self.queue.push_back(Told::Hello { epoch, head, after, now });
        if let Some(why) = why {
            self.reset(why, head);
        }
        Ok(())
    }

    fn reset(&mut self, why: WhyReset, head: i64) {
        count(&self.hub.0.places.counters.resets);
        (self.seen, self.told) = (head, head);
        self.gathered = Gathered::default();
        self.queue.push_back(Told::Reset { why, head });
    }

    /// Takes of a batch what is new and for this reader.
    fn take(&mut self, batch: &Arc<Batch>) {
        let Some(rights) = self.rights.clone() else { return };
        for (index, item) in batch.items.iter().enumerate() {
            let number = item.event.number;
            if number <= self.seen {
                continue;
            }
            match (item.sight(&rights.actor, rights.role, &rights.regions), self.reader.pace) {
                (Some(sight), Pace::Each) => {
                    // `seen` and not `number - 1`: they are the same, or a gap shows.
                    self.catch_word();
                    self.queue.push_back(Told::Event(Seen::new(Arc::clone(batch), index, sight)));
                    self.told = number;
                }
                (Some(_), Pace::Board) => {
                    match item.event.task_id {
                        Some(task) => drop(self.gathered.tasks.insert(TaskId(task))),
                        None => self.gathered.others = true,
                    }
                    self.gathered.actions.insert(item.event.action.clone());
                }
                (None, _) => {}
            }
            if rights.actor.rider().is_some() && item.stirs_pool(&rights.regions) {
                self.gathered.pool = true;
            }
            self.seen = number;
        }
        if !self.gathered.is_empty() && self.quiet_until <= Instant::now() {
            self.tell_gathered();
        }
    }

    /// Tells what has gathered, and then nothing more of the kind for a while.
    fn tell_gathered(&mut self) {
        let Gathered { tasks, others, actions, pool } = std::mem::take(&mut self.gathered);
        if pool {
            self.queue.push_back(Told::Pool);
        }
        if self.reader.pace == Pace::Board {
            let few = tasks.len() <= MOST_TASKS;
            self.queue.push_back(Told::Changed {
                after: self.told,
                through: self.seen,
                tasks: few.then(|| tasks.into_iter().collect()),
                others,
                actions: actions.into_iter().collect(),
            });
            self.told = self.seen;
        }
        self.quiet_until = Instant::now() + self.hub.0.settings.quiet;
    }
}
