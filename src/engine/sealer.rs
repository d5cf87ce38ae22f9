//! Seals the log: about every second it closes what was committed since the last seal.
//!
//! Any number of nodes may run one. A seal is kept only if nobody else has sealed from the same place; whoever comes
//! second looks again. A sealer that dies in between leaves nothing behind, and the next goes on from the last seal.

use std::sync::{Mutex, PoisonError};

use tokio::{sync::watch, task::JoinHandle};

use crate::{
    domain::{
        id::Timestamp,
        seal::{Book, Keys, Seal, Sealing},
    },
    store::{self, Db, Tx},
};

/// How many rows one seal closes at most: it is read and written in one go.
pub const CHUNK: i64 = 10_000;
/// How often it looks, in milliseconds.
const EVERY_MS: i64 = 1_000;
/// How often the head is noted in the log of the program, in milliseconds, and how often a trouble is.
const NOTED_EVERY_MS: i64 = 60_000;

/// What came of one attempt to seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A seal was made.
    Sealed(Seal),
    /// All is sealed.
    Nothing,
    /// Another sealer was faster.
    Beaten,
    /// A row that was given a number is missing, so nothing can be sealed beyond it.
    Hole(Book, i64),
    /// The last seal is not what it was, or no seal can follow it.
    Broken(i64),
}

/// Seals the log. [`seal_now`](Self::seal_now) for tests and [`start`](Self::start) for servers.
#[derive(Debug)]
pub struct Sealer {
    db: Db,
    keys: Keys,
    chunk: i64,
    /// The last seal that this sealer has seen, with what was noted of it when.
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    last: Option<Seal>,
    noted: i64,
    noted_at: Option<Timestamp>,
    warned_at: Option<Timestamp>,
    stranger: bool,
}

impl Sealer {
    /// A sealer that closes at most `chunk` rows at a time.
    pub fn new(db: Db, keys: Keys, chunk: i64) -> Self {
        Self { db, keys, chunk: chunk.max(1), seen: Mutex::default() }
    }

    /// Makes one seal over what is committed and not sealed, if there is anything.
    ///
    /// # Errors
    /// If the database can not be read or written. Nothing is sealed then.
    pub async fn seal_now(&self) -> store::Result<Step> {
        let mut tx = self.db.read().await?;
        let last = tx.last_seal().await?;
        if let Some(wrong) = self.is_cut(last.as_ref()) {
            tx.rollback().await?;
            return Ok(Step::Broken(wrong));
        }
        let Some(mut sealing) = Sealing::after(last.as_ref()) else {
            tx.rollback().await?;
            return Ok(Step::Broken(last.map_or(0, |last| last.number)));
        };
        let hole = self.fill(&mut tx, &mut sealing).await?;
        let now = tx.now().await?;
        tx.rollback().await?;
        if sealing.count() == 0 {
            return Ok(hole.unwrap_or(Step::Nothing));
        }
        let seal = sealing.seal(self.keys.newest(), now);
        let mut tx = self.db.begin().await?;
        let kept = tx.insert_seal(&seal).await?;
        tx.commit().await?;
        if !kept {
            return Ok(Step::Beaten);
        }
        self.seen().last = Some(seal.clone());
        Ok(Step::Sealed(seal))
    }

    /// Takes the rows that follow, up to a chunk of them; says if one is missing.
    async fn fill(&self, tx: &mut Tx, sealing: &mut Sealing) -> store::Result<Option<Step>> {
        let (last_event, last_attempt) = tx.head().await?;
        let after = sealing.next(Book::Event) - 1;
        let most = self.chunk.min(last_event - after).max(0);
        for event in tx.events_after(after, most).await? {
            let next = sealing.next(Book::Event);
            if event.number != next {
                return Ok(Some(Step::Hole(Book::Event, next)));
            }
            sealing.take(Book::Event, &event.sealed());
        }
        if sealing.next(Book::Event) <= after + most {
            return Ok(Some(Step::Hole(Book::Event, sealing.next(Book::Event))));
        }
        let (before, left) = (sealing.next(Book::Attempt) - 1, self.chunk - most);
        let most = left.min(last_attempt - before).max(0);
        for attempt in tx.attempts_after(before, most).await? {
            let next = sealing.next(Book::Attempt);
            if attempt.number != next {
                return Ok(Some(Step::Hole(Book::Attempt, next)));
            }
            sealing.take(Book::Attempt, &attempt.sealed());
        }
        let next = sealing.next(Book::Attempt);
        Ok((next <= before + most).then_some(Step::Hole(Book::Attempt, next)))
    }

