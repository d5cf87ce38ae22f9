//! Whether this node can take commands.

use std::sync::atomic::{AtomicU8, Ordering};

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Commands are taken.
    Ready,
    /// The last commands could not be stored. The next ones are tried: the disk may be freed, the
    /// database may be back.
    Unready,
    /// The disk failed. After a failed write the system may forget what it could not keep, so nothing is
    /// taken until the program is started again and has read what is really there.
    Stopped,
}

/// The health of one node, shared.
#[derive(Debug, Default)]
pub struct Pulse(AtomicU8);

impl Pulse {
    /// The present state.
    pub fn health(&self) -> Health {
        match self.0.load(Ordering::Acquire) {
            0 => Health::Ready,
            1 => Health::Unready,
            _ => Health::Stopped,
        }
    }

    /// Notes that commands were stored. A stopped node stays stopped.
    pub fn ready(&self) {
        self.0.fetch_and(!1, Ordering::AcqRel);
    }

    /// Notes that commands could not be stored.
    pub fn unready(&self) {
        self.0.fetch_or(1, Ordering::AcqRel);
    }

    /// Notes that the disk failed.
    pub fn stop(&self) {
        self.0.fetch_or(2, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_can_be_freed_and_a_broken_one_can_not() {
        let pulse = Pulse::default();
        assert_eq!(pulse.health(), Health::Ready);
        pulse.unready();
        assert_eq!(pulse.health(), Health::Unready);
        pulse.ready();
        assert_eq!(pulse.health(), Health::Ready);
        pulse.stop();
        pulse.ready();
        assert_eq!(pulse.health(), Health::Stopped);
    }
}
