//! The suite passes the correct small server, and fails each known-bad one in exactly the scenarios that are listed for
//! it, for the reason that is stated.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use dispatch_desk::{
    acceptance::{
        judge::{Outcome, Rule, RunVerdict, judge},
        known_bad::{self, Fault, Small},
        runner::{self, Options},
        scenario::{self, Scenario},
        table::{TABLES, Table},
    },
    clock::SystemClock,
    domain::policy::RegionMode,
};

/// The rules that each failed scenario was failed by.
type Failed = BTreeMap<String, BTreeSet<Rule>>;

/// Plays scenarios against a small server.
async fn play(fault: Option<Fault>, scenarios: &[Scenario], rounds: u32) -> RunVerdict {
    let small = Small::start(fault, RegionMode::Reserve).await.expect("a small server");
    let (name, text) = TABLES[0];
    let table = Table::parse(name, text).expect("the table can be read");
    let options = Options { rounds, seed: 1 };
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let lines = Arc::clone(&lines);
        Box::new(move |line| {
            lines.lock().expect("one writer").push(line);
            Ok(())
        })
    };
    let table = (table, text.to_owned());
    let played =
        runner::run(small.target(), table, scenarios, &options, &SystemClock, sink, &|_| ()).await;
    played.expect("it runs");
    small.stop().await;
    let lines = lines.lock().expect("one reader");
    judge(&lines).expect("it can be judged")
}

fn failed(verdict: &RunVerdict) -> Failed {
    let failed = verdict.scenarios.iter().filter(|scenario| scenario.outcome == Outcome::Failed);
    failed
        .map(|scenario| {
            let findings = scenario.rounds.iter().flat_map(|round| &round.findings);
            (scenario.id.clone(), findings.map(|finding| finding.rule).collect())
        })
        .collect()
}

/// The findings of some scenarios, to be read by whoever has to find out what happened.
fn told(verdict: &RunVerdict, of: impl Fn(&str) -> bool) -> String {
    let findings = verdict.findings().filter(|(id, _)| of(id.unwrap_or("the log")));
    let lines: Vec<_> =
        findings.map(|(id, finding)| format!("{}: {finding:?}", id.unwrap_or("the log"))).collect();
    lines.join("\n")
}

async fn fails_where_it_must(fault: Fault) {
    let listed = known_bad::all().expect("the list can be read");
    let listed = listed.into_iter().find(|listed| listed.name == fault).expect("it is listed");
    let verdict = play(Some(fault), &scenario::built_in().expect("they can be read"), 3).await;
    let failed = failed(&verdict);
    println!("{fault}: {failed:#?}");
    let where_it_did: BTreeSet<&String> = failed.keys().collect();
    let where_it_must: BTreeSet<&String> = listed.fails.keys().collect();
    let odd: BTreeSet<&String> =
        where_it_did.symmetric_difference(&where_it_must).copied().collect();
    let about = told(&verdict, |id| odd.iter().any(|odd| *odd == id));
    assert_eq!(where_it_did, where_it_must, "{fault}:\n{about}");
    for (id, rule) in &listed.fails {
        assert!(failed[id].contains(rule), "{fault}: {id} must fail by {rule:?}: {failed:?}");
    }
    assert_eq!(verdict.outcome, Outcome::Failed);
}

#[tokio::test]
async fn the_correct_small_server_passes_every_scenario() {
    let verdict = play(None, &scenario::built_in().expect("they can be read"), 2).await;
    assert_eq!(told(&verdict, |_| true), "");
    assert_eq!(verdict.outcome, Outcome::Passed);
    assert_eq!(verdict.count(Outcome::Passed), verdict.scenarios.len());
}

#[test]
fn every_fault_is_listed_once_with_scenarios_that_exist() {
    let listed = known_bad::all().expect("the list can be read");
    let names: Vec<Fault> = listed.iter().map(|listed| listed.name).collect();
    assert_eq!(names, Fault::ALL, "in the order of the declaration");
    let scenarios = scenario::built_in().expect("they can be read");
    for listed in &listed {
        assert!(!listed.fails.is_empty(), "{} fails nowhere", listed.name);
        for id in listed.fails.keys() {
            assert!(scenarios.iter().any(|known| known.id == *id), "{}: {id}", listed.name);
        }
        for text in [&listed.title, &listed.about] {
            assert!(!text.zh.is_empty() && !text.en.is_empty(), "{}", listed.name);
        }
        assert_eq!(known_bad::named(listed.name.as_str()), Ok(Some(listed.name)));
    }
    assert_eq!(known_bad::named(known_bad::CORRECT), Ok(None));
    assert!(known_bad::named("good").is_err());
}

macro_rules! each {
    ($($test:ident: $fault:ident,)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                fails_where_it_must(Fault::$fault).await;
            }
        )*
    };
}

each! {
    select_then_update_is_caught: SelectThenUpdate,
    lock_with_expiry_is_caught: LockWithExpiry,
    overwrite_on_accept_is_caught: OverwriteOnAccept,
    sweeper_without_recheck_is_caught: SweeperWithoutRecheck,
    cancelled_revived_is_caught: CancelledRevived,
    key_ignored_is_caught: KeyIgnored,
    key_global_is_caught: KeyGlobal,
    loser_told_success_is_caught: LoserToldSuccess,
    bulk_all_done_is_caught: BulkAllDone,
    event_outside_is_caught: EventOutside,
    assignment_as_confirmation_is_caught: AssignmentAsConfirmation,
}
