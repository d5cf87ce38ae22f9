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
    "accept-against-expire",
    "already-yours",
    "boundary-at",
    "boundary-before",
    "bulk-all-done",
    "bulk-mixed",
    "cancel-twice",
    "cancel-while-offered",
    "capacity-counts-offers",
    "capacity-freed-by-cancel",
    "capacity-full",
    "capacity-two",
    "create-twice",
    "customer-cancel-after-pickup",
    "customer-cancels",
    "decline",
    "decline-twice",
    "direct-assign",
    "direct-assign-refused",
    "every-command-at-pickup",
    "every-command-on-assigned",
    "every-command-on-cancelled",
    "every-command-on-delivered",
    "every-command-on-offered",
    "every-command-on-open",
    "every-command-on-picked-up",
    "foreign-region",
    "foreign-rider-offered",
    "hand-back",
    "hand-back-limit",
    "key-reused",
    "keys-are-personal",
    "lapsed-offer-is-open-to-others",
    "late-accept",
    "late-accept-after-cancel",
    "late-accept-against-next-offer",
    "late-accept-own-regrab",
    "lost-answer",
    "lost-answer-then-cancelled",
    "missing-key",
    "missing-revision",
    "normal-flow",
    "not-released",
    "not-signed-in",
    "off-duty-rider",
    "offered-then-grabbed",
    "old-invitation-new-invitation",
    "race-12-riders",
    "race-200-riders",
    "race-50-riders",
    "race-cancel-against-accept",
    "race-customer-cancel-against-arrive",
    "race-customer-cancel-against-pickup",
    "race-offer-against-grab",
    "race-one-rider-two-tasks",
    "race-reassign-against-pickup",
    "race-same-key",
    "race-two-dispatchers",
    "race-two-riders",
    "race-withdraw-against-accept",
    "reassign",
    "reassign-declined",
    "reassign-lapses",
    "reassign-same-rider",
    "reassign-to-full-rider",
    "reassign-unconfirmed",
    "refusal-repeated",
    "release-after-pickup",
    "same-key-same-answer",
    "stages-in-order",
    "stale-page",
    "vehicle-mismatch",
    "withdraw",
    "withdraw-then-accept",
    "wrong-rider",
    "wrong-role",
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
    files.sort();
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
