//! The scenarios that come along with the program, and those of a folder.

use std::path::Path;

use super::{BadScenario, Scenario, file};

macro_rules! scenarios {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../../acceptance/scenarios/", $id, ".toml")))),*]
    };
}

/// In the order in which they are played and reported: what is usual first.
const SCENARIOS: &[(&str, &str)] = scenarios![
    "normal-flow",
    "offered-then-grabbed",
    "accept-against-expire",
    "late-accept-after-cancel",
    "release-after-pickup",
    "boundary-before",
    "boundary-at",
    "late-accept",
    "late-accept-own-regrab",
    "late-accept-against-next-offer",
    "old-invitation-new-invitation",
    "lapsed-offer-is-open-to-others",
    "deadline-of-an-earlier-offer",
    "grabbed-long-after",
    "decline",
    "decline-twice",
    "withdraw",
    "withdraw-then-accept",
    "hand-back",
    "hand-back-limit",
    "reassign",
    "reassign-lapses",
    "reassign-declined",
    "reassign-same-rider",
    "reassign-unconfirmed",
    "reassign-to-full-rider",
    "direct-assign",
    "direct-assign-refused",
    "capacity-full",
    "capacity-counts-offers",
    "capacity-freed-by-cancel",
    "capacity-two",
    "not-released",
    "off-duty-rider",
    "vehicle-mismatch",
    "foreign-region",
    "foreign-rider-offered",
    "wrong-rider",
    "wrong-role",
    "not-signed-in",
    "already-yours",
    "same-key-same-answer",
    "key-reused",
    "keys-are-personal",
    "lost-answer",
    "lost-answer-then-cancelled",
    "refusal-repeated",
    "create-twice",
    "missing-key",
    "missing-revision",
    "stale-page",
    "stages-in-order",
    "customer-cancels",
    "customer-cancel-after-pickup",
    "cancel-twice",
    "cancel-while-offered",
    "bulk-mixed",
    "bulk-all-done",
    "every-command-on-open",
    "every-command-on-offered",
    "every-command-on-assigned",
    "every-command-at-pickup",
    "every-command-on-picked-up",
    "every-command-on-delivered",
    "every-command-on-cancelled",
    "race-two-riders",
    "race-12-riders",
    "race-50-riders",
    "race-200-riders",
    "race-cancel-against-accept",
    "race-withdraw-against-accept",
    "race-offer-against-grab",
    "race-two-dispatchers",
    "race-reassign-against-pickup",
    "race-customer-cancel-against-pickup",
    "race-customer-cancel-against-arrive",
    "race-one-rider-two-tasks",
    "race-same-key",
];

/// The scenarios that come along.
///
/// # Errors
/// [`BadScenario`] at the first that can not be read.
pub fn built_in() -> Result<Vec<Scenario>, BadScenario> {
    SCENARIOS.iter().map(|(id, text)| file::parse(id, text)).collect()
}

/// The scenario `id`, written as `text`.
///
/// # Errors
/// [`BadScenario`] if it can not be read.
pub fn from_text(id: &str, text: &str) -> Result<Scenario, BadScenario> {
    file::parse(id, text)
}

/// All scenarios of a folder, in the order of their names.
///
/// # Errors
/// [`BadScenario`] if one can not be read, or there is none.
pub fn from_folder(folder: &Path) -> Result<Vec<Scenario>, BadScenario> {
    let bad = |why: String| BadScenario { file: folder.display().to_string(), why };
    let entries = std::fs::read_dir(folder).map_err(|error| bad(error.to_string()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| bad(error.to_string()))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    // By name, as people would put them: `decline` before `decline-twice`.
    files.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    if files.is_empty() {
        return Err(bad("there is no scenario in it".to_owned()));
    }
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| BadScenario {
            file: path.display().to_string(),
            why: error.to_string(),
        })?;
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        file::parse(&id.unwrap_or_default(), &text)
    };
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_the_folder_is_on_the_list_and_can_be_read() {
        let built_in = built_in().unwrap_or_else(|error| panic!("{error}"));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("acceptance/scenarios");
        let of_folder = from_folder(&folder).unwrap_or_else(|error| panic!("{error}"));
        let mut ids: Vec<_> = built_in.iter().map(|scenario| scenario.id.clone()).collect();
        ids.sort();
        let there: Vec<_> = of_folder.iter().map(|scenario| scenario.id.clone()).collect();
        assert_eq!(ids, there);
        assert!(ids.len() >= 40, "{}", ids.len());
    }
}
