//! The desk: a database of its own, an executor on it, and short ways to ask.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use dispatch_desk::{
    clock::ManualClock,
    domain::{
        answer::Answer,
        command::{Act, Actor, Command, DetailChanges, NewTask, RequestKey, What},
        id::{Revision, TaskId, Timestamp},
        refusal::{Code, Lang},
        task::Task,
    },
    engine::executor::{Executor, Settings},
    store::{Db, LoggedEvent, Time, Tx},
};

use super::{
    cast::{self, NOON, order, shop},
    record::{Came, Recorder, Sent, now_ns},
};

/// Which database a desk stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

/// A place for one test's data: a folder, or a schema of the throw-away PostgreSQL.
#[derive(Debug)]
pub struct Home {
    pub url: String,
    _folder: Option<tempfile::TempDir>,
}

impl Home {
    pub async fn new(database: Database) -> Self {
        match database {
            Database::Sqlite => {
                let folder = tempfile::tempdir().expect("a temporary folder");
                let url = format!("sqlite://{}/desk.db", folder.path().display());
                Self { url, _folder: Some(folder) }
            }
            Database::Postgres => Self { url: schema_url().await, _folder: None },
        }
    }

    /// A place that somebody else keeps: a small disk, a PostgreSQL of the test's own.
    pub fn at(url: String) -> Self {
        Self { url, _folder: None }
    }
}

/// The address of the PostgreSQL that `scripts/test` starts.
pub fn postgres_url() -> String {
    std::env::var("TEST_POSTGRES_URL").unwrap_or_else(|_| {
        panic!(
            "TEST_POSTGRES_URL is not set: run scripts/test, which starts a throw-away PostgreSQL, \
             or point it to a server whose data may be lost"
        )
    })
}

async fn schema_url() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let base = postgres_url();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let schema = format!("t_{}_{number}_{}", std::process::id(), now_ns() % 1_000_000_007);
    let pool = sqlx::PgPool::connect(&base).await.expect("the test PostgreSQL answers");
    sqlx::query(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}")))
        .execute(&pool)
        .await
        .expect("a schema of our own");
    pool.close().await;
    let joint = if base.contains('?') { '&' } else { '?' };
    format!("{base}{joint}options=-c%20search_path%3D{schema}")
}

/// A desk with its cast.
#[derive(Debug)]
pub struct Desk {
    pub database: Database,
    pub db: Db,
    pub clock: Arc<ManualClock>,
    pub executor: Executor,
    pub recorder: Recorder,
    pub home: Home,
}

impl Desk {
    /// A new desk on a new database, at noon.
    pub async fn open(database: Database) -> Self {
        let settings = Settings { ticket_key: super::rounds::key(), ..Settings::default() };
        Self::with(database, settings).await
    }

    /// The same with settings of its own.
    pub async fn with(database: Database, settings: Settings) -> Self {
        Self::in_home(database, Home::new(database).await, settings).await
    }

    /// The same in a home that is already there and empty.
    pub async fn in_home(database: Database, home: Home, settings: Settings) -> Self {
        let desk = Self::empty(database, home, settings).await;
        cast::enter(&desk.db).await.expect("the cast enters");
        desk
    }

    /// A desk where nobody is yet.
    pub async fn empty(database: Database, home: Home, settings: Settings) -> Self {
        let clock = Arc::new(ManualClock::at(NOON));
        let time = Time::Manual(Arc::clone(&clock));
        let db = Db::open(&home.url, time).await.expect("a new database opens");
        let executor = Executor::start(db.clone(), settings);
        Self { database, db, clock, executor, recorder: Recorder::default(), home }
    }

    /// A new open task at revision 1, ordered by the shop.
    pub async fn create(&self) -> TaskId {
        self.create_with(order()).await
    }

    /// A new task like `new`.
    pub async fn create_with(&self, new: NewTask) -> TaskId {
        let command = self.command(shop(), What::Create(Box::new(new)));
        let answer = self.send(command).await.came.answer();
        assert!(answer.is_success(), "{answer:?}");
        answer.task.expect("a created task").id
    }

