//! Grabs through two nodes that ask one Redis who can only come second: whatever it says, a task has one owner, the
//! others are refused, and the ledger fits together. It is asked for help and never for a decision.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use dispatch_desk::{
    domain::{
        id::{Revision, RiderId},
        refusal::Code,
    },
    engine::executor::{Executor, PreTrim, Settings},
    store::{Db, Time},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf},
    task::JoinHandle,
};

use crate::{
    harness::{
        node::Node,
        race::Overlap,
        record::{Came, Sent},
        *,
    },
    server::Server,
};

/// How many riders want each task.
const RACERS: i64 = 40;
/// A round that is waited for comes long before this one.
const MOST_ROUNDS: usize = 500;

/// Two nodes on one database, each with its own connection to the same Redis.
struct Two {
    desk: Desk,
    other: Executor,
}

impl Two {
    /// With marks of their own for `hot` tasks; 0 leaves it all to Redis.
    async fn start(redis: &str, hot: usize) -> Self {
        let name = format!("races-{hot}");
        let settings = || Settings {
            hot,
            pre_trim: Some(PreTrim::open(redis, &name).unwrap()),
            ..Settings::default()
        };
        let desk = Desk::with(Database::Postgres, settings()).await;
        let time = Time::Manual(Arc::clone(&desk.clock));
        let db = Db::open(&desk.home.url, time).await.unwrap();
        let other = Executor::start(db, settings());
        Self { desk, other }
    }

    /// How many grabs have gone behind everything else so far, on both.
    fn second(&self) -> u64 {
        let read = |executor: &Executor| executor.meters().read().second;
        read(&self.desk.executor) + read(&self.other)
    }

    /// Has a task after another grabbed by everybody at once, for so many rounds at least and until `enough`.
    async fn race(&self, name: &str, enough: impl Fn(&Self) -> bool) {
        let nodes = [self.desk.here(), Node::Here(self.other.clone())];
        let (mut overlap, mut round) = (Overlap::default(), 0);
        while round < rounds(8, 80) || !enough(self) {
            round += 1;
            assert!(round < MOST_ROUNDS, "{name}: it is waited for in vain");
            let task = self.desk.create().await;
            let grabs = (1..=RACERS).map(|number| self.desk.change(rider(number), task, 1, GRAB));
            let sent = self.desk.race(&nodes, grabs.collect()).await;
            overlap.count(&sent);

            let won: Vec<_> = sent.iter().filter(|sent| is_done(sent)).collect();
            assert_eq!(won.len(), 1, "{name}: so many got it: {won:#?}");
            let row = self.desk.task(task).await;
            let owner = won[0].command.actor.rider();
            assert_eq!((row.state.rider(), row.revision), (owner, Revision(2)), "{name}");
            for lost in sent.iter().filter(|sent| !is_done(sent)) {
                let known = [Code::TakenByOther.as_str(), Code::StaleRevision.as_str()];
                assert!(known.contains(&lost.came.code().as_str()), "{name}: {lost:#?}");
            }
            let kept = self.desk.read().await.attempts_of(task).await.unwrap();
            assert_eq!(
                kept.len(),
                1 + sent.len(),
                "{name}: each was an attempt, as its creation was"
            );
            self.desk.done(D1, task, 2, CANCEL).await;
        }
        overlap.report(&format!("{name}, {} of the grabs behind everything else", self.second()));
    }

    /// Nothing is left over, and all of it fits together.
    async fn end(self) {
        for number in 1..=RACERS {
            let held = self.desk.read().await.held_by(RiderId(number)).await.unwrap();
            assert!(held.is_empty(), "R{number} holds {held:?}");
        }
        self.other.stop().await;
        self.other.db().close().await;
        self.desk.check().await;
    }
}

fn is_done(sent: &Sent) -> bool {
    matches!(&sent.came, Came::Back(returned) if returned.answer().event.is_some())
}

/// What a Redis that lies says whenever it is to set a mark.
#[derive(Clone, Copy, Debug)]
enum Lie {
    /// You are the first one.
    First,
    /// There is a mark already.
    Second,
}

/// A Redis that lies.
struct Liar {
    url: String,
    asked: Arc<AtomicUsize>,
    listening: JoinHandle<()>,
}

