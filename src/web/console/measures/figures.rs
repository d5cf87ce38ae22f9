//! From what was counted to what is shown.

use crate::{
    engine::{hub::Figures, meters::Readings},
    store::{Measures, Share},
};

/// What a figure is called where there is nothing to divide by.
const NONE: &str = "—";
/// The upper ends of the steps in which the wait for an owner is shown, in seconds.
const WAITS_S: [i64; 6] = [5, 15, 30, 60, 300, 900];

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figure {
    /// Its name, and the end of the keys of its words.
    pub(super) key: &'static str,
    pub(super) value: String,
    /// What it was worked out from: `3 / 40`.
    pub(super) counted: String,
}

/// One bar of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) value: i64,
    /// What stands in the table beside it.
    pub(super) note: String,
    /// How long it is, from 0 to 200.
    pub(super) length: i64,
}

/// A distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chart {
    pub(super) key: &'static str,
    pub(super) bars: Vec<Bar>,
}

/// A share as per cent with one decimal; a dash of nothing.
fn per_cent(part: i64, of: i64) -> String {
    if of <= 0 {
        return NONE.to_owned();
    }
    let tenths = (part.max(0) * 2_000 + of) / (of * 2);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn share(key: &'static str, part: i64, of: i64) -> Figure {
    Figure { key, value: per_cent(part, of), counted: format!("{part} / {of}") }
}

fn plain(key: &'static str, value: i64) -> Figure {
    Figure { key, value: value.to_string(), counted: String::new() }
}

/// A mean with one decimal, and the most.
fn mean(key: &'static str, sum: i64, of: i64, most: i64) -> Figure {
    let value = if of <= 0 {
        NONE.to_owned()
    } else {
        let tenths = (sum * 20 + of) / (of * 2);
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    Figure { key, value, counted: format!("{sum} / {of} · ≤ {most}") }
}

/// A percentile of sorted milliseconds, in seconds.
fn percentile(sorted: &[i64], per_cent: usize) -> String {
    let at = (sorted.len() * per_cent).div_ceil(100).max(1) - 1;
    sorted
        .get(at)
        .map_or_else(|| NONE.to_owned(), |ms| format!("{}.{}", ms / 1_000, ms % 1_000 / 100))
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The figures of a window of `minutes`.
pub(super) fn of_window(measures: &Measures, minutes: i64) -> Vec<Figure> {
    let did = |action: &str| -> i64 {
        measures.did.iter().filter(|(name, _)| name == action).map(|(_, count)| count).sum()
    };
    let tries: i64 = measures.tried.iter().map(|(.., count)| count).sum();
    let (rounds, empty) = measures
        .rounds
        .iter()
        .fold((0, 0), |(rounds, empty), step| (rounds + step.rounds, empty + step.empty));
    let taken = did("grab") + did("accept") + did("assign");
    let created = signed(measures.waited_ms.len() as u64);
    let mut waits: Vec<_> = measures.waited_ms.iter().filter_map(|ms| *ms).collect();
    waits.sort_unstable();
    let owned = signed(waits.len() as u64);
    let Share { sent, hit } = measures.first_batch;
    let (contended, reassigned) = (measures.contended, measures.reassigned);
    let wait = |key, per_cent| Figure {
        key,
        value: percentile(&waits, per_cent),
        counted: waits.len().to_string(),
    };
    vec![
        Figure {
            counted: format!("{tries} / {minutes} min"),
            ..mean("requests", tries, minutes.max(1), tries)
        },
        share("grabbed", measures.grabs(true), measures.grabs(false)),
        share("empty", empty, rounds),
        share("first-batch", hit, sent),
        share("nobody", created - owned, created),
        wait("wait-p50", 50),
        wait("wait-p95", 95),
        mean("contenders", contended.sum, contended.tasks, contended.most),
        mean("reassigned", reassigned.sum, reassigned.tasks, reassigned.most),
        plain("expired", did("expire")),
        share("handed-back", did("hand-back"), taken),
        share("shown", measures.shown.hit, measures.shown.sent),
    ]
}

/// The figures of this node since it was started.
pub(super) fn of_node(meters: &Readings, streams: Figures) -> Vec<Figure> {
    let latency = |key, per_cent| {
        let value = match meters.percentile_ms(per_cent) {
            None => NONE.to_owned(),
            Some(Some(ms)) => format!("≤ {ms} ms"),
            Some(None) => "> 5000 ms".to_owned(),
        };
        Figure { key, value, counted: meters.answers().to_string() }
    };
    vec![
        latency("latency-p50", 50),
        latency("latency-p95", 95),
        latency("latency-p99", 99),
        share("replayed", signed(meters.came_to("replayed")), signed(meters.answers())),
        share("conflicts", signed(meters.again), signed(meters.transactions)),
        plain("streams", signed(streams.open as u64)),
        share("lagged", signed(streams.lagged), signed(streams.opened)),
    ]
}

fn chart(key: &'static str, bars: Vec<(String, i64, String)>) -> Chart {
    let most = bars.iter().map(|(_, value, _)| *value).max().unwrap_or_default().max(1);
    let bar = |(label, value, note): (String, i64, String)| Bar {
        label,
        value,
        note,
        length: value * 200 / most,
    };
    Chart { key, bars: bars.into_iter().map(bar).collect() }
}

/// The distributions of a window: refusals by code, rounds by step, waits by length.
pub(super) fn charts(measures: &Measures) -> Vec<Chart> {
    let mut codes: std::collections::BTreeMap<&str, i64> = std::collections::BTreeMap::new();
    for (_, code, count) in
        measures.tried.iter().filter(|(_, code, _)| !Measures::GOOD.contains(&code.as_str()))
    {
        *codes.entry(code).or_default() += count;
    }
    let refused: i64 = codes.values().sum();
    let refusals = codes.into_iter().map(|(code, n)| (code.to_owned(), n, per_cent(n, refused)));
    let steps = measures
        .rounds
        .iter()
        .map(|step| (step.step.to_string(), step.rounds, per_cent(step.placed, step.rounds)));
    let waits: Vec<_> = measures.waited_ms.iter().filter_map(|ms| *ms).collect();
    let owned = signed(waits.len() as u64);
    let mut from = i64::MIN;
    let mut lengths = Vec::new();
    for until in WAITS_S.into_iter().chain([i64::MAX / 1_000]) {
        let fits = |ms: &&i64| **ms >= from && **ms < until * 1_000;
        let count = signed(waits.iter().filter(fits).count() as u64);
        let label = if WAITS_S.contains(&until) {
            format!("< {until} s")
        } else {
            format!("≥ {} s", WAITS_S[WAITS_S.len() - 1])
        };
        lengths.push((label, count, per_cent(count, owned)));
        from = until * 1_000;
    }
    let lengths = if owned == 0 { Vec::new() } else { lengths };
    vec![
        chart("refusals", refusals.collect()),
        chart("rounds", steps.collect()),
        chart("waits", lengths),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_divided_by_nothing() {
        for figure in of_window(&Measures::default(), 60) {
            let known = [NONE, "0", "0.0"].contains(&figure.value.as_str());
            assert!(known, "{figure:?}");
        }
        for figure in of_node(&Readings::default(), Figures::default()) {
            assert!([NONE, "0"].contains(&figure.value.as_str()), "{figure:?}");
        }
        assert!(charts(&Measures::default()).iter().all(|chart| chart.bars.is_empty()));
    }

    #[test]
    fn shares_and_percentiles_are_rounded_as_people_do() {
        assert_eq!((per_cent(1, 3), per_cent(2, 3)), ("33.3 %".to_owned(), "66.7 %".to_owned()));
        assert_eq!(per_cent(1, 1), "100.0 %");
        let waits: Vec<i64> = (1..=100).map(|second| second * 1_000).collect();
        assert_eq!(
            (percentile(&waits, 50), percentile(&waits, 95)),
            ("50.0".to_owned(), "95.0".to_owned())
        );
        assert_eq!(percentile(&[1_250], 95), "1.2");
    }
}
