//! What a script's token may do, and where.

use std::fmt;

use super::{act::Verb, id::RegionId};

/// What a token may be used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actions {
    /// Everything that its account may do.
    All,
    /// Reading alone.
    Read,
    /// Reading, and these verbs.
    These(Vec<Verb>),
}

impl Actions {
    /// Reads the stored form: `all`, `read`, or verbs with commas between them. `None` if it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "all" => Some(Self::All),
            "read" => Some(Self::Read),
            verbs => verbs.split(',').map(Verb::parse).collect::<Option<Vec<_>>>().map(Self::These),
        }
    }

    /// Whether `verb` is among them; reading always is.
    pub fn include(&self, verb: Option<Verb>) -> bool {
        match (self, verb) {
            (Self::All, _) | (_, None) => true,
            (Self::Read, Some(_)) => false,
            (Self::These(verbs), Some(verb)) => verbs.contains(&verb),
        }
    }
}

impl fmt::Display for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Read => f.write_str("read"),
            Self::These(verbs) => {
                let verbs: Vec<_> = verbs.iter().map(|verb| verb.as_str()).collect();
                f.write_str(&verbs.join(","))
            }
        }
    }
}

/// What a token may be used for, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// What for.
    pub actions: Actions,
    /// Where; `None` is everywhere that its account may go.
    pub regions: Option<Vec<RegionId>>,
}

impl Scope {
    /// Everything that the account may do, everywhere that it may go.
    pub const ALL: Self = Self { actions: Actions::All, regions: None };

    /// Whether it reaches `region`.
    pub fn reaches(&self, region: RegionId) -> bool {
        self.regions.as_ref().is_none_or(|regions| regions.contains(&region))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_read_back() {
        for actions in
            [Actions::All, Actions::Read, Actions::These(vec![Verb::Create, Verb::HandBack])]
        {
            assert_eq!(Actions::parse(&actions.to_string()), Some(actions));
        }
        for bad in ["", "everything", "create,", "create,read"] {
            assert_eq!(Actions::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_token_that_reads_commands_nothing() {
        assert!(Actions::Read.include(None));
        assert!(!Actions::Read.include(Some(Verb::Offer)));
        let these = Actions::These(vec![Verb::Offer]);
        assert!(these.include(Some(Verb::Offer)) && these.include(None));
        assert!(!these.include(Some(Verb::Cancel)));
    }
}