    /// Whether seals were taken away or changed since this sealer last looked: the number of the first one.
    fn is_cut(&self, last: Option<&Seal>) -> Option<i64> {
        let mut seen = self.seen();
        let known = seen.last.as_ref();
        let wrong = known.filter(|known| match last {
            None => true,
            Some(last) if last.number == known.number => last.digest != known.digest,
            Some(last) => last.number < known.number,
        });
        if let Some(known) = wrong {
            return Some(last.map_or(1, |last| (last.number + 1).min(known.number)));
        }
        if let Some(last) = last.filter(|last| self.keys.find(&last.key_id).is_none())
            && !seen.stranger
        {
            seen.stranger = true;
            tracing::warn!(
                seal = last.number,
                key = last.key_id,
                "the last seal was made with a key that is not in the key file: keep both keys, newest last"
            );
        }
        seen.last = last.cloned();
        None
    }

    /// Seals until nothing is left, or something is in the way. Returns the last step.
    ///
    /// # Errors
    /// If the database can not be read or written.
    pub async fn seal_all(&self) -> store::Result<Step> {
        loop {
            match self.seal_now().await? {
                Step::Sealed(_) | Step::Beaten => {}
                end => return Ok(end),
            }
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the head in the log of the program, which is kept elsewhere: at most once a minute, and only a new one.
    fn note_head(&self, now: Timestamp, at_the_end: bool) {
        let mut seen = self.seen();
        let Some(last) = seen.last.clone() else { return };
        let is_new = last.number != seen.noted;
        let is_time = seen.noted_at.is_none_or(|noted| now.ms_since(noted) >= NOTED_EVERY_MS);
        if at_the_end || (is_new && is_time) {
            tracing::info!(
                head = %last.head(), mac = %last.mac, events = last.events.last,
                attempts = last.attempts.last, "the log is sealed up to here"
            );
            (seen.noted, seen.noted_at) = (last.number, Some(now));
        }
    }

    /// Says what keeps it from sealing, at most once a minute.
    fn note_trouble(&self, now: Timestamp, step: store::Result<Step>) {
        let mut seen = self.seen();
        let quiet = seen.warned_at.is_some_and(|warned| now.ms_since(warned) < NOTED_EVERY_MS);
        match step {
            Ok(Step::Sealed(_) | Step::Nothing | Step::Beaten) => return,
            _ if quiet => return,
            Err(error) => tracing::warn!(%error, "the log can not be sealed now"),
            Ok(Step::Hole(book, number)) => {
                tracing::error!(
                    ?book,
                    number,
                    "a row of the log is missing: nothing beyond is sealed"
                );
            }
            Ok(Step::Broken(number)) => {
                tracing::error!(number, "the seals are not what they were: nothing more is sealed");
            }
        }
        seen.warned_at = Some(now);
    }

    /// Seals every second until `stop` changes or its sender is gone, and once more at the end.
    async fn run(self, mut stop: watch::Receiver<bool>) {
        let clock = self.db.clock();
        loop {
            let step = self.seal_now().await;
            // Under load there is always a little more; only a full seal means that it lags behind.
            let goes_on =
                matches!(&step, Ok(Step::Sealed(seal)) if seal.rows() >= self.chunk.unsigned_abs());
            self.note_trouble(clock.now(), step);
            self.note_head(clock.now(), false);
            let again = if goes_on { clock.now() } else { clock.now().plus_ms(EVERY_MS) };
            tokio::select! {
                biased;
                _ = stop.changed() => break,
                () = clock.wait_until(again) => {}
            }
        }
        // One seal and no more: whoever stops the program waits.
        let step = self.seal_now().await;
        self.note_trouble(clock.now(), step);
        self.note_head(clock.now(), true);
    }

    /// Runs it in the background. Drop or change the returned sender to end it.
    pub fn start(db: Db, keys: Keys) -> (watch::Sender<bool>, JoinHandle<()>) {
        let sealer = Self::new(db, keys, CHUNK);
        let (stop, stopped) = watch::channel(false);
        (stop, tokio::spawn(sealer.run(stopped)))
    }
}
