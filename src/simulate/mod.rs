//! People who act by themselves: riders, dispatchers, and a shop that orders.
//!
//! **Architecture invariant.** They act through the [`Client`] alone, each under a token of their own, and know what the
//! desk has told them and nothing else. All chance comes from the seed, all waiting goes by the caller's clock: what
//! is to be done next lies on the [`agenda`], and [`Simulation::step`] does what is due. With deeds one after another
//! and a clock that only moves between steps, the same seed gives the same day.
//!
//! How riders answer offers is what was published (shares of 55, 25 and 20 %, half of the answers within 37 s); how
//! they travel is made up.
//!
//! | file | |
//! |---|---|
//! | `agenda` | who does what when |
//! | `manners` | how people behave |
//! | `draw` | chance |
//! | `rider`, `member`, `desk`, `shop` | what each of them does |
//! | `board` | what dispatchers know, folded from the log |
//! | `tally` | what happened |

mod agenda;
mod board;
mod desk;
mod draw;
mod manners;
mod member;
mod rider;
mod shop;
mod tally;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use futures_util::StreamExt;
use tokio::sync::watch;

use self::{
    agenda::{Agenda, Deed, Turn},
    board::Board,
    rider::Rider,
};
pub use self::{
    manners::Manners,
    shop::Orders,
    tally::{Latencies, Tally},
};
use crate::{
    client::{Client, Error, Reply},
    clock::Clock,
    domain::{
        answer::{Answer, Outcome},
        command::{NewTask, RequestKey, Verb},
        geo::Place,
        id::{RiderId, Timestamp},
    },
};

/// A rider who takes part.
#[derive(Debug)]
pub struct Seat {
    /// Who it is.
    pub id: RiderId,
    /// Speaks for this rider.
    pub client: Client,
    /// How many tasks and offers at once.
    pub capacity: usize,
    /// Where the shift begins.
    pub place: Place,
}

/// Everybody who takes part.
#[derive(Debug)]
pub struct Cast {
    /// The riders.
    pub riders: Vec<Seat>,
    /// The dispatchers, by what speaks for them. They share the tasks out among themselves by their numbers.
    pub dispatchers: Vec<Client>,
    /// The shop.
    pub shop: Client,
}

/// People at work.
#[derive(Debug)]
pub struct Simulation {
    agenda: Agenda,
    world: World,
}

/// What all deeds need.
#[derive(Debug)]
struct World {
    manners: Manners,
    orders: Option<Orders>,
    shop: Client,
    dispatchers: Vec<(Client, Mutex<Board>)>,
    riders: Vec<Rider>,
    /// How many tasks are open, as the dispatchers know, and how many nobody owns yet.
    open: AtomicUsize,
    unowned: AtomicUsize,
    tally: Mutex<Tally>,
    latencies: Mutex<Latencies>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Simulation {
    /// Puts everybody in their places at `now`. `orders` makes what the shop orders by itself; without it, it orders
    /// what it is [given](Self::order_at).
    pub fn new(manners: Manners, cast: Cast, orders: Option<Orders>, now: Timestamp) -> Self {
        let mut agenda = Agenda::new(manners.seed);
        for rider in 0..cast.riders.len() {
            agenda.first_turns(rider, &manners, now);
        }
        // One after another, so that each knows what the others have done.
        let share = manners.every(manners.dispatch_ms)
            / i64::try_from(cast.dispatchers.len().max(1)).unwrap_or(1);
        let mut first = now;
        for dispatcher in 0..cast.dispatchers.len() {
            agenda.push(first, Deed::Dispatch(dispatcher));
            first = first.plus_ms(share);
        }
        if orders.is_some() {
            agenda.push(now, Deed::Shop);
        }
        let board = |client| (client, Mutex::new(Board::default()));
        let world = World {
            orders,
            shop: cast.shop,
            dispatchers: cast.dispatchers.into_iter().map(board).collect(),
            riders: cast.riders.into_iter().map(Rider::new).collect(),
            open: AtomicUsize::new(0),
            unowned: AtomicUsize::new(0),
            tally: Mutex::default(),
            latencies: Mutex::default(),
            manners,
        };
        Self { agenda, world }
    }

    /// Has the shop order `new` at `at`.
    pub fn order_at(&mut self, at: Timestamp, key: RequestKey, new: NewTask) {
        self.agenda.push(at, Deed::Order(Box::new((key, new))));
    }

    /// When the next deed is due; `None` if there is nothing more to do.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.agenda.next_due()
    }

