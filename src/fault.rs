//! Faults that can be planted, to show that the tests would catch them.
//!
//! Without the cargo feature `faults` (that is: in every product and in the ordinary tests) all of
//! this is a constant `false` and an empty call, and the compiler leaves nothing of it.

/// One way of being wrong, as found in the field. Each has a test that must fail because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The row is written whatever its revision has become.
    WriteWithoutRevision,
    /// Rows are read without a lock before they are written.
    LoadWithoutLock,
    /// An accept is good for as long as nobody has released the offer.
    AcceptAfterDeadline,
    /// The sweeper releases what it once read, without looking again.
    SweeperWithoutRecheck,
    /// A request key alone decides; another request under it gets the first one's answer.
    KeyWithoutFingerprint,
    /// Used request keys are not looked up.
    KeyIgnored,
    /// The event is written after the commit, in a transaction of its own.
    EventOutsideTransaction,
    /// Event numbers come from a sequence, at insert instead of at commit.
    NumberFromSequence,
    /// The client is answered before the commit.
    AnswerBeforeCommit,
    /// SQLite does not sync at commit.
    NormalSync,
    /// The rider's row is not locked, so that capacity is read and not held.
    RidersWithoutLock,
}

#[cfg(feature = "faults")]
mod planted {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::Fault;

    static PLANTED: AtomicU32 = AtomicU32::new(0);

    /// Plants `fault` in this process until the guard is dropped.
    #[must_use]
    pub fn plant(fault: Fault) -> Planted {
        PLANTED.fetch_or(1 << (fault as u32), Ordering::SeqCst);
        Planted(fault)
    }

    /// Takes the fault out again when dropped.
    #[derive(Debug)]
    pub struct Planted(Fault);

    impl Drop for Planted {
        fn drop(&mut self) {
            PLANTED.fetch_and(!(1 << (self.0 as u32)), Ordering::SeqCst);
        }
    }

    /// Whether `fault` is planted in this process.
    pub fn planted(fault: Fault) -> bool {
        PLANTED.load(Ordering::SeqCst) & (1 << (fault as u32)) != 0
    }
}

#[cfg(feature = "faults")]
pub use planted::{Planted, plant, planted};

/// Whether `fault` is planted in this process: never, outside of the fault tests.
#[cfg(not(feature = "faults"))]
#[inline]
pub const fn planted(_fault: Fault) -> bool {
    false
}

/// A place where the fault tests can stop, panic or kill the process.
///
/// Told to fail (`return(full)`, `return(lost)`, …), it returns that failure of the store from the function around it.
macro_rules! fail_point {
    ($name:literal) => {
        #[cfg(feature = "faults")]
        fail::fail_point!($name, |kind| Err($crate::store::Error::injected(kind.as_deref())));
    };
}

pub(crate) use fail_point;
