//! What every request needs.

use std::sync::Arc;

use super::{
    exports::Exports,
    hashing::Hashing,
    pace::{Deeds, Searches, Tries},
    uploads::Uploads,
};
use crate::{
    clock::{Entropy, SystemEntropy},
    domain::{
        fingerprint::hex,
        id::{RiderId, Timestamp},
    },
    engine::{
        executor::Executor,
        hub::{self, Hub},
        rounds::{Invitation, Rounds},
    },
    store::Db,
};

/// Where people reach the desk: `scheme://host`, without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    text: String,
}

impl Origin {
    /// Reads an origin such as `https://desk.example`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim_end_matches('/');
        let host = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let host = host.ok_or("an origin starts with http:// or https://")?;
        let plain =
            host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
        if host.is_empty() || !plain {
            return Err("an origin is scheme://host or scheme://host:port, without a path");
        }
        Ok(Self { text: text.to_ascii_lowercase() })
    }

    /// The origin as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a browser that says it is at `given` is at this desk. The names and addresses of this machine itself are
    /// one: a desk that is tried without any set-up is reached by whichever of them is typed.
    pub fn is(&self, given: &str) -> bool {
        let given = given.to_ascii_lowercase();
        let port = |origin: &str| {
            let host = origin.strip_prefix("http://")?;
            SAME_MACHINE.iter().find_map(|name| {
                let rest = host.strip_prefix(name)?;
                (rest.is_empty() || rest.starts_with(':')).then(|| rest.to_owned())
            })
        };
        given == self.text || port(&given).is_some_and(|given| port(&self.text) == Some(given))
    }

    /// Whether it names no host: what listens on all addresses can not know by which of them it is reached.
    pub fn is_unspecified(&self) -> bool {
        let host = self.text.split_once("://").map_or("", |(_, host)| host);
        host.starts_with("0.0.0.0") || host.starts_with("[::]")
    }

    /// Whether browsers reach it over TLS: only then may cookies ask for it.
    pub fn is_secure(&self) -> bool {
        self.text.starts_with("https://")
    }
}

/// Names of this machine as browsers know them, and the addresses that stand for all of its own.
const SAME_MACHINE: [&str; 5] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "[::]"];

/// What every request needs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    executor: Executor,
    hub: Hub,
    origin: Origin,
    entropy: Arc<dyn Entropy>,
    hashing: Hashing,
    demo: bool,
    uploads: Uploads,
    exports: Exports,
    tries: Tries,
    deeds: Deeds,
    searches: Searches,
    rounds: Rounds,
}

impl Desk {
    /// A desk in front of `executor`, reached at `origin`.
    pub fn new(executor: Executor, origin: Origin) -> Self {
        Self::live(executor, origin, hub::Settings::default())
    }

    /// The same with live streams that work as `live` says.
    pub fn live(executor: Executor, origin: Origin, live: hub::Settings) -> Self {
        Self::with(executor, origin, live, Arc::new(SystemEntropy), false)
    }

    /// The same for a demonstration: its pages say so.
    pub fn demo(executor: Executor, origin: Origin) -> Self {
        let live = hub::Settings::default();
        Self::with(executor, origin, live, Arc::new(SystemEntropy), true)
    }

    fn with(
        executor: Executor,
        origin: Origin,
        live: hub::Settings,
        entropy: Arc<dyn Entropy>,
        demo: bool,
    ) -> Self {
        let hub = Hub::new(executor.clone(), live);
        let (uploads, exports) = (Uploads::default(), Exports::default());
        let rounds = Rounds::new(executor.clone(), executor.positions().locator().clone());
        Self(Arc::new(Inner {
            executor,
            hub,
            origin,
            entropy,
            hashing: Hashing::default(),
            demo,
            uploads,
            exports,
            tries: Tries::of_people(),
            deeds: Deeds::of_riders(),
            searches: Searches::of_people(),
            rounds,
        }))
    }