impl Liar {
    async fn start(lie: Lie) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("redis://{}", listener.local_addr().unwrap());
        let asked = Arc::<AtomicUsize>::default();
        let listening = tokio::spawn({
            let asked = Arc::clone(&asked);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    // It ends when the other side hangs up.
                    tokio::spawn(tell_lies(stream, lie, Arc::clone(&asked)));
                }
            }
        });
        Self { url, asked, listening }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn tell_lies(stream: TcpStream, lie: Lie, asked: Arc<AtomicUsize>) -> io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    loop {
        let words = command(&mut reader).await?;
        let answer = match (words.first().map(String::as_str), lie) {
            (Some("SET"), lie) => {
                asked.fetch_add(1, Ordering::Relaxed);
                match lie {
                    Lie::First => "+OK\r\n",
                    Lie::Second => "$-1\r\n",
                }
            }
            // A mark is taken away, or so it says.
            (Some("EVALSHA"), _) => ":1\r\n",
            _ => "+OK\r\n",
        };
        writer.write_all(answer.as_bytes()).await?;
    }
}

/// One command: `*2`, and then for each word `$3`, `GET`.
async fn command(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Vec<String>> {
    let mut words = Vec::new();
    for _ in 0..number(reader).await? {
        // The word and the end of its line.
        let mut word = vec![0; number(reader).await? + 2];
        reader.read_exact(&mut word).await?;
        word.truncate(word.len() - 2);
        words.push(String::from_utf8_lossy(&word).into_owned());
    }
    Ok(words)
}

/// The number in the next line, behind its sign.
async fn number(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<usize> {
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    let number = line.trim_end().get(1..).and_then(|number| number.parse().ok());
    number.ok_or_else(|| io::Error::other(format!("no number: {line:?}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_healthy_redis_sends_those_who_come_second_behind() {
    let redis = Server::start().await;
    for hot in [0, 10_000] {
        let two = Two::start(&redis.url, hot).await;
        two.race("a healthy Redis", |two| two.second() > 0).await;
        two.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_calls_everybody_the_first_changes_nothing() {
    let liar = Liar::start(Lie::First).await;
    for hot in [0, 10_000] {
        let before = liar.asked();
        let two = Two::start(&liar.url, hot).await;
        two.race("everybody is first", |_| liar.asked() > before).await;
        if hot == 0 {
            assert_eq!(two.second(), 0, "nobody knew of anybody");
        }
        two.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_calls_nobody_the_first_turns_nobody_away() {
    let liar = Liar::start(Lie::Second).await;
    for hot in [0, 10_000] {
        let before = liar.asked();
        let two = Two::start(&liar.url, hot).await;
        let told = |two: &Two| two.second() > 0 && liar.asked() > before;
        two.race("nobody is first", told).await;
        two.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_says_nothing_is_not_waited_for() {
    let redis = Server::start().await;
    for hot in [0, 10_000] {
        let two = Two::start(&redis.url, hot).await;
        // They know each other, and then it is there and does not answer.
        two.race("before the pause", |two| two.second() > 0).await;
        redis.pause();
        two.race("a paused Redis", |_| true).await;
        redis.go_on();
        two.race("after the pause", |_| true).await;
        two.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_forgets_again_and_again_changes_nothing() {
    let redis = Server::start().await;
    let client = ::redis::Client::open(redis.url.as_str()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let flushed = Arc::<AtomicUsize>::default();
    let flushing: JoinHandle<()> = tokio::spawn({
        let flushed = Arc::clone(&flushed);
        async move {
            loop {
                let flush = ::redis::cmd("FLUSHALL");
                // A slow answer is none: it goes on with the next one.
                if flush.query_async::<()>(&mut connection).await.is_ok() {
                    flushed.fetch_add(1, Ordering::Relaxed);
                }
                tokio::task::yield_now().await;
            }
        }
    });
    for hot in [0, 10_000] {
        let before = flushed.load(Ordering::Relaxed);
        let two = Two::start(&redis.url, hot).await;
        let again = |_: &Two| flushed.load(Ordering::Relaxed) > before + 10;
        two.race("a forgetful Redis", again).await;
        two.end().await;
    }
    flushing.abort();
}

#[tokio::test]
async fn what_is_no_redis_is_said_at_once() {
    assert!(PreTrim::open("http://127.0.0.1", "x").is_err());
}