    /// Many new tasks, by number: several lanes number them in any order.
    pub async fn create_many(&self, count: usize) -> Vec<TaskId> {
        let created = (0..count).map(|_| self.create());
        let mut tasks = futures_util::future::join_all(created).await;
        tasks.sort_unstable();
        tasks
    }

    /// A command under a fresh key.
    pub fn command(&self, actor: Actor, what: What) -> Command {
        Command { actor, key: Some(self.recorder.fresh_key()), lang: Lang::En, what }
    }

    /// A change under a fresh key.
    pub fn change(&self, actor: Actor, task: TaskId, revision: i64, act: Act) -> Command {
        self.command(actor, What::Change { task, revision: Revision(revision), act })
    }

    /// An edit of the note under a fresh key.
    pub fn note(&self, actor: Actor, task: TaskId, detail_revision: i64, note: &str) -> Command {
        let changes = DetailChanges { note: Some(note.to_owned()), ..DetailChanges::default() };
        let detail_revision = Revision(detail_revision);
        self.command(actor, What::Edit { task, detail_revision, changes: Box::new(changes) })
    }

    /// Sends a command to this process's executor, and records it.
    pub async fn send(&self, command: Command) -> Sent {
        let invoked = now_ns();
        let came: Came = self.executor.execute(command.clone()).await.into();
        self.recorder.note(command, invoked, now_ns(), came)
    }

    /// Asks for a change and returns the answer.
    #[track_caller]
    pub fn ask(
        &self,
        actor: Actor,
        task: TaskId,
        revision: i64,
        act: Act,
    ) -> impl Future<Output = Answer> {
        let command = self.change(actor, task, revision, act);
        async move { self.send(command).await.came.answer() }
    }

    /// Asks for a change that must be done now.
    pub async fn done(&self, actor: Actor, task: TaskId, revision: i64, act: Act) -> Answer {
        let answer = self.ask(actor, task, revision, act.clone()).await;
        assert!(answer.event.is_some(), "{act:?} was not done: {answer:?}");
        answer
    }

    /// Asks for a change that must be refused with `code`.
    pub async fn refused(
        &self,
        actor: Actor,
        task: TaskId,
        revision: i64,
        act: Act,
        code: Code,
    ) -> Answer {
        let answer = self.ask(actor, task, revision, act.clone()).await;
        assert_eq!(answer.code.as_deref(), Some(code.as_str()), "{act:?}: {answer:?}");
        assert!(!answer.is_success());
        answer
    }

    /// Sends the same command again, under the same key.
    pub async fn again(&self, sent: &Sent) -> Sent {
        self.send(sent.command.clone()).await
    }

    /// Moves the clock, for every process on this database.
    pub async fn advance_ms(&self, ms: i64) {
        self.set_time(dispatch_desk::clock::Clock::now(&*self.clock).plus_ms(ms)).await;
    }

    /// Sets the clock, for every process on this database.
    pub async fn set_time(&self, now: Timestamp) {
        self.db.set_time(now).await.expect("the clock can be set");
    }

    /// A reading transaction.
    pub async fn read(&self) -> Tx {
        self.db.read().await.expect("the database can be read")
    }

    /// A task as it stands.
    pub async fn task(&self, id: TaskId) -> Task {
        self.read().await.task(id).await.expect("the task can be read").expect("the task exists")
    }

    /// A task's events.
    pub async fn events(&self, id: TaskId) -> Vec<LoggedEvent> {
        self.read().await.events_of(id).await.expect("the log can be read")
    }

    /// A key of the test's own making.
    pub fn key(text: &str) -> RequestKey {
        RequestKey::parse(text).expect("a proper key")
    }

    /// Everything that must hold after every case: U1 to U6, and the log folds to the rows.
    pub async fn check(&self) {
        super::universal::check(self).await;
    }
}