    /// Takes commands.
    pub fn executor(&self) -> &Executor {
        &self.0.executor
    }

    /// Tells live readers what happens.
    pub fn hub(&self) -> &Hub {
        &self.0.hub
    }

    /// Where everything is read.
    pub fn db(&self) -> &Db {
        self.0.executor.db()
    }

    /// Where people reach it.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Finds riders for tasks.
    pub fn rounds(&self) -> &Rounds {
        &self.0.rounds
    }

    /// Notes that a rider's page has these invitations, without keeping the page waiting. A note that is lost costs a
    /// figure in the ledger, and the next look makes it again.
    pub(super) fn note_shown(&self, rider: RiderId, shown: Vec<Invitation>, now: Timestamp) {
        if shown.iter().all(|invitation| invitation.seen) {
            return;
        }
        let rounds = self.0.rounds.clone();
        tokio::spawn(async move {
            if let Err(error) = rounds.note_shown(rider, &shown, now).await {
                tracing::debug!(%rider, %error, "when a round was shown is not noted");
            }
        });
    }

    /// Whether this is a demonstration.
    pub fn is_demo(&self) -> bool {
        self.0.demo
    }

    /// Files that were uploaded to be looked at.
    pub(super) fn uploads(&self) -> &Uploads {
        &self.0.uploads
    }

    /// Exports of the log that are under way.
    pub(super) fn exports(&self) -> &Exports {
        &self.0.exports
    }

    /// How fast riders and customers try.
    pub(super) fn tries(&self) -> &Tries {
        &self.0.tries
    }

    /// How fast riders do anything.
    pub(super) fn deeds(&self) -> &Deeds {
        &self.0.deeds
    }

    /// How fast people search.
    pub(super) fn searches(&self) -> &Searches {
        &self.0.searches
    }

    /// The instant to wait and to show by; decisions use the store's own.
    pub fn now(&self) -> Timestamp {
        self.db().clock().now()
    }

    /// An unguessable name of 128 bits.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn token(&self) -> std::io::Result<String> {
        let mut bytes = [0; 16];
        self.0.entropy.fill(&mut bytes)?;
        Ok(hex(&bytes))
    }

    /// The salt of a password.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub(super) fn salt(&self) -> std::io::Result<[u8; 16]> {
        let mut bytes = [0; 16];
        self.0.entropy.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Where passwords wait for their turn.
    pub(super) fn hashing(&self) -> &Hashing {
        &self.0.hashing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_the_configured_one_and_on_this_machine_any_of_its_names() {
        let is = |own: &str, given: &str| Origin::parse(own).is_ok_and(|own| own.is(given));
        assert!(is("https://desk.example", "https://Desk.example"));
        for local in ["http://127.0.0.1:8080", "http://localhost:8080", "http://0.0.0.0:8080"] {
            assert!(is(local, "http://localhost:8080") && is(local, "http://[::1]:8080"));
            assert!(!is(local, "http://localhost:8081") && !is(local, "http://localhost"));
            assert!(!is(local, "https://localhost:8080") && !is(local, "http://192.0.2.1:8080"));
            assert!(!is(local, "http://localhost.evil.example:8080") && !is(local, "null"));
        }
        assert!(!is("https://desk.example", "http://localhost:8080"));
        assert!(!is("https://desk.example", "http://desk.example"));
        assert!(!is("https://localhost:8443", "https://127.0.0.1:8443"));
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        for good in ["http://127.0.0.1:8080", "https://desk.example", "https://[::1]:8443/"] {
            let origin = Origin::parse(good).map(|origin| origin.is_secure());
            assert_eq!(origin, Ok(good.starts_with("https")), "{good}");
        }
        for bad in ["", "desk.example", "https://", "https://a/b", "ftp://a", "https://a b"] {
            assert!(Origin::parse(bad).is_err(), "{bad}");
        }
    }
}
