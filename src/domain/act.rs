//! The verbs, and what each of them needs.

use serde::{Deserialize, Serialize};

use super::{id::RiderId, text_enum::text_enum};

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
        /// The exclusive round that it belongs to, where the desk itself offers: without that round it is void.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        round: Option<i64>,
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
