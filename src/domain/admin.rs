//! What admins do to the desk itself, as it stands in the log: people, regions, rules, tokens, sessions.

use super::{
    actor::Actor,
    id::{RegionId, RiderId, StaffId, TaskId},
    text_enum::text_enum,
};

text_enum! {
    /// What was done. The list is closed; each stands in the log as it is spelt here.
    pub enum AdminAction {
        /// The first admin came in by the set-up link.
        SetUp = "set-up",
        /// Somebody with the machine in hand let an admin in again.
        Recovered = "recovered",
        /// A member of staff was added.
        StaffAdded = "staff-added",
        /// Name, role or regions of a member of staff.
        StaffChanged = "staff-changed",
        /// A member of staff was shut out.
        StaffDisabled = "staff-disabled",
        /// A member of staff was let in again.
        StaffEnabled = "staff-enabled",
        /// A link was made by which somebody sets their own password.
        PasswordLinkMade = "password-link-made",
        /// Somebody set their own password.
        PasswordSet = "password-set",
        /// A second factor was confirmed.
        FactorSet = "factor-set",
        /// A second factor was taken away.
        FactorRemoved = "factor-removed",
        /// A recovery code was used up.
        RecoveryCodeUsed = "recovery-code-used",
        /// Sessions were ended by somebody.
        SessionsEnded = "sessions-ended",
        /// A rider was added.
        RiderAdded = "rider-added",
        /// Name, phone or vehicle of a rider.
        RiderChanged = "rider-changed",
        /// A link was made that signs somebody in.
        SignInLinkMade = "sign-in-link-made",
        /// A region was added.
        RegionAdded = "region-added",
        /// Name, time zone, area or retention of a region.
        RegionChanged = "region-changed",
        /// A version of a region's rules.
        PolicyAdded = "policy-added",
        /// A token for a script.
        TokenMade = "token-made",
        /// A token was ended.
        TokenEnded = "token-ended",
        /// A rule of the whole desk.
        RuleChanged = "rule-changed",
        /// A signal about a rider was looked at, and dismissed.
        SignalDismissed = "signal-dismissed",
        /// A masked phone number was shown to somebody.
        Revealed = "revealed",
        /// Personal data was erased.
        Erased = "erased",
        /// A file of tasks or positions was imported.
        Imported = "imported",
        /// The log was exported.
        Exported = "exported",
        /// Somebody asked for what their role may not have.
        Denied = "denied",
    }
}

/// What it was done to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AdminSubject {
    /// The whole desk.
    Desk,
    /// A member of staff.
    Staff(StaffId),
    /// A rider.
    Rider(RiderId),
    /// A region.
    Region(RegionId),
    /// A task, or what is written on it.
    Task(TaskId),
}

impl AdminSubject {
    /// What a token, a link or a session of `actor` is about: the person, or the desk for whoever is none of its people.
    pub const fn of(actor: &Actor) -> Self {
        match actor {
            Actor::Staff(staff) => Self::Staff(*staff),
            Actor::Rider(rider) => Self::Rider(*rider),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) => Self::Desk,
        }
    }

    /// Its number; the desk has none and is 0.
    pub const fn number(self) -> i64 {
        match self {
            Self::Desk => 0,
            Self::Staff(id) => id.0,
            Self::Rider(id) => id.0,
            Self::Region(id) => id.0,
            Self::Task(id) => id.0,
        }
    }

    /// What kind of thing it is, as it stands in the log's detail.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Desk => "desk",
            Self::Staff(_) => "staff",
            Self::Rider(_) => "rider",
            Self::Region(_) => "region",
            Self::Task(_) => "task",
        }
    }
}

/// One change of the desk itself. Personal data and secrets have no place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminEvent {
    /// What was done.
    pub action: AdminAction,
    /// To what.
    pub of: AdminSubject,
    /// The region that it concerns, whose staff may read of it; none if it concerns the whole desk, or people of several
    /// regions. What was done about a person of one region gets that one when it is written.
    pub region: Option<RegionId>,
    /// What exactly: names of fields, and values that are no personal data.
    pub detail: Vec<(&'static str, String)>,
}

impl AdminEvent {
    /// Something that concerns the whole desk, with nothing more to say about it.
    pub const fn new(action: AdminAction, of: AdminSubject) -> Self {
        Self { action, of, region: None, detail: Vec::new() }
    }

    /// The same, for a region.
    #[must_use]
    pub fn in_region(self, region: impl Into<Option<RegionId>>) -> Self {
        Self { region: region.into(), ..self }
    }

    /// The same with one thing more said.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.detail.push((name, value.into()));
        self
    }
}
