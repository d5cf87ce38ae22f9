//! What a region has decided about rounds: a part of its policy.

use serde::{Deserialize, Serialize};

use crate::domain::text_enum::text_enum;

text_enum! {
    /// Who begins.
    pub enum RoundStart {
        /// A dispatcher does; until then the task is open to everybody of the region.
        ByHand = "by_hand",
        /// The desk does, as soon as the task is released.
        AtOnce = "at_once",
    }
}

text_enum! {
    /// What follows when no round found anybody.
    pub enum AfterRounds {
        /// The manual pool, where dispatchers see it with its age.
        ManualPool = "manual_pool",
        /// Exclusive offers to the best candidates, one after another; then the manual pool.
        AutoOffer = "auto_offer",
    }
}

/// How a region asks. Times in milliseconds or seconds, distances in metres, as their names say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoundRules {
    /// Who begins.
    pub start: RoundStart,
    /// The circles around the pickup, from the narrowest to the widest.
    pub ladder_m: Vec<u32>,
    /// How many riders one round asks.
    pub batch: u32,
    /// How long one round waits.
    pub seconds: u32,
    /// How many rounds there are at most.
    pub rounds: u32,
    /// What follows.
    pub then: AfterRounds,
    /// How many exclusive offers there are at most.
    pub auto_offers: u32,
    /// Grabs are collected for so long, and the best of them wins; 0: the first one wins.
    pub fair_window_ms: u32,
    /// The nearest third sees a round at once, the next third so much later, the last third twice as much; 0: all at
    /// once (PRODUCT row 39).
    pub stagger_ms: u32,
    /// How many metres each task that a rider took and gave back within a week counts in the ranking.
    pub hand_back_m: u32,
}

impl Default for RoundRules {
    fn default() -> Self {
        Self {
            start: RoundStart::ByHand,
            ladder_m: vec![2_000, 5_000, 10_000, 20_000],
            batch: 15,
            seconds: 10,
            rounds: 4,
            then: AfterRounds::ManualPool,
            auto_offers: 3,
            fair_window_ms: 0,
            stagger_ms: 0,
            hand_back_m: 300,
        }
    }
}

impl RoundRules {
    /// The field that can not be so, if any; by the name that the forms use.
    ///
    /// A round lasts 5 to 300 s and asks 1 to 200 riders; there are 1 to 10 rounds and rungs, each wider than the one
    /// before, up to 100 km; windows end before the round does.
    pub fn wrong(&self) -> Option<&'static str> {
        let rising = self.ladder_m.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = self.ladder_m.first().zip(self.ladder_m.last());
        let within = ends.is_some_and(|(first, last)| *first >= 50 && *last <= 100_000);
        let round_ms = self.seconds.saturating_mul(1_000);
        let checks = [
            (rising && within && self.ladder_m.len() <= 10, "ladder"),
            ((1..=200).contains(&self.batch), "batch"),
            ((5..=300).contains(&self.seconds), "round_seconds"),
            ((1..=10).contains(&self.rounds), "rounds"),
            (self.auto_offers <= 20, "auto_offers"),
            (self.fair_window_ms <= 10_000 && self.fair_window_ms < round_ms, "fair_window_ms"),
            (self.stagger_ms.saturating_mul(2) < round_ms, "stagger_ms"),
            (self.hand_back_m <= 20_000, "hand_back_m"),
        ];
        checks.into_iter().find_map(|(holds, field)| (!holds).then_some(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_is_named() {
        let fine = RoundRules::default();
        assert_eq!(fine.wrong(), None);
        let wrong = |change: &dyn Fn(&mut RoundRules)| {
            let mut rules = fine.clone();
            change(&mut rules);
            rules.wrong()
        };
        assert_eq!(wrong(&|rules| rules.ladder_m = vec![5_000, 2_000]), Some("ladder"));
        assert_eq!(wrong(&|rules| rules.ladder_m = Vec::new()), Some("ladder"));
        assert_eq!(wrong(&|rules| rules.batch = 0), Some("batch"));
        assert_eq!(wrong(&|rules| rules.seconds = 4), Some("round_seconds"));
        assert_eq!(wrong(&|rules| rules.rounds = 0), Some("rounds"));
        assert_eq!(wrong(&|rules| rules.auto_offers = 21), Some("auto_offers"));
        assert_eq!(wrong(&|rules| rules.fair_window_ms = 20_000), Some("fair_window_ms"));
        assert_eq!(wrong(&|rules| rules.stagger_ms = 10_000), Some("stagger_ms"));
        assert_eq!(wrong(&|rules| rules.hand_back_m = 20_001), Some("hand_back_m"));
    }

    #[test]
    fn rules_that_were_written_before_there_were_rounds_are_read() {
        let rules: RoundRules = serde_json::from_str("{}").expect("all of it has a default");
        assert_eq!(rules, RoundRules::default());
    }
}
