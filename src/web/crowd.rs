//! How many connections each peer has: one that opens hundreds leaves the others room.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::OwnedSemaphorePermit;

use super::peer::Peer;

/// The connections of each peer.
#[derive(Debug)]
pub(super) struct Crowd {
    most: usize,
    held: Mutex<HashMap<IpAddr, usize>>,
}

impl Crowd {
    /// Lets each peer have at most so many connections at once.
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: Mutex::default() })
    }

    /// A place for one more connection of `peer`, given back when dropped; none if it has as many as it may.
    pub(super) fn place(self: &Arc<Self>, peer: Peer) -> Option<Place> {
        let group = peer.group();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let count = held.entry(group).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(held);
        Some(Place { crowd: Arc::clone(self), group })
    }
}

/// The place of one connection.
#[derive(Debug)]
pub(super) struct Place {
    crowd: Arc<Crowd>,
    group: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.crowd.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = held.get_mut(&self.group) {
            *count -= 1;
            // Whoever has gone takes up no memory.
            if *count == 0 {
                held.remove(&self.group);
            }
        }
    }
}

/// What a connection takes up, as an extension of its requests: one that becomes a stream is counted elsewhere and gives
/// it back.
#[derive(Clone, Debug)]
pub(super) struct Hold(Arc<Mutex<Held>>);

type Held = (Option<OwnedSemaphorePermit>, Option<Place>);

impl Hold {
    pub(super) fn new(open: Option<OwnedSemaphorePermit>, place: Option<Place>) -> Self {
        Self(Arc::new(Mutex::new((open, place))))
    }

    /// Gives it back.
    pub(super) fn let_go(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_peer_has_its_own_places_and_gives_them_back() {
        let crowd = Crowd::new(2);
        let peer = |text: &str| Peer(text.parse().unwrap());
        let place = |text: &str| crowd.place(peer(text));
        let (one, two) = (place("2001:db8::1"), place("2001:db8::2"));
        assert!(one.is_some() && two.is_some());
        assert!(place("2001:db8::3").is_none(), "a network of 64 bits is one peer");
        assert!(place("2001:db8:0:1::1").is_some());
        drop(one);
        let three = place("2001:db8::3");
        assert!(three.is_some());
        drop((two, three));
        assert!(crowd.held.lock().unwrap().is_empty());
    }
}
