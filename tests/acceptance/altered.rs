//! A record that was changed after the run is found out; and what is wrong in a true one is found.

use dispatch_desk::{
    acceptance::{
        judge::{Outcome, judge},
        record::{self, Exchange, Line, Purpose},
    },
    stand::Kind,
};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use crate::scene::{self, findings};

const SOME: [&str; 8] = [
    "normal-flow",
    "late-accept",
    "race-12-riders",
    "race-cancel-against-accept",
    "same-key-same-answer",
    "bulk-mixed",
    "reassign-lapses",
    "wrong-role",
];

/// 200 times, one line is changed by one character, left out, or moved.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_altered_line_is_found_out() {
    let ran = scene::run(Kind::Sqlite, &SOME, 1).await;
    let text = ran.text();
    let lines: Vec<&str> = text.lines().collect();
    let mut rng = StdRng::seed_from_u64(4);
    for round in 0..200 {
        let at = rng.random_range(0..lines.len());
        let mut altered: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        match round % 4 {
            0 => drop(altered.remove(at)),
            1 => altered.swap(at, (at + 1) % lines.len()),
            _ => {
                let digits: Vec<usize> = altered[at]
                    .bytes()
                    .enumerate()
                    .filter(|(_, b)| b.is_ascii_digit())
                    .map(|(i, _)| i)
                    .collect();
                let place = *digits.choose(&mut rng).expect("each line has a number in it");
                let old = altered[at].as_bytes()[place] - b'0';
                let new = (old + 1) % 10;
                altered[at].replace_range(place..=place, &new.to_string());
            }
        }
        let altered = altered.join("\n");
        // It can not be read any more, or it says itself where it was changed.
        if let Ok((_, broken)) = record::read(&altered) {
            assert!(broken.is_some(), "round {round}, line {}: nobody noticed", at + 1);
        }
    }
}

/// Whoever alters a line and mends the chain as well still has to get past the judge.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_inversions_are_fifty_findings() {
    let ran = scene::run(Kind::Sqlite, &SOME, 1).await;
    let lines = ran.lines();
    assert_eq!(findings(&lines), Vec::<String>::new());
    let mut rng = StdRng::seed_from_u64(5);
    let mut kinds = std::collections::BTreeMap::new();
    for round in 0..50 {
        let mut altered = lines.clone();
        let (kind, what) = loop {
            let at = rng.random_range(0..altered.len());
            if let Some(done) = invert(&mut altered[at], &mut rng) {
                break done;
            }
        };
        *kinds.entry(kind).or_insert(0) += 1;
        let verdict = judge(&altered);
        let caught = verdict.as_ref().map_or(true, |verdict| verdict.outcome == Outcome::Failed);
        assert!(caught, "round {round}: {kind}: {what}");
    }
    println!("caught: {kinds:?}");
    assert!(kinds.len() >= 5, "{kinds:?}");
}

/// Inverts something of a line: an answer, an end, an expectation of the scenario, or of the table.
fn invert(line: &mut Line, rng: &mut StdRng) -> Option<(&'static str, String)> {
    match line {
        Line::Run(run) => {
            let (from, to) = *[
                ("to = \"cancelled\"", "to = \"open\""),
                ("code = \"TAKEN_BY_OTHER\"", "code = \"NOT_OPEN\""),
                ("code = \"ALREADY_YOURS\"", "code = \"ALREADY_DONE\""),
                ("stage = \"delivered\"", "stage = \"waiting\""),
            ]
            .choose(rng)?;
            run.table_text = run.table_text.replacen(from, to, 1);
            Some(("the table", format!("{from} → {to}")))
        }
        Line::Scenario(scenario) => {
            let all = [
                ("returns = \"done\"", "returns = \"refused NOT_OPEN\""),
                ("then = \"open\"", "then = \"cancelled\""),
                ("dispatcher = \"assigned to", "dispatcher = \"offered to"),
                ("customer = \"cancelled\"", "customer = \"open\""),
                ("= \"nothing\"", "= \"mine\""),
                ("wins = \"exactly one\"", "wins = \"all\""),
            ];
            let there: Vec<_> = all.iter().filter(|(it, _)| scenario.text.contains(it)).collect();
            let (from, to) = there.choose(rng)?;
            scenario.text = scenario.text.replacen(from, to, 1);
            Some(("the scenario", format!("{}: {from} → {to}", scenario.scenario)))
        }
        Line::Exchange(exchange) => exchanged(exchange, rng),
        Line::Clock(_) | Line::NotPlayed { .. } | Line::Broken { .. } | Line::Over { .. } => None,
    }
}

fn exchanged(exchange: &mut Exchange, rng: &mut StdRng) -> Option<(&'static str, String)> {
    let kind = match exchange.purpose {
        Purpose::Step if exchange.asks.is_empty() => return None,
        Purpose::Step | Purpose::Racer(_) => "an answer",
        Purpose::End(_) => "an end",
        Purpose::Log(_) => "the log",
        Purpose::Attempts(_) => "an attempt",
        Purpose::Prepare
        | Purpose::Settle
        | Purpose::TidyUp
        | Purpose::Beginning
        | Purpose::Numbers => return None,
    };
    let all: &[(&str, &str)] = match kind {
        "an answer" => &[
            ("\"outcome\":\"done\"", "\"outcome\":\"already_done\""),
            ("\"outcome\":\"refused\"", "\"outcome\":\"done\""),
            ("TAKEN_BY_OTHER", "STALE_REVISION"),
            ("\"code\":\"CANCELLED\"", "\"code\":\"DELIVERED\""),
            ("\"state\":\"assigned\"", "\"state\":\"open\""),
            ("\"revision\":2,", "\"revision\":5,"),
            ("\"code\":\"FORBIDDEN\"", "\"code\":\"NOT_FOUND\""),
        ],
        "an end" => &[
            ("\"state\":\"assigned\"", "\"state\":\"open\""),
            ("\"state\":\"cancelled\"", "\"state\":\"open\""),
            ("\"revision\":3,", "\"revision\":4,"),
            ("\"items\":[{", "\"items\":[],\"left\":[{"),
        ],
        "the log" => &[
            ("\"action\":\"accept\"", "\"action\":\"grab\""),
            ("\"to_revision\":2", "\"to_revision\":3"),
            ("\"kind\":\"rider\"", "\"kind\":\"staff\""),
        ],
        _ => &[
            ("\"code\":\"done\"", "\"code\":\"undone\""),
            ("\"verb\":\"grab\"", "\"verb\":\"cancel\""),
        ],
    };
    let reply = exchange.reply.as_mut()?;
    let there: Vec<_> = all.iter().filter(|(from, _)| reply.body.contains(from)).collect();
    let (from, to) = there.choose(rng)?;
    reply.body = reply.body.replacen(from, to, 1);
    Some((kind, format!("{} step {}: {from} → {to}", exchange.scenario, exchange.step)))
}
