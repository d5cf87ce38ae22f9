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

/// Plants what `DISPATCH_TEST_FAULTS` names (separated by commas) for as long as the process lives, sets up the
/// fail-points of `FAILPOINTS`, and the one of `DISPATCH_TEST_KILL_AT`, which kills the process.
pub fn from_environment() {
    let named = std::env::var("DISPATCH_TEST_FAULTS").unwrap_or_default();
    for name in named.split(',').filter(|name| !name.is_empty()) {
        let (_, fault) = FAULTS.iter().find(|(known, _)| *known == name).expect("a known fault");
        std::mem::forget(plant(*fault));
    }
    std::mem::forget(fail::FailScenario::setup());
    if let Ok(point) = std::env::var("DISPATCH_TEST_KILL_AT") {
        kill_at(&point);
    }
}

/// Fail-points and planted faults belong to the whole process, so one test at a time may use them.
pub async fn alone() -> tokio::sync::MutexGuard<'static, ()> {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    ALONE.lock().await
}

/// Kills this process by SIGKILL as soon as it comes to the fail-point `point`.
fn kill_at(point: &str) {
    let kill = || {
        let me = std::process::id();
        let _ = std::process::Command::new("sh").args(["-c", &format!("kill -9 {me}")]).status();
        loop {
            std::thread::park();
        }
    };
    fail::cfg_callback(point, kill).expect("a fail-point");
}
