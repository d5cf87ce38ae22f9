//! So many a second, evenly, whatever each takes.

use std::time::{Duration, Instant};

/// Has `batch(how many)` done every 5 ms until `until`, so that `per_second` are reached in all. Returns how many were done.
pub async fn paced(per_second: u32, until: Instant, mut batch: impl AsyncFnMut(u32)) -> u64 {
    let (began, mut done) = (Instant::now(), 0_u64);
    while Instant::now() < until {
        let due = u64::from(per_second) * u64::try_from(began.elapsed().as_micros()).unwrap_or(0)
            / 1_000_000;
        if let Ok(more @ 1..) = u32::try_from(due - done) {
            batch(more).await;
            done += u64::from(more);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    done
}
