//! What in the log begins a search, or hurries it. The log is the outbox: whoever wrote an event, and on which node,
//! the search that follows from it is not forgotten.

use std::collections::HashMap;

use super::Rounds;
use crate::{
    domain::{
        actor::Actor,
        command::Verb,
        event::{Change, Event},
        id::{RegionId, TaskId, Timestamp},
        round::RoundStart,
    },
    store::{self, Begin, Tx},
};

/// Whose cursor it is.
const READER: &str = "rounds";
/// Events in one look.
const PAGE: i64 = 500;
/// The cursor is kept at least so often: what lies behind it is read again after a restart, and begins nothing twice.
const KEEP_EVERY: i64 = 2_000;

/// How far the log has been followed here, and how far that is known to the database.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    read: i64,
    kept: i64,
}

/// What a page of the log asks for.
#[derive(Debug, Default)]
struct Found {
    begin: Vec<Begin>,
    hurry: Vec<(TaskId, Timestamp)>,
    through: i64,
    full: bool,
}

impl Rounds {
    /// Where following begins.
    pub(super) async fn cursor(&self) -> store::Result<Cursor> {
        let mut tx = self.executor.db().read().await?;
        let read = tx.log_cursor(READER).await?;
        tx.rollback().await?;
        Ok(Cursor { read, kept: read })
    }

    /// Follows the log to its end.
    pub(super) async fn follow(&self, cursor: &mut Cursor) -> store::Result<()> {
        loop {
            let mut tx = self.executor.db().read().await?;
            let found = found(&mut tx, cursor.read).await?;
            tx.rollback().await?;
            let behind = found.through - cursor.kept >= KEEP_EVERY;
            if !found.begin.is_empty() || !found.hurry.is_empty() || behind {
                let mut tx = self.executor.db().begin().await?;
                tx.begin_searches(&found.begin).await?;
                tx.hurry(&found.hurry).await?;
                tx.set_log_cursor(READER, found.through).await?;
                tx.commit().await?;
                cursor.kept = found.through;
            }
            cursor.read = found.through;
            if !found.full {
                return Ok(());
            }
        }
    }
}

/// What the log asks for, beyond event `after`.
async fn found(tx: &mut Tx, after: i64) -> store::Result<Found> {
    let now = tx.now().await?;
    let events = tx.events_after(after, PAGE).await?;
    let mut found = Found {
        through: events.last().map_or(after, |event| event.number),
        full: i64::try_from(events.len()).is_ok_and(|read| read >= PAGE),
        ..Found::default()
    };
    if events.is_empty() {
        return Ok(found);
    }
    let regions = tx.regions(now).await?;
    let at_once: HashMap<RegionId, bool> = regions
        .iter()
        .map(|found| (found.region.id, found.region.policy.rounds.start == RoundStart::AtOnce))
        .collect();
    for logged in &events {
        if let Some(edit) = logged.detail_event()? {
            found.hurry.extend(edit.edited.release_at.map(|release| (edit.task, release)));
            continue;
        }
        let Some(event) = logged.task_event()? else { continue };
        let by_itself = at_once.get(&event.region).copied().unwrap_or_default();
        read(&event, by_itself, now, &mut found);
    }
    // Most tasks that change are not searched for, and cost no write.
    let asked: Vec<_> = found.hurry.iter().map(|(task, _)| *task).collect();
    let searching = tx.searching(&asked).await?;
    found.hurry.retain(|(task, _)| searching.contains(task));
    Ok(found)
}

/// What one event of a task asks for.
fn read(event: &Event, by_itself: bool, now: Timestamp, found: &mut Found) {
    let (task, since) = (event.task, event.at);
    match (event.action, &event.change) {
        (Verb::Create, Change::Created { release_at, .. }) if by_itself => {
            found.begin.push(Begin { task, due: (*release_at).max(since), since });
        }
        // Who has given it back is not asked again; others are, a few times.
        (Verb::HandBack, _) if by_itself => found.begin.push(Begin { task, due: now, since }),
        // The desk's own offer has its answer.
        (Verb::Decline | Verb::Expire, _) => found.hurry.push((task, now)),
        // So has one whose rider was shut out or moved. Whoever withdraws it by hand has taken the task in hand.
        (Verb::Withdraw, _) if event.actor == Actor::System => found.hurry.push((task, now)),
        _ => {}
    }
}
