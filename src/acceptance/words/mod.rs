//! The words that scenarios are written in: who acts, what comes back, how a task stands.

mod standing;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use standing::{Standing, WINNER};

use super::table::Gives;
use crate::domain::command::Role;

/// Gives a type that is written as a short phrase its serde form.
macro_rules! phrase {
    ($name:ident, $what:literal) => {
        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                Self::parse(&text).ok_or_else(|| format!(concat!("{:?} is no ", $what), text))
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

use phrase;

/// Who acts in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Who {
    /// The shop that ordered.
    Intake,
    /// The customer, by the tracking link.
    Customer,
    /// A dispatcher of the region; the second one is another person.
    Dispatcher(u8),
    /// A supervisor of the region.
    Supervisor,
    /// An auditor of the region, who may only look.
    Auditor,
    /// A dispatcher of another region.
    Foreigner,
    /// Somebody without any credentials.
    Nobody,
    /// The product itself, which releases what has lapsed. Nobody plays it.
    System,
    /// A rider, by the scenario's name for him or her.
    Rider(String),
}

phrase!(Who, "one who acts");

const FOREIGNER: &str = "a dispatcher of another region";

impl Who {
    /// Reads `intake`, `customer`, `dispatcher`, `dispatcher 2`, `supervisor`, `auditor`, `a dispatcher of another
    /// region`, `nobody`, or a rider's name such as `R1`.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "intake" => Self::Intake,
            "customer" => Self::Customer,
            "dispatcher" => Self::Dispatcher(1),
            "dispatcher 2" => Self::Dispatcher(2),
            "supervisor" => Self::Supervisor,
            "auditor" => Self::Auditor,
            FOREIGNER => Self::Foreigner,
            "nobody" => Self::Nobody,
            "the system" => Self::System,
            rider => {
                let digits = rider.strip_prefix('R')?;
                let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                if !plain {
                    return None;
                }
                Self::Rider(rider.to_owned())
            }
        })
    }

    /// The role that the table knows them by.
    pub const fn role(&self) -> Role {
        match self {
            Self::Intake => Role::Intake,
            Self::Customer => Role::Customer,
            Self::Dispatcher(_) | Self::Foreigner => Role::Dispatcher,
            Self::Supervisor => Role::Supervisor,
            Self::Auditor | Self::Nobody => Role::Auditor,
            Self::System => Role::System,
            Self::Rider(_) => Role::Rider,
        }
    }

    /// The rider's name, if it is one.
    pub fn rider(&self) -> Option<&str> {
        match self {
            Self::Rider(name) => Some(name),
            Self::Intake
            | Self::Customer
            | Self::Dispatcher(_)
            | Self::Supervisor
            | Self::Auditor
            | Self::Foreigner
            | Self::Nobody
            | Self::System => None,
        }
    }

    /// Whether they have credentials.
    pub const fn is_signed_in(&self) -> bool {
        !matches!(self, Self::Nobody)
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Intake => "intake",
            Self::Customer => "customer",
            Self::Dispatcher(2) => "dispatcher 2",
            Self::Dispatcher(_) => "dispatcher",
            Self::Supervisor => "supervisor",
            Self::Auditor => "auditor",
            Self::Foreigner => FOREIGNER,
            Self::Nobody => "nobody",
            Self::System => "the system",
            Self::Rider(name) => name,
        })
    }
}

/// What came back, or must come back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Returns {
    /// It was done, and made an event.
    Done,
    /// A success without a new event, with its code.
    Already(String),
    /// The rules say no, with the code.
    Refused(String),
    /// Nothing was decided about the task, with the code.
    TurnedAway(String),
    /// The answer that was given before under the same key.
    Again(Box<Self>),
    /// No answer, or one that is none: what happened instead.
    Broken(String),
}

phrase!(Returns, "answer");

