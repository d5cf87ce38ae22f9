//! The words of both languages: the same, all there, and none too many.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use dispatch_desk::domain::{
    admin::AdminAction,
    authority::Matter,
    command::{Role, Verb},
    erase::EraseReason,
    facts::Duty,
    policy::RegionMode,
    rank::LeftOut,
    refusal::Ineligible,
    reveal::{RevealReason, Which},
    round::{
        AfterRounds, PoolReason, RoundAction, RoundAnswer, RoundKind, RoundStart, RoundStatus,
        WishName,
    },
    signal::SignalKind,
    task::{Mode, OfferAnswer, StateName, Vehicle},
};
use fluent_syntax::{
    ast::{Entry, Expression, InlineExpression, Pattern, PatternElement},
    parser,
};

type Words = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|known| known == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn texts(folder: &str, ending: &str) -> Vec<String> {
    let files = files_below(&root().join(folder), ending);
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn variables(pattern: &Pattern<&str>, found: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        match expression {
            Expression::Inline(InlineExpression::VariableReference { id }) => {
                found.insert(id.name.to_owned());
            }
            other => panic!("only plain variables are used: {other:?}"),
        }
    }
}

/// The messages of one language, with the variables of each, file by file.
fn of(lang: &str) -> BTreeMap<String, Words> {
    let mut found = BTreeMap::new();
    let mut all = BTreeSet::new();
    for file in files_below(&root().join("locales").join(lang), "ftl") {
        let text = fs::read_to_string(&file).unwrap();
        let parsed = parser::parse(text.as_str());
        let resource =
            parsed.unwrap_or_else(|(_, errors)| panic!("{}: {errors:?}", file.display()));
        let mut words = Words::new();
        for entry in &resource.body {
            match entry {
                Entry::Message(message) => {
                    let id = message.id.name.to_owned();
                    assert!(all.insert(id.clone()), "{lang}: {id} stands twice");
                    let value = message.value.as_ref();
                    let value = value.unwrap_or_else(|| panic!("{lang}: {id} says nothing"));
                    let mut names = BTreeSet::new();
                    variables(value, &mut names);
                    words.insert(id, names);
                }
                Entry::Comment(_) => {}
                other => panic!("{}: {other:?}", file.display()),
            }
        }
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        found.insert(name, words);
    }
    found
}

fn ids() -> Words {
    of("en").into_values().flatten().collect()
}

/// What stands between `before` and the next `after`, each time.
fn between<'a>(text: &'a str, before: &str, after: char) -> Vec<(&'a str, &'a str)> {
    let found = text.match_indices(before).filter_map(|(at, _)| {
        let rest = &text[at + before.len()..];
        let (inside, after) = rest.split_once(after)?;
        Some((inside, after))
    });
    found.collect()
}

fn is_key(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(fits)
}

/// The texts in quotes of a source or template.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).filter(|inside| is_key(inside))
}

fn names<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// The figures and charts of the page of measures.
const MEASURES: [&str; 19] = [
    "requests",
    "grabbed",
    "empty",
    "first-batch",
    "nobody",
    "wait-p50",
    "wait-p95",
    "contenders",
    "reassigned",
    "expired",
    "handed-back",
    "shown",
    "latency-p50",
    "latency-p95",
    "latency-p99",
    "replayed",
    "conflicts",
    "streams",
    "lagged",
];
const CHARTS: [&str; 3] = ["refusals", "rounds", "waits"];

