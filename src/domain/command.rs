//! What is asked, by whom, and on which revision it was based.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    geo::Place,
    id::{RegionId, Revision, RiderId, StaffId, TaskId, Timestamp},
    refusal::Lang,
    task::Vehicle,
    text_enum::text_enum,
};

text_enum! {
    /// Every command by name: the last part of its URL and the `action` of its event.
    pub enum Verb {
        /// Brings a task into being.
        Create = "create",
        /// A rider takes an open task.
        Grab = "grab",
        /// Staff reserve it for one rider until a deadline.
        Offer = "offer",
        /// Staff set the owner without confirmation.
        Assign = "assign",
        /// The invited rider says yes.
        Accept = "accept",
        /// The invited rider says no.
        Decline = "decline",
        /// Staff take the offer back.
        Withdraw = "withdraw",
        /// The system releases an offer whose deadline has passed.
        Expire = "expire",
        /// The task will not be done.
        Cancel = "cancel",
        /// An assigned task is offered to another rider.
        Reassign = "reassign",
        /// The owner returns the task before pickup.
        HandBack = "hand-back",
        /// The owner is at the pickup.
        Arrive = "arrive",
        /// The owner has the goods in hand.
        PickUp = "pick-up",
        /// The owner has delivered.
        Deliver = "deliver",
        /// Details are edited; ownership and its revision stay as they are.
        Edit = "edit",
    }
}

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

/// Why somebody did something, as a code: lower-case words joined by `_`, at most 40 characters.
///
/// The log keeps codes only. Free text may name people and therefore lives in tables that can be
/// erased.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Reason(String);

impl Reason {
    /// Takes a reason code, or says `None` if it has another form.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=40).contains(&text.len());
        let starts = text.starts_with(|first: char| first.is_ascii_lowercase());
        let plain = text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        (fits && starts && plain).then(|| Self(text.to_owned()))
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Reason {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("a reason is a code like no_show: a-z, 0-9 and _, at most 40")
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.0
    }
}

/// A member's right to grab while a round runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// The round that it was made for.
    pub round: i64,
    /// The unguessable part, one per rider and round.
    pub nonce: String,
}

/// A verb with what it needs, for a task that exists.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Act {
    /// See [`Verb::Grab`].
    Grab {
        /// Needed while a round runs.
        ticket: Option<Ticket>,
    },
    /// See [`Verb::Offer`].
    Offer {
        /// Whom to invite.
        rider: RiderId,
        /// For how many seconds; the policy's own figure if not given.
        seconds: Option<u32>,
    },
    /// See [`Verb::Assign`].
    Assign {
        /// The new owner.
        rider: RiderId,
        /// Why nobody was asked.
        reason: Option<Reason>,
    },
    /// See [`Verb::Accept`].
    Accept,
    /// See [`Verb::Decline`].
    Decline {
        /// Why not.
        reason: Option<Reason>,
    },
    /// See [`Verb::Withdraw`].
    Withdraw {
        /// Why.
        reason: Option<Reason>,
    },
    /// See [`Verb::Expire`].
    Expire,
    /// See [`Verb::Cancel`].
    Cancel {
        /// Why.
        reason: Option<Reason>,
    },
    /// See [`Verb::Reassign`].
    Reassign {
        /// Whom to invite instead.
        rider: RiderId,
        /// For how many seconds; the policy's own figure if not given.
        seconds: Option<u32>,
        /// Whether the dispatcher has made sure of the handover with the present owner.
        handover_confirmed: bool,
        /// Why.
        reason: Option<Reason>,
    },
    /// See [`Verb::HandBack`].
    HandBack {
        /// Why.
        reason: Option<Reason>,
    },
    /// See [`Verb::Arrive`].
    Arrive,
    /// See [`Verb::PickUp`].
    PickUp,
    /// See [`Verb::Deliver`].
    Deliver,
}

impl Act {
    /// The verb's name.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Grab { .. } => Verb::Grab,
            Self::Offer { .. } => Verb::Offer,
            Self::Assign { .. } => Verb::Assign,
            Self::Accept => Verb::Accept,
            Self::Decline { .. } => Verb::Decline,
            Self::Withdraw { .. } => Verb::Withdraw,
            Self::Expire => Verb::Expire,
            Self::Cancel { .. } => Verb::Cancel,
            Self::Reassign { .. } => Verb::Reassign,
            Self::HandBack { .. } => Verb::HandBack,
            Self::Arrive => Verb::Arrive,
            Self::PickUp => Verb::PickUp,
            Self::Deliver => Verb::Deliver,
        }
    }

    /// The rider whom the act names, as against the one who acts.
    pub const fn named_rider(&self) -> Option<RiderId> {
        match self {
            Self::Offer { rider, .. }
            | Self::Assign { rider, .. }
            | Self::Reassign { rider, .. } => Some(*rider),
            Self::Grab { .. }
            | Self::Accept
            | Self::Decline { .. }
            | Self::Withdraw { .. }
            | Self::Expire
            | Self::Cancel { .. }
            | Self::HandBack { .. }
            | Self::Arrive
            | Self::PickUp
            | Self::Deliver => None,
        }
    }

    /// The reason code that came with it.
    pub const fn reason(&self) -> Option<&Reason> {
        match self {
            Self::Assign { reason, .. }
            | Self::Decline { reason }
            | Self::Withdraw { reason }
            | Self::Cancel { reason }
            | Self::Reassign { reason, .. }
            | Self::HandBack { reason } => reason.as_ref(),
            Self::Grab { .. }
            | Self::Offer { .. }
            | Self::Accept
            | Self::Expire
            | Self::Arrive
            | Self::PickUp
            | Self::Deliver => None,
        }
    }
}

