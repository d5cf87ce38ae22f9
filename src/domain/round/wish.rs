//! What dispatchers ask of the automatic, and whether that can be. A round changes no revision, but whoever asks names
//! the one that they saw: nobody sends riders after a task that has meanwhile changed under their hands.

use serde::{Deserialize, Serialize};

use crate::domain::{
    command::Verb,
    id::{Revision, Timestamp},
    refusal::Code,
    task::{Stage, State, Task},
    text_enum::text_enum,
};

/// How the round that is asked for differs from what the region's rules say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Another circle, in metres.
    pub radius_m: Option<u32>,
    /// Another number of riders.
    pub batch: Option<u32>,
    /// Another length, in seconds.
    pub seconds: Option<u32>,
}

impl Options {
    /// The option that can not be so, if any: 50 m to 100 km, 1 to 200 riders, 5 to 300 seconds.
    pub fn wrong(&self) -> Option<&'static str> {
        let outside = |value: Option<u32>, fits: std::ops::RangeInclusive<u32>| {
            value.is_some_and(|value| !fits.contains(&value))
        };
        let checks = [
            (outside(self.radius_m, 50..=100_000), "radius_m"),
            (outside(self.batch, 1..=200), "batch"),
            (outside(self.seconds, 5..=300), "seconds"),
        ];
        checks.into_iter().find_map(|(wrong, field)| wrong.then_some(field))
    }
}

text_enum! {
    /// A wish by name: the last part of its URL, and the verb of its attempt.
    pub enum WishName {
        /// See [`Wish::Start`].
        Start = "round-start",
        /// See [`Wish::Widen`].
        Widen = "round-widen",
        /// See [`Wish::Stop`].
        Stop = "round-stop",
        /// See [`Wish::ResetDeclines`].
        ResetDeclines = "declines-reset",
        /// See [`Wish::LeavePool`].
        LeavePool = "pool-leave",
    }
}

/// What a dispatcher asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Look for riders, from the first circle on, or as the options say.
    Start(Options),
    /// Do not wait for this round's end: ask in the next circle now.
    Widen,
    /// Do nothing more by yourself: I take over.
    Stop,
    /// Ask those again who have declined.
    ResetDeclines,
    /// Take it out of the manual pool: riders may find it again.
    LeavePool,
}

impl Wish {
    /// Its name.
    pub const fn name(self) -> WishName {
        match self {
            Self::Start(_) => WishName::Start,
            Self::Widen => WishName::Widen,
            Self::Stop => WishName::Stop,
            Self::ResetDeclines => WishName::ResetDeclines,
            Self::LeavePool => WishName::LeavePool,
        }
    }

    /// Whether it sends riders something.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Start(_) | Self::Widen)
    }
}

/// Who may have wishes: whoever may make offers, for an offer is the smallest of rounds.
pub const AS: Verb = Verb::Offer;

/// How the search for a task's taker stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// A round runs.
    pub running: bool,
    /// The automatic looks for somebody, between two rounds too.
    pub searching: bool,
    /// It is in the manual pool.
    pub pooled: bool,
}

/// What becomes of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// It is done now.
    Done,
    /// It was so before.
    Already,
    /// It can not be.
    Refused(Code),
}