/// Keys that are put together: the first part, and all that may follow.
fn families() -> Vec<(&'static str, Vec<String>)> {
    let own = |values: &[&str]| -> Vec<String> { values.iter().map(|v| (*v).to_owned()).collect() };
    let with = |values: Vec<String>, more: &[&str]| [values, own(more)].concat();
    let staff = ["offer", "withdraw", "reassign", "assign", "cancel"];
    let tabs = ["open", "offered", "assigned", "picked_up", "delivered", "cancelled"];
    let forms = fs::read_to_string(root().join("src/web/forms.rs")).unwrap();
    let (_, reasons) = forms.split_once("fn reasons(").unwrap();
    let (reasons, _) = reasons.split_once("#[cfg(test)]").unwrap();
    let create = fs::read_to_string(root().join("src/web/console/create.rs")).unwrap();
    let mut fields: Vec<String> =
        between(&create, "wrong(\"", '"').into_iter().map(|(field, _)| field.to_owned()).collect();
    fields.extend(own(&[
        "key",
        "pickup_address",
        "pickup_place",
        "dropoff_address",
        "dropoff_place",
        "release_at",
        "ready_at",
        "due_at",
    ]));
    // Those that the office names.
    for file in fs::read_dir(root().join("src/engine/office")).unwrap() {
        let source = fs::read_to_string(file.unwrap().path()).unwrap();
        for before in ["Invalid(\"", "Some(\"", "name, \""] {
            let named = between(&source, before, '"').into_iter().map(|(field, _)| field);
            fields.extend(named.filter(|field| is_key(field)).map(str::to_owned));
        }
    }
    fields.sort();
    fields.dedup();
    vec![
        (
            "state-",
            with(names(StateName::ALL), &["expiring", "at_pickup", "picked_up", "delivered"]),
        ),
        ("verb-", [names(Verb::ALL), names(WishName::ALL), own(&["round-decline"])].concat()),
        // What staff change about a rider is logged as "change".
        ("did-", [names(Verb::ALL), names(RoundAction::ALL), own(&["change"])].concat()),
        ("round-start-", names(RoundStart::ALL)),
        ("then-", names(AfterRounds::ALL)),
        ("pool-reason-", names(PoolReason::ALL)),
        ("round-kind-", names(RoundKind::ALL)),
        ("round-status-", names(RoundStatus::ALL)),
        ("round-answer-", with(names(RoundAnswer::ALL), &["waiting", "silent"])),
        ("left-out-", with(names(LeftOut::ALL), &["farther"])),
        ("wrong-option-", own(&["radius_m", "batch", "seconds"])),
        ("wish-", own(&["start", "widen", "stop", "reset", "leave"])),
        ("done-", with(names(AdminAction::ALL), &["change"])),
        ("signal-", names(SignalKind::ALL)),
        ("matter-", names(Matter::ALL)),
        ("access-", own(&["everyone", "holder"])),
        ("mode-", [names(Mode::ALL), names(RegionMode::ALL)].concat()),
        ("offer-", with(names(OfferAnswer::ALL), &["waiting"])),
        ("role-", names(Role::ALL)),
        ("audit-did-", names(AdminAction::ALL)),
        ("audit-show-", own(&["all", "events", "attempts"])),
        ("audit-book-", own(&["event", "attempt"])),
        ("audit-actor-", own(&["system", "intake", "customer", "rider", "staff"])),
        (
            "audit-field-",
            own(&[
                "task",
                "rider",
                "actor_kind",
                "actor",
                "what",
                "region",
                "from",
                "to",
                "before",
            ]),
        ),
        ("vehicle-", names(Vehicle::ALL)),
        ("ineligible-", with(names(Ineligible::ALL), &["full"])),
        ("duty-", names(Duty::ALL)),
        ("duty-is-", own(&["paused", "off"])),
        ("duty-set-", names(Duty::ALL)),
        ("help-", own(&staff)),
        ("do-", with(own(&staff), &["edit"])),
        ("button-", own(&staff)),
        ("show-", own(&tabs)),
        ("empty-", own(&tabs)),
        ("field-", fields),
        ("answer-", own(&["done-title", "already-title", "refused-title"])),
        ("ride-", own(&["arrive", "pick-up", "deliver"])),
        ("step-", own(&["done", "now", "later"])),
        ("reveal-which-", names(Which::ALL)),
        ("reveal-for-", names(RevealReason::ALL)),
        ("measures-hours-", own(&["1", "24", "168"])),
        ("measure-", own(&MEASURES)),
        ("measure-help-", own(&MEASURES)),
        ("chart-", own(&CHARTS)),
        ("chart-help-", own(&CHARTS)),
        ("chart-of-", own(&CHARTS)),
        ("chart-share-", own(&CHARTS)),
        ("erase-for-", names(EraseReason::ALL)),
        ("import-", own(&["waiting", "running", "done", "broken", "unread"])),
        // Those of forms, and those that the desk itself gives.
        (
            "reason-",
            [
                quoted(reasons).map(str::to_owned).collect(),
                own(&["rider_disabled", "rider_moved"]),
                names(PoolReason::ALL),
            ]
            .concat(),
        ),
    ]
}

