//! A typed "no": an answer, not an error.

use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;

text_enum! {
    /// The languages that answers come in.
    pub enum Lang {
        /// Simplified Chinese.
        Zh = "zh-CN",
        /// English.
        En = "en",
    }
}

text_enum! {
    /// Why a command was refused. The list is closed: scripts depend on it.
    pub enum Code {
        /// The task changed after the revision that the command names.
        StaleRevision = "STALE_REVISION",
        /// It is not open.
        NotOpen = "NOT_OPEN",
        /// No offer is waiting.
        NotOffered = "NOT_OFFERED",
        /// It has no owner.
        NotAssigned = "NOT_ASSIGNED",
        /// Another rider was first.
        TakenByOther = "TAKEN_BY_OTHER",
        /// The offer's deadline has passed.
        OfferExpired = "OFFER_EXPIRED",
        /// The offer was taken back.
        OfferWithdrawn = "OFFER_WITHDRAWN",
        /// This rider has no offer for it.
        NotInvited = "NOT_INVITED",
        /// This rider does not own it.
        NotOwner = "NOT_OWNER",
        /// Another step comes first.
        WrongStage = "WRONG_STAGE",
        /// The rider already owns it.
        SameRider = "SAME_RIDER",
        /// Its release time has not come.
        NotReleased = "NOT_RELEASED",
        /// All of the rider's places are taken.
        RiderAtCapacity = "RIDER_AT_CAPACITY",
        /// The rider can not take it; the reason is an [`Ineligible`].
        RiderNotEligible = "RIDER_NOT_ELIGIBLE",
        /// A round runs and this rider holds no ticket for it.
        InvalidTicket = "INVALID_TICKET",
        /// The ticket's round is over.
        TicketExpired = "TICKET_EXPIRED",
        /// The region's policy keeps this rider from grabbing for now.
        RiskRejected = "RISK_REJECTED",
        /// It was cancelled.
        Cancelled = "CANCELLED",
        /// The goods are in the rider's hands.
        PickedUp = "PICKED_UP",
        /// It was delivered.
        Delivered = "DELIVERED",
        /// The handover with the present owner was not confirmed.
        HandoverNotConfirmed = "HANDOVER_NOT_CONFIRMED",
        /// The rider has handed back as many tasks as a day allows.
        HandBackLimit = "HAND_BACK_LIMIT",
        /// The region asks riders before it assigns.
        ImmediateModeOff = "IMMEDIATE_MODE_OFF",
        /// The pickup lies outside the region.
        OutsideRegion = "OUTSIDE_REGION",
    }
}

text_enum! {
    /// Why a rider can not take a task.
    pub enum Ineligible {
        /// Not on duty.
        OffDuty = "off_duty",
        /// On a break.
        Paused = "paused",
        /// Disabled by staff.
        Disabled = "disabled",
        /// Works in another region, or does not exist.
        OtherRegion = "other_region",
        /// Drives something else than the task needs.
        Vehicle = "vehicle",
        /// The last known position is older than the region allows.
        StalePosition = "stale_position",
    }
}

impl Code {
    /// Whether the refusal rests on facts beside the task and the command: time, rider, ticket,
    /// policy. The judge of a recorded run can not see those facts; it checks that all else was right.
    pub const fn rests_on_facts(self) -> bool {
        match self {
            Self::NotReleased
            | Self::RiderAtCapacity
            | Self::RiderNotEligible
            | Self::InvalidTicket
            | Self::TicketExpired
            | Self::RiskRejected
            | Self::HandBackLimit
            | Self::ImmediateModeOff
            | Self::OutsideRegion => true,
            Self::StaleRevision
            | Self::NotOpen
            | Self::NotOffered
            | Self::NotAssigned
            | Self::TakenByOther
            | Self::OfferExpired
            | Self::OfferWithdrawn
            | Self::NotInvited
            | Self::NotOwner
            | Self::WrongStage
            | Self::SameRider
            | Self::Cancelled
            | Self::PickedUp
            | Self::Delivered
            | Self::HandoverNotConfirmed => false,
        }
    }