    /// Whether anybody still has something to do but to look around.
    pub fn is_busy(&self) -> bool {
        self.agenda.is_busy() || self.world.unowned.load(Ordering::Relaxed) > 0
    }

    /// Does what is due at `now`, and what is due within the manners' window after it. Every command that is sent is
    /// answered before it returns.
    pub async fn step(&mut self, now: Timestamp) {
        let through = now.plus_ms(self.world.manners.window_ms);
        let turns = self.agenda.due(through, self.world.manners.most_in_a_step);
        let world = &self.world;
        let done: Vec<_> = futures_util::stream::iter(turns)
            .map(|turn| async move { world.perform(Turn { at: turn.at.max(now), ..turn }).await })
            .buffered(world.manners.abreast.max(1))
            .collect()
            .await;
        for (at, deed) in done.into_iter().flatten() {
            self.agenda.push(at, deed);
        }
    }

    /// Lets people act until `stop` changes or its sender is gone. What was sent by then is answered first.
    pub async fn run(&mut self, clock: &Arc<dyn Clock>, mut stop: watch::Receiver<bool>) {
        while let Some(due) = self.next_due() {
            while clock.now() < due {
                tokio::select! {
                    () = clock.wait_until(due) => {}
                    _ = stop.changed() => return,
                }
            }
            if *stop.borrow() || stop.has_changed().is_err() {
                return;
            }
            self.step(clock.now()).await;
        }
    }

    /// What happened so far.
    pub fn tally(&self) -> Tally {
        locked(&self.world.tally).clone()
    }

    /// How long commands took, by the real clock.
    pub fn latencies(&self) -> Latencies {
        locked(&self.world.latencies).clone()
    }
}

/// What a deed leads to, and when.
type Next = Vec<(Timestamp, Deed)>;

impl World {
    async fn perform(&self, mut turn: Turn) -> Next {
        match std::mem::replace(&mut turn.deed, Deed::Shop) {
            Deed::Shop => self.shop(&mut turn).await,
            Deed::Order(order) => self.order(&mut turn, *order).await,
            Deed::Cancel(task) => self.cancel(&turn, task).await,
            Deed::Dispatch(dispatcher) => self.dispatch(&mut turn, dispatcher).await,
            Deed::Look { rider, again } => self.look(&mut turn, rider, again).await,
            Deed::Answer { rider, task, revision, yes } => {
                self.answer(&mut turn, rider, (task, revision), yes).await
            }
            Deed::Carry { rider, task, revision, verb } => {
                self.carry(&mut turn, rider, (task, revision), verb).await
            }
            Deed::Browse(rider) => self.browse(&mut turn, rider).await,
            Deed::Grab { rider, task, revision } => {
                self.grab(&mut turn, rider, (task, revision)).await
            }
            Deed::Heed(rider) => self.heed(&mut turn, rider).await,
            Deed::Take { rider, task, revision, ticket } => {
                self.take(&mut turn, rider, (task, revision), ticket).await
            }
            Deed::NoThanks { rider, round } => self.no_thanks(&turn, rider, round).await,
            Deed::Locate(rider) => self.locate(&mut turn, rider).await,
        }
    }

    /// Sends a command and notes what came of it.
    async fn noted(
        &self,
        verb: Verb,
        command: impl Future<Output = Result<Reply, Error>>,
    ) -> Option<Answer> {
        let began = Instant::now();
        let reply = command.await;
        locked(&self.latencies).add(began.elapsed());
        let mut tally = locked(&self.tally);
        tally.commands += 1;
        match reply {
            Ok(reply) => {
                match reply.answer.outcome {
                    Outcome::Done => tally.done(verb),
                    Outcome::AlreadyDone => tally.already_done += 1,
                    Outcome::Refused => {
                        tally.refused(verb, reply.answer.code.as_deref().unwrap_or("?"));
                    }
                }
                Some(reply.answer)
            }
            Err(error) => {
                tally.failed(error.code());
                drop(tally);
                self.log(&error);
                None
            }
        }
    }

    /// Reads, and notes if that failed.
    async fn read<T>(&self, read: impl Future<Output = Result<T, Error>>) -> Option<T> {
        match read.await {
            Ok(found) => Some(found),
            Err(error) => {
                locked(&self.tally).failed(error.code());
                self.log(&error);
                None
            }
        }
    }

    fn log(&self, error: &Error) {
        tracing::debug!(prefix = self.manners.prefix, %error, "one of the people got no answer");
    }
}
