//! Who acts, and under which key.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    id::{RiderId, StaffId, TaskId},
    text_enum::text_enum,
};

text_enum! {
    /// In what capacity somebody acts.
    pub enum Role {
        /// The product itself.
        System = "system",
        /// The shop or order system that created the task.
        Intake = "intake",
        /// Who ordered, by tracking link.
        Customer = "customer",
        /// Who carries tasks out.
        Rider = "rider",
        /// Staff who decide.
        Dispatcher = "dispatcher",
        /// A dispatcher who may also assign directly.
        Supervisor = "supervisor",
        /// Keeps people, regions and policies; issues no task commands.
        Admin = "admin",
        /// Reads the log; issues no commands.
        Auditor = "auditor",
    }
}

/// Who acts. It comes from the session or the token, never from the body of a request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The product itself: expiry, and the withdrawal of a disabled rider's offers.
    System,
    /// An order system, by the name of its source.
    Intake(String),
    /// The customer of one task, by its tracking link.
    Customer(TaskId),
    /// A rider.
    Rider(RiderId),
    /// A member of staff.
    Staff(StaffId),
}

impl Actor {
    /// The scope of this actor's request keys. It does not change when tokens rotate.
    pub fn principal(&self) -> String {
        match self.id() {
            Some(id) => format!("{}:{id}", self.kind()),
            None => self.kind().to_owned(),
        }
    }

    /// The kind of actor, as it stands in the log.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Intake(_) => "intake",
            Self::Customer(_) => "customer",
            Self::Rider(_) => "rider",
            Self::Staff(_) => "staff",
        }
    }

    /// The id within the kind, as it stands in the log; none for the system.
    pub fn id(&self) -> Option<String> {
        match self {
            Self::System => None,
            Self::Intake(source) => Some(source.clone()),
            Self::Customer(task) => Some(task.0.to_string()),
            Self::Rider(rider) => Some(rider.0.to_string()),
            Self::Staff(staff) => Some(staff.0.to_string()),
        }
    }

    /// The source of orders of that name: a-z, 0-9, `_` and `-`, a letter first, at most 40. A `:` would make it share keys
    /// with the desk's own people. `None` if it is no such name.
    pub fn source(name: &str) -> Option<Self> {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
        let fits = (1..=40).contains(&name.len())
            && name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(plain);
        fits.then(|| Self::Intake(name.to_owned()))
    }

    /// Reads the two columns of the log back; `None` if they do not fit together.
    pub fn from_columns(kind: &str, id: Option<&str>) -> Option<Self> {
        let number = || id.and_then(|id| id.parse::<i64>().ok());
        match kind {
            "system" => id.is_none().then_some(Self::System),
            "intake" => id.map(|id| Self::Intake(id.to_owned())),
            "customer" => number().map(|id| Self::Customer(TaskId(id))),
            "rider" => number().map(|id| Self::Rider(RiderId(id))),
            "staff" => number().map(|id| Self::Staff(StaffId(id))),
            _ => None,
        }
    }

    /// The rider, if a rider acts.
    pub const fn rider(&self) -> Option<RiderId> {
        match self {
            Self::Rider(rider) => Some(*rider),
            Self::System | Self::Intake(_) | Self::Customer(_) | Self::Staff(_) => None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Intake(source) => f.write_str(source),
            Self::Customer(task) => write!(f, "customer of {task}"),
            Self::Rider(rider) => rider.fmt(f),
            Self::Staff(staff) => staff.fmt(f),
        }
    }
}

/// The client's own number for one request: the same key is one effect and one answer.
///
/// 1 to 255 visible ASCII characters (draft-ietf-httpapi-idempotency-key-header).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestKey(String);

impl RequestKey {
    /// The longest key, in characters.
    pub const MAX_LEN: usize = 255;

    /// Takes a key, or says `None` if it is empty, too long or not visible ASCII.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=Self::MAX_LEN).contains(&text.len());
        (fits && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| Self(text.to_owned()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RequestKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("a request key is 1 to 255 visible ASCII characters")
    }
}

impl From<RequestKey> for String {
    fn from(key: RequestKey) -> Self {
        key.0
    }
}