    /// One sentence for the person who asked.
    pub const fn sentence(self, lang: Lang) -> &'static str {
        let (zh, en) = self.sentences();
        match lang {
            Lang::Zh => zh,
            Lang::En => en,
        }
    }

    const fn sentences(self) -> (&'static str, &'static str) {
        match self {
            Self::StaleRevision => (
                "任务在您查看之后已变更，请按最新状态重新操作。",
                "The task has changed since you looked; decide again on its present state.",
            ),
            Self::NotOpen => ("任务当前不是待接状态。", "The task is not open."),
            Self::NotOffered => ("任务当前没有待确认的邀请。", "No offer is waiting on this task."),
            Self::NotAssigned => ("任务当前没有负责骑手。", "The task has no owner."),
            Self::TakenByOther => ("任务已被其他骑手接走。", "Another rider has taken the task."),
            Self::OfferExpired => (
                "邀请已到期，任务已释放。",
                "The offer's deadline has passed and the task was released.",
            ),
            Self::OfferWithdrawn => ("邀请已被撤回。", "The offer was withdrawn."),
            Self::NotInvited => ("您没有收到该任务的邀请。", "You have no offer for this task."),
            Self::NotOwner => ("您不是该任务的负责骑手。", "You do not own this task."),
            Self::WrongStage => ("请先完成上一步。", "Another step comes first."),
            Self::SameRider => ("该骑手已经是负责骑手。", "That rider already owns the task."),
            Self::NotReleased => ("任务尚未到放单时间。", "The task is not released yet."),
            Self::RiderAtCapacity => {
                ("骑手的在手任务已满。", "All of the rider's places are taken.")
            }
            Self::RiderNotEligible => {
                ("该骑手目前不能接此任务。", "The rider can not take this task now.")
            }
            Self::InvalidTicket => (
                "任务正在定向广播，您没有本轮资格。",
                "A round is running and you hold no ticket for it.",
            ),
            Self::TicketExpired => ("本轮广播已结束。", "The round of your ticket is over."),
            Self::RiskRejected => (
                "区域规则暂不允许您抢单，请联系调度。",
                "The region's policy keeps you from grabbing for now; ask the desk.",
            ),
            Self::Cancelled => ("任务已取消。", "The task was cancelled."),
            Self::PickedUp => (
                "货物已取，只能线下确认交接。",
                "The goods are in the rider's hands; they change hands only by a handover.",
            ),
            Self::Delivered => ("任务已送达。", "The task was delivered."),
            Self::HandoverNotConfirmed => {
                ("请先与现任骑手确认交接。", "Confirm the handover with the present owner first.")
            }
            Self::HandBackLimit => (
                "今日退回次数已用完，请联系调度。",
                "Today's hand-backs are used up; ask the desk.",
            ),
            Self::ImmediateModeOff => (
                "本区域须先邀请骑手确认，直接指派请由主管操作。",
                "This region asks riders first; a supervisor may assign directly.",
            ),
            Self::OutsideRegion => ("取货点不在该区域内。", "The pickup lies outside the region."),
        }
    }
}

/// A refusal: its code, and for [`Code::RiderNotEligible`] the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Refusal {
    /// What happened.
    pub code: Code,
    /// Why the rider can not take it.
    pub ineligible: Option<Ineligible>,
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self { code, ineligible: None }
    }
}

impl From<Ineligible> for Refusal {
    fn from(reason: Ineligible) -> Self {
        Self { code: Code::RiderNotEligible, ineligible: Some(reason) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence_of_its_own_in_both_languages() {
        for lang in Lang::ALL {
            let sentences: std::collections::BTreeSet<_> =
                Code::ALL.iter().map(|code| code.sentence(*lang)).collect();
            assert_eq!(sentences.len(), Code::ALL.len(), "{lang}");
        }
    }
}
