//! Rows of one numbered table, read in chunks and taken one by one.

use std::collections::VecDeque;

use crate::{
    domain::seal::{Book, Content},
    store::{self, Attempt, Db, LoggedEvent, Tx},
};

/// How many rows are read at a time.
const CHUNK: i64 = 5_000;

/// A row with a number.
pub(super) trait Numbered: Sized + Send {
    /// Its number.
    fn number(&self) -> i64;

    /// The digest of the rest of it.
    fn content(&self) -> Content;

    /// The rows that follow a number.
    async fn read(tx: &mut Tx, after: i64) -> store::Result<Vec<Self>>;
}

impl Numbered for LoggedEvent {
    fn number(&self) -> i64 {
        self.number
    }

    fn content(&self) -> Content {
        Book::Event.content(&self.sealed())
    }

    async fn read(tx: &mut Tx, after: i64) -> store::Result<Vec<Self>> {
        tx.events_after(after, CHUNK).await
    }
}

impl Numbered for Attempt {
    fn number(&self) -> i64 {
        self.number
    }

    fn content(&self) -> Content {
        Book::Attempt.content(&self.sealed())
    }

    async fn read(tx: &mut Tx, after: i64) -> store::Result<Vec<Self>> {
        tx.attempts_after(after, CHUNK).await
    }
}

/// Where the reading stands.
#[derive(Debug)]
pub(super) struct Feed<R> {
    rows: VecDeque<R>,
    after: i64,
    ended: bool,
}

impl<R> Default for Feed<R> {
    fn default() -> Self {
        Self { rows: VecDeque::new(), after: 0, ended: false }
    }
}

impl<R: Numbered> Feed<R> {
    async fn fill(&mut self, db: &Db) -> store::Result<()> {
        if self.rows.is_empty() && !self.ended {
            let mut tx = db.read().await?;
            self.rows = R::read(&mut tx, self.after).await?.into();
            tx.rollback().await?;
            self.ended = self.rows.is_empty();
            self.after = self.rows.back().map_or(self.after, Numbered::number);
        }
        Ok(())
    }

    /// Takes the row of that number, which is the next; or says why there is none.
    pub(super) async fn take(
        &mut self,
        db: &Db,
        number: i64,
    ) -> store::Result<Result<Content, String>> {
        self.fill(db).await?;
        let next = self.rows.front().map(Numbered::number);
        if next == Some(number) {
            let row = self.rows.pop_front();
            return Ok(row.map(|row| row.content()).ok_or_else(|| "missing".to_owned()));
        }
        Ok(Err(match next {
            Some(next) => format!("missing: the next that is there is {next}"),
            None => "missing: it and all that followed".to_owned(),
        }))
    }

    /// The content of the next row, if there is one.
    pub(super) async fn peek(&mut self, db: &Db) -> store::Result<Option<Content>> {
        self.fill(db).await?;
        Ok(self.rows.front().map(Numbered::content))
    }
}