/// How a kind of answer begins, and what it makes of its code.
type Kind = (&'static str, fn(String) -> Returns);

impl Returns {
    /// Reads `done`, `already CODE`, `refused CODE`, `turned away CODE`, each also with `, again`; and `broken: …`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(what) = text.strip_prefix("broken: ") {
            return Some(Self::Broken(what.to_owned()));
        }
        if let Some(first) = text.strip_suffix(", again") {
            return Some(Self::Again(Box::new(Self::parse(first)?)));
        }
        if text == "done" {
            return Some(Self::Done);
        }
        let kinds: [Kind; 3] = [
            ("already ", Self::Already),
            ("refused ", Self::Refused),
            ("turned away ", Self::TurnedAway),
        ];
        kinds.into_iter().find_map(|(kind, make)| {
            let code = text.strip_prefix(kind)?;
            let plain =
                |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            (!code.is_empty() && code.bytes().all(plain)).then(|| make(code.to_owned()))
        })
    }

    /// A line of the table as an answer.
    pub fn of(gives: Gives, code: &str) -> Self {
        let code = code.to_owned();
        match gives {
            Gives::TurnedAway => Self::TurnedAway(code),
            Gives::Already => Self::Already(code),
            Gives::Refused => Self::Refused(code),
        }
    }

    /// Whether whoever is told so may believe that it was done.
    pub fn is_success(&self) -> bool {
        match self {
            Self::Done | Self::Already(_) => true,
            Self::Again(first) => first.is_success(),
            Self::Refused(_) | Self::TurnedAway(_) | Self::Broken(_) => false,
        }
    }

    /// The code, if it carries one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Done | Self::Broken(_) => None,
            Self::Already(code) | Self::Refused(code) | Self::TurnedAway(code) => Some(code),
            Self::Again(first) => first.code(),
        }
    }
}

impl fmt::Display for Returns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::Already(code) => write!(f, "already {code}"),
            Self::Refused(code) => write!(f, "refused {code}"),
            Self::TurnedAway(code) => write!(f, "turned away {code}"),
            Self::Again(first) => write!(f, "{first}, again"),
            Self::Broken(what) => write!(f, "broken: {what}"),
        }
    }
}

/// What a rider's own telephone shows of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiderSees {
    /// Among the own tasks, to carry out.
    Mine,
    /// Among the own tasks, to accept or decline.
    Invited,
    /// In the list of tasks that may be grabbed.
    Pool,
    /// Nowhere.
    Nothing,
}

impl fmt::Display for RiderSees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mine => "mine",
            Self::Invited => "invited",
            Self::Pool => "pool",
            Self::Nothing => "nothing",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_read_back_as_it_was_written() {
        for text in ["intake", "customer", "dispatcher", "dispatcher 2", FOREIGNER, "nobody", "R17"]
        {
            assert_eq!(Who::parse(text).map(|who| who.to_string()).as_deref(), Some(text));
        }
        for text in [
            "done",
            "already ALREADY_YOURS",
            "refused STALE_REVISION, again",
            "turned away KEY_MISSING",
            "broken: no reply",
        ] {
            assert_eq!(Returns::parse(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
        for text in [
            "open",
            "offered",
            "offered to R2",
            "assigned to R1",
            "assigned to the winner",
            "assigned to R1, at the pickup",
            "assigned to R12, picked up",
            "assigned to R1, delivered",
            "cancelled",
        ] {
            assert_eq!(Standing::parse(text).map(|it| it.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_phrase_is_refused() {
        assert_eq!(Who::parse("Rx"), None);
        assert_eq!(Who::parse("dispatcher 3"), None);
        assert_eq!(Returns::parse("refused nothing"), None);
        assert_eq!(Returns::parse("ok"), None);
        assert_eq!(Standing::parse("assigned"), None);
        assert_eq!(Standing::parse("assigned to nobody"), None);
        assert_eq!(Standing::parse("offered to R1, picked up"), None);
    }
}
