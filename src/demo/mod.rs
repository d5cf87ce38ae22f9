//! A desk to try, without any set-up: a seeded region, people who act by themselves, and links to sign in with.
//!
//! It runs the very server that `serve` runs, on an embedded database in a folder of its own. The people act through
//! the HTTP API, each under a token of their own, like anybody's scripts. One rider and the staff are left to whoever
//! tries it.
//!
//! | file | |
//! |---|---|
//! | `folder` | the files that belong to the demo, and no others |
//! | `people`, `places` | who and where: all of it invented |
//! | `words` | what is printed at the start |

mod folder;
mod people;
mod places;
mod words;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use self::{folder::Folder, people::Tokens};
use crate::{
    admin,
    client::{self, Client},
    clock::SystemEntropy,
    domain::{
        command::{Actor, RequestKey},
        id::{RiderId, StaffId},
        refusal::Lang,
        task::StateName,
    },
    engine::{
        executor::{Executor, Settings},
        seal_keys,
    },
    simulate::{Cast, Manners, Orders, Seat, Simulation, Tally},
    store::{self, Db, Time},
    web::{Desk, Limits, Origin, Server},
};

/// How a demo is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens; port 8080 of this machine, or one of the next ones, if not given.
    pub listen: Option<SocketAddr>,
    /// Where its database is.
    pub folder: PathBuf,
    /// Whether to start over.
    pub fresh: bool,
    /// Where all chance comes from.
    pub seed: u64,
    /// How much faster than life people are.
    pub pace: f64,
}

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder is not the demo's.
    #[error("{0}")]
    Folder(String),
    /// The address is in use, or not ours to listen on.
    #[error("can not listen on {address}: {error}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        error: io::Error,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A token or a link could not be made.
    #[error(transparent)]
    Admin(#[from] admin::Error),
    /// The key of the seals can not be had.
    #[error(transparent)]
    Key(#[from] seal_keys::KeyFileError),
    /// The demo does not reach its own server.
    #[error("the demo's own server does not answer: {0}")]
    Client(#[from] client::Error),
}

/// The port that is tried first, and how many after it.
const PORT: u16 = 8080;
const MORE_PORTS: u16 = 20;
/// How long links are good, and how often: for the life of a demo.
const LINK_MS: i64 = 30 * 86_400_000;
const LINK_USES: u32 = 1_000_000;
/// How many tasks are ordered at the very start.
const FIRST_ORDERS: i64 = 24;

/// A demo that runs.
#[derive(Debug)]
pub struct Demo {
    server: Server,
    people: JoinHandle<Simulation>,
    stop: watch::Sender<bool>,
    links: Vec<(words::Whose, String)>,
    moved: bool,
    // It keeps another demo out of the folder.
    _folder: Folder,
}

impl Demo {
    /// Starts everything: the database, the server, the people.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn start(options: &Options) -> Result<Self, Error> {
        // A taken port is found before anything is changed.
        let (listener, moved) = listen(options.listen).await?;
        let folder = Folder::take(&options.folder, options.fresh)?;
        let db = Db::open(&folder.database(), Time::System).await?;
        let keys = seal_keys::read_or_make(&folder.audit_key(), &SystemEntropy)?;
        let is_new = people::seed(&db).await?;
        let tokens = Tokens::renew(&db, &folder).await?;
        let address = listener.local_addr()?;
        let url = format!("http://{address}");
        let origin = Origin::parse(&url).map_err(|error| Error::Folder(error.to_owned()))?;
        let executor = Executor::start(db.clone(), Settings::default());
        executor.positions().load(&db).await?;
        let desk = Desk::demo(executor, origin);
        let server = Server::start(desk, listener, Limits::default())?.sealing(keys);
        let began = Self::with(options, &db, &url, &tokens, is_new).await;
        match began {
            Ok((people, stop, links)) => {
                Ok(Self { server, people, stop, links, moved, _folder: folder })
            }
            Err(error) => {
                server.stop().await;
                Err(error)
            }
        }
    }

    /// People and links, once the server runs.
    async fn with(
        options: &Options,
        db: &Db,
        url: &str,
        tokens: &Tokens,
        is_new: bool,
    ) -> Result<(JoinHandle<Simulation>, watch::Sender<bool>, Vec<(words::Whose, String)>), Error>
    {
        let clock = db.clock();
        let now = clock.now();
        let nobody = Client::new(url, None)?;
        let desk = nobody.speaking_for(Some(&tokens.dispatcher))?;
        let shop = nobody.speaking_for(Some(&tokens.shop))?;
        let mut riders = Vec::new();
        for (rider, token) in people::riders().zip(&tokens.riders) {
            riders.push(Seat {
                id: rider.id,
                client: nobody.speaking_for(Some(token))?,
                capacity: rider.capacity,
                place: rider.place,
            });
        }
        let cast = Cast { riders, dispatchers: vec![desk.clone()], shop: shop.clone() };
        let orders = Orders::new(places::order);
        let manners = manners(options, &format!("demo-{}", now.0));
        let mut simulation = Simulation::new(manners.clone(), cast, Some(orders), now);
        if is_new {
            let mut chance = fastrand::Rng::with_seed(options.seed);
            for number in 0..FIRST_ORDERS {
                let key = RequestKey::parse(&format!("{}-first-{number}", manners.prefix));
                let Some(key) = key else { continue };
                let new = places::order(&mut chance, now);
                // They are there before anybody looks.
                shop.create(&key, &new).await?;
            }
        }
        let links = links(db, &desk, url).await?;
        let (end, ended) = watch::channel(false);
        let people = tokio::spawn(async move {
            simulation.run(&clock, ended).await;
            simulation
        });
        Ok((people, end, links))
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// What to print: the links, and what to try first.
    pub fn words(&self, lang: Lang) -> String {
        words::words(self.address(), &self.links, self.moved, lang)
    }

    /// Ends it: first the people, whose commands are all answered, then the server.
    pub async fn stop(self) -> Tally {
        self.stop.send_replace(true);
        let tally = self.people.await.map(|people| people.tally()).unwrap_or_default();
        self.server.stop().await;
        tally
    }
}

/// How people behave here: fast enough to watch, and never so busy that there is nothing left to try.
fn manners(options: &Options, prefix: &str) -> Manners {
    Manners {
        pace: options.pace,
        // The region's own time: thirty seconds, at any pace, so that a newcomer can follow.
        offer_seconds: None,
        look_ms: Some(20_000),
        browse_ms: Some(2_400_000),
        locate_ms: Some(100_000),
        dispatch_ms: 16_000,
        offers_per_look: 3,
        keep_open: 12,
        most_open: 24,
        orders_per_hour: 120.0,
        abreast: 8,
        ..Manners::published(options.seed, prefix)
    }
}

/// Listens where it was told to; otherwise on the first free port from 8080 on. Whether it had to move.
async fn listen(wanted: Option<SocketAddr>) -> Result<(TcpListener, bool), Error> {
    let first = wanted.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, PORT).into());
    let mut address = first;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok((listener, address != first)),
            Err(error) => {
                let in_use = error.kind() == io::ErrorKind::AddrInUse;
                if wanted.is_some() || !in_use || address.port() >= PORT + MORE_PORTS {
                    return Err(Error::Listen { address: first, error });
                }
                address.set_port(address.port() + 1);
            }
        }
    }
}

/// The links that let a newcomer in.
async fn links(db: &Db, desk: &Client, url: &str) -> Result<Vec<(words::Whose, String)>, Error> {
    let mut links = Vec::new();
    let people = [
        (words::Whose::Dispatcher, Actor::Staff(StaffId(1))),
        (words::Whose::Rider, Actor::Rider(RiderId(1))),
        (words::Whose::Supervisor, Actor::Staff(StaffId(2))),
        (words::Whose::Auditor, Actor::Staff(StaffId(3))),
    ];
    for (whose, actor) in people {
        let path = admin::link(db, &actor, LINK_MS, LINK_USES).await?;
        links.push((whose, format!("{url}{path}")));
    }
    // The latest of the open tasks: the colleague takes the oldest first.
    let mut cursor = None;
    let mut latest = None;
    loop {
        let page = desk.list(Some(StateName::Open), None, cursor).await?;
        latest = page.items.into_iter().next_back().and_then(|item| item.tracking).or(latest);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if let Some(path) = latest {
        links.insert(2, (words::Whose::Customer, format!("{url}{path}")));
    }
    Ok(links)
}