#[test]
fn both_languages_have_the_same_words_with_the_same_values() {
    let (zh, en) = (of("zh-CN"), of("en"));
    assert_eq!(zh.keys().collect::<Vec<_>>(), en.keys().collect::<Vec<_>>());
    for (file, words) in &en {
        for id in words.keys() {
            assert!(zh[file].contains_key(id), "{file}: {id} is missing in Chinese");
        }
        for (id, values) in &zh[file] {
            assert_eq!(words.get(id), Some(values), "{file}: {id}");
        }
    }
}

#[test]
fn every_word_that_is_used_is_there() {
    let ids = ids();
    let mut missing = BTreeSet::new();
    let families = families();
    for text in texts("templates", "html") {
        for (key, after) in between(&text, "{{ \"", '"') {
            let values = ids.get(key);
            if let Some(after) = after.strip_prefix("|tv(") {
                let takes = values.is_some_and(|values| values.iter().eq(["v"]));
                if !takes {
                    missing.insert(format!("{key} with one value ({})", &after[..10]));
                }
            } else if after.starts_with("|t ") {
                if values.is_none_or(|values| !values.is_empty()) {
                    missing.insert(format!("{key} without a value"));
                }
            } else if let Some(prefix) = key.strip_suffix("{}").or_else(|| key.split("{}").next()) {
                let known = families.iter().any(|(family, _)| *family == prefix);
                assert!(known, "{prefix}… is put together and is no known family");
            }
        }
    }
    for text in [texts("src/web", "rs"), texts("src/acceptance/report", "rs")].concat() {
        for (_, after) in between(&text, "words(", '(').iter().map(|(a, _)| ("", *a)) {
            let arguments = after.trim_start();
            if let Some(key) = arguments.strip_prefix("lang,").map(str::trim_start)
                && let Some(key) = key.strip_prefix('"').and_then(|key| key.split('"').next())
                && !ids.contains_key(key)
            {
                missing.insert(key.to_owned());
            }
        }
        for (prefix, _) in between(&text, "format!(\"", '{') {
            let Some(prefix) = prefix.strip_suffix('-').filter(|prefix| is_key(prefix)) else {
                continue;
            };
            let prefix = format!("{prefix}-");
            let known = families.iter().any(|(family, _)| *family == prefix);
            // Keys of requests, and places in a page that links lead to.
            let is_name = ["page-", "region-", "s-", "scenario-", "why-"].contains(&&*prefix);
            assert!(known || is_name, "{prefix}… is no known family");
        }
        for key in quoted(&text) {
            let whole = ["wrong-", "track-", "step-", "empty-", "report-"];
            if whole.iter().any(|start| key.starts_with(start)) && !ids.contains_key(key) {
                missing.insert(key.to_owned());
            }
        }
    }
    for (family, values) in &families {
        for value in values {
            let key = format!("{family}{value}");
            if !ids.contains_key(&key) {
                missing.insert(key);
            }
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

#[test]
fn no_word_is_unused() {
    let mut used: BTreeSet<String> = families()
        .into_iter()
        .flat_map(|(family, values)| {
            values.into_iter().map(move |value| format!("{family}{value}"))
        })
        .collect();
    let (web, report) = (texts("src/web", "rs"), texts("src/acceptance/report", "rs"));
    for text in [texts("templates", "html"), web, report].concat() {
        used.extend(text.split('"').filter(|inside| is_key(inside)).map(str::to_owned));
    }
    let unused: Vec<_> = ids().into_keys().filter(|id| !used.contains(id)).collect();
    assert_eq!(unused, Vec::<String>::new());
}