/// Judges a wish on a task that was seen at revision `named`. The order of answers is that of commands.
pub fn judge(
    wish: Wish,
    task: &Task,
    named: Revision,
    standing: Standing,
    now: Timestamp,
) -> Granted {
    let already = match wish {
        Wish::Stop => !standing.running && !standing.searching,
        Wish::LeavePool => !standing.pooled,
        Wish::Start(_) => standing.running,
        Wish::Widen | Wish::ResetDeclines => false,
    };
    let over = match &task.state {
        State::Cancelled => Some(Code::Cancelled),
        State::Assigned { stage: Stage::Delivered, .. } => Some(Code::Delivered),
        State::Assigned { stage: Stage::PickedUp, .. } => Some(Code::PickedUp),
        State::Open | State::Offered { .. } | State::Assigned { .. } => None,
    };
    if already && over.is_none() {
        return Granted::Already;
    }
    if let Some(code) = over {
        return Granted::Refused(code);
    }
    if named != task.revision {
        return Granted::Refused(Code::StaleRevision);
    }
    if wish.asks() && task.state != State::Open {
        return Granted::Refused(Code::NotOpen);
    }
    if wish.asks() && now < task.release_at {
        return Granted::Refused(Code::NotReleased);
    }
    Granted::Done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        actor::Actor,
        id::{RegionId, RiderId, TaskId},
        task::Mode,
    };

    const NOW: Timestamp = Timestamp(1_000);

    fn task(state: State) -> Task {
        Task {
            id: TaskId(1),
            region: RegionId(1),
            source: "shop".to_owned(),
            revision: Revision(3),
            state,
            release_at: NOW,
            vehicle: None,
            priority: 0,
            changed_at: NOW,
            changed_by: Actor::System,
        }
    }

    fn judged(wish: Wish, state: State, standing: Standing) -> Granted {
        judge(wish, &task(state), Revision(3), standing, NOW)
    }

    const START: Wish = Wish::Start(Options { radius_m: None, batch: None, seconds: None });

    #[test]
    fn only_an_open_task_is_shown_to_riders() {
        let nothing = Standing::default();
        let offered = State::Offered { rider: RiderId(1), slot: 0, until: Timestamp(2_000) };
        for wish in [START, Wish::Widen] {
            assert_eq!(judged(wish, State::Open, nothing), Granted::Done);
            assert_eq!(judged(wish, offered.clone(), nothing), Granted::Refused(Code::NotOpen));
            assert_eq!(judged(wish, State::Cancelled, nothing), Granted::Refused(Code::Cancelled));
        }
        assert_eq!(
            judged(Wish::Stop, offered, Standing { searching: true, ..nothing }),
            Granted::Done
        );
    }

    #[test]
    fn what_is_so_already_is_no_refusal() {
        let running = Standing { running: true, searching: true, pooled: false };
        assert_eq!(judged(START, State::Open, running), Granted::Already);
        assert_eq!(judged(Wish::Widen, State::Open, running), Granted::Done);
        assert_eq!(judged(Wish::Stop, State::Open, Standing::default()), Granted::Already);
        assert_eq!(judged(Wish::LeavePool, State::Open, Standing::default()), Granted::Already);
    }

    #[test]
    fn an_old_page_sends_nobody_anywhere() {
        let stale = judge(START, &task(State::Open), Revision(2), Standing::default(), NOW);
        assert_eq!(stale, Granted::Refused(Code::StaleRevision));
        let early =
            judge(START, &task(State::Open), Revision(3), Standing::default(), Timestamp(999));
        assert_eq!(early, Granted::Refused(Code::NotReleased));
    }

    #[test]
    fn goods_in_hand_are_beyond_all_rounds() {
        let state = State::Assigned {
            rider: RiderId(1),
            slot: Some(0),
            stage: Stage::PickedUp,
            mode: Mode::Grabbed,
        };
        for wish in [START, Wish::Stop, Wish::ResetDeclines, Wish::LeavePool] {
            assert_eq!(
                judged(wish, state.clone(), Standing::default()),
                Granted::Refused(Code::PickedUp)
            );
        }
    }

    #[test]
    fn options_have_limits() {
        assert_eq!(Options::default().wrong(), None);
        let of = |radius_m, batch, seconds| Options { radius_m, batch, seconds }.wrong();
        assert_eq!(of(Some(49), None, None), Some("radius_m"));
        assert_eq!(of(None, Some(0), None), Some("batch"));
        assert_eq!(of(None, None, Some(301)), Some("seconds"));
    }
}
