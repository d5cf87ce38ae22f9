//! A file of positions: each label is a rider, who says where he or she is when the file does.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use tokio::sync::watch;

use super::{
    Error, Options,
    file::labels,
    plan::Plan,
    report::{Progress, Report},
    stage::Stage,
};
use crate::{
    client::Fix,
    intake::PositionRow,
    simulate::{Latencies, Tally},
};

/// The most positions in one message.
const MOST: usize = 100;
/// How much of the file, in its own time, is sent side by side when nobody waits.
const WINDOW_MS: i64 = 60_000;

pub(super) async fn play(
    options: &Options,
    stage: &Stage,
    positions: Vec<PositionRow>,
    mut stop: watch::Receiver<bool>,
) -> Result<Report, Error> {
    let first = stage.first;
    let last = positions.last().map_or(first, |position| position.at);
    let speed = if options.speed > 0.0 { options.speed } else { 1.0 };
    let plan = Plan::new((first, last), 1, 1, speed);
    let labels = labels(&positions);
    let began = Instant::now();
    let (mut tally, mut latencies) = (Tally::default(), Latencies::default());
    let mut report_positions = (0_u64, 0_u64);
    let mut progress = Progress::new(positions.len());
    let mut rest = positions.as_slice();
    while let Some(next) = rest.first() {
        if *stop.borrow() {
            break;
        }
        let window = if options.speed > 0.0 { 0 } else { WINDOW_MS };
        let through = next.at.plus_ms(window);
        let (now, later) = rest.split_at(rest.partition_point(|position| position.at <= through));
        rest = later;
        if options.speed > 0.0 {
            let passed = u64::try_from(plan.when(next.at).ms_since(first)).unwrap_or_default();
            let at = began + Duration::from_millis(passed);
            tokio::select! {
                () = tokio::time::sleep_until(at.into()) => {}
                _ = stop.changed() => break,
            }
        }
        // The positions tell the time themselves, so the desk's clock is the file's.
        stage.move_to(now.last().map_or(next.at, |position| position.at)).await?;
        let mut messages: HashMap<usize, Vec<Fix>> = HashMap::new();
        for position in now {
            let place = position.place;
            let fix = Fix { seq: position.seq, at: position.at, lat: place.lat, lng: place.lng };
            messages.entry(labels[&position.rider]).or_default().push(fix);
        }
        let messages = messages.into_iter().flat_map(|(rider, fixes)| {
            fixes.chunks(MOST).map(|fixes| (rider, fixes.to_vec())).collect::<Vec<_>>()
        });
        let sent: Vec<_> = futures_util::stream::iter(messages)
            .map(|(rider, fixes)| async move {
                let began = Instant::now();
                let kept = stage.riders[rider].1.locate(&fixes).await;
                (kept, fixes.len(), began.elapsed())
            })
            .buffer_unordered(32)
            .collect()
            .await;
        for (kept, count, took) in sent {
            latencies.add(took);
            tally.commands += 1;
            tally.positions += u64::try_from(count).unwrap_or_default();
            match kept {
                Ok(true) => report_positions.0 += 1,
                Ok(false) => report_positions.1 += 1,
                Err(error) => tally.failed(error.code()),
            }
        }
        progress.show(tally.positions, report_positions.0);
    }
    progress.end();
    let took = began.elapsed();
    Ok(Report { took, positions: Some(report_positions), ..Report::new(tally, latencies) })
}
