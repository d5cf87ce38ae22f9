//! Faults and fail-points for the process that a test starts, given by environment.

use dispatch_desk::fault::{Fault, plant};

/// Every fault by name.
pub const FAULTS: &[(&str, Fault)] = &[
    ("write-without-revision", Fault::WriteWithoutRevision),
    ("load-without-lock", Fault::LoadWithoutLock),
    ("riders-without-lock", Fault::RidersWithoutLock),
    ("accept-after-deadline", Fault::AcceptAfterDeadline),
    ("sweeper-without-recheck", Fault::SweeperWithoutRecheck),
    ("key-without-fingerprint", Fault::KeyWithoutFingerprint),
    ("key-ignored", Fault::KeyIgnored),
    ("event-outside-transaction", Fault::EventOutsideTransaction),
    ("number-from-sequence", Fault::NumberFromSequence),
    ("answer-before-commit", Fault::AnswerBeforeCommit),
    ("normal-sync", Fault::NormalSync),
];

/// Plants what `DISPATCH_TEST_FAULTS` names (separated by commas) for as long as the process lives, and sets up
/// the fail-points of `FAILPOINTS`.
pub fn from_environment() {
    let named = std::env::var("DISPATCH_TEST_FAULTS").unwrap_or_default();
    for name in named.split(',').filter(|name| !name.is_empty()) {
        let (_, fault) = FAULTS.iter().find(|(known, _)| *known == name).expect("a known fault");
        std::mem::forget(plant(*fault));
    }
    std::mem::forget(fail::FailScenario::setup());
}