/// Where goods are fetched or brought, and who is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Latitude in degrees, WGS-84.
    pub lat: f64,
    /// Longitude in degrees, WGS-84.
    pub lng: f64,
    /// As people write it.
    pub address: String,
    /// Whom to ask for.
    pub name: Option<String>,
    /// Whom to call.
    pub phone: Option<String>,
}

impl Stop {
    /// Its position on the map.
    pub const fn place(&self) -> Place {
        Place { lat: self.lat, lng: self.lng }
    }
}

/// A task to be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewTask {
    /// The region whose desk decides on it.
    pub region: RegionId,
    /// Where to fetch.
    pub pickup: Stop,
    /// Where to bring.
    pub dropoff: Stop,
    /// Nobody may take it before; at once if not given.
    pub release_at: Option<Timestamp>,
    /// When the goods are ready.
    pub ready_at: Option<Timestamp>,
    /// When they should be there.
    pub due_at: Option<Timestamp>,
    /// What the rider has to drive.
    pub vehicle: Option<Vehicle>,
    /// Higher is more urgent.
    pub priority: i64,
    /// What the rider earns, in the smallest unit of the region's currency.
    pub fee: Option<i64>,
    /// What the rider should know.
    pub note: Option<String>,
}

/// What an edit of the details changes; `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailChanges {
    /// What the rider should know.
    pub note: Option<String>,
    /// Where to fetch, in words.
    pub pickup_address: Option<String>,
    /// Where to bring, in words.
    pub dropoff_address: Option<String>,
    /// When the goods should be there.
    pub due_at: Option<Timestamp>,
    /// Nobody may take it before.
    pub release_at: Option<Timestamp>,
    /// Higher is more urgent.
    pub priority: Option<i64>,
}

impl DetailChanges {
    /// The names of the fields that change: this goes into the log, their texts do not.
    pub fn fields(&self) -> Vec<&'static str> {
        let Self { note, pickup_address, dropoff_address, due_at, release_at, priority } = self;
        [
            ("note", note.is_some()),
            ("pickup_address", pickup_address.is_some()),
            ("dropoff_address", dropoff_address.is_some()),
            ("due_at", due_at.is_some()),
            ("release_at", release_at.is_some()),
            ("priority", priority.is_some()),
        ]
        .into_iter()
        .filter_map(|(field, changes)| changes.then_some(field))
        .collect()
    }
}

/// What a command does to what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Brings a task into being.
    Create(Box<NewTask>),
    /// Changes who holds a task, or how far its owner has come.
    Change {
        /// Which task.
        task: TaskId,
        /// The revision that the decision was based on; never assumed.
        revision: Revision,
        /// What to do.
        act: Act,
    },
    /// Edits a task's details; ownership and its revision stay.
    Edit {
        /// Which task.
        task: TaskId,
        /// The detail revision that the edit was based on.
        detail_revision: Revision,
        /// The new values.
        changes: Box<DetailChanges>,
    },
}

impl What {
    /// The verb's name.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Create(_) => Verb::Create,
            Self::Change { act, .. } => act.verb(),
            Self::Edit { .. } => Verb::Edit,
        }
    }

    /// The task that it is about; none for a creation.
    pub const fn task(&self) -> Option<TaskId> {
        match self {
            Self::Create(_) => None,
            Self::Change { task, .. } | Self::Edit { task, .. } => Some(*task),
        }
    }
}

/// One request: everything that a decision needs to know about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Who acts.
    pub actor: Actor,
    /// The client's number for this request. Only the system's own commands have none.
    pub key: Option<RequestKey>,
    /// The language of the answer's sentence.
    pub lang: Lang,
    /// What to do.
    pub what: What,
}

impl Command {
    /// A change of a task by `actor`, based on `revision`.
    pub fn change(
        actor: Actor,
        key: RequestKey,
        task: TaskId,
        revision: Revision,
        act: Act,
    ) -> Self {
        Self { actor, key: Some(key), lang: Lang::En, what: What::Change { task, revision, act } }
    }

    /// The rider whom the command puts in charge or asks: the actor, or the one it names.
    pub fn rider(&self) -> Option<RiderId> {
        match &self.what {
            What::Change { act, .. } => act.named_rider().or_else(|| self.actor.rider()),
            What::Create(_) | What::Edit { .. } => self.actor.rider(),
        }
    }

    /// The first text in it that holds U+0000, which PostgreSQL can not store and SQLite cuts at.
    pub fn has_nul(&self) -> bool {
        let actor = matches!(&self.actor, Actor::Intake(source) if source.contains('\0'));
        let text = |text: &Option<String>| text.as_deref().is_some_and(|text| text.contains('\0'));
        let stop =
            |stop: &Stop| stop.address.contains('\0') || text(&stop.name) || text(&stop.phone);
        actor
            || match &self.what {
                What::Create(new) => stop(&new.pickup) || stop(&new.dropoff) || text(&new.note),
                What::Edit { changes, .. } => {
                    text(&changes.note)
                        || text(&changes.pickup_address)
                        || text(&changes.dropoff_address)
                }
                What::Change { act: Act::Grab { ticket: Some(ticket) }, .. } => {
                    ticket.nonce.contains('\0')
                }
                What::Change { .. } => false,
            }
    }
}
