//! How people behave.

use crate::domain::command::RequestKey;

/// How people behave. Shares are of 1, times are at pace 1.
#[derive(Clone, Debug)]
pub struct Manners {
    /// Where all chance comes from.
    pub seed: u64,
    /// What all request keys begin with: unlike that of any other run on the same database.
    pub prefix: String,
    /// How much faster than life people answer, drive and look around.
    pub pace: f64,
    /// How long offers wait; the region's own time if not given.
    pub offer_seconds: Option<u32>,
    /// The share of offers that are declined.
    pub declined: f64,
    /// The share of offers that are accepted. What is left is ignored.
    pub accepted: f64,
    /// Half of the answers come within this time.
    pub answer_ms: f64,
    /// The share of the ignored offers that are answered after all, when it is too late.
    pub late: f64,
    /// The share of owned tasks that are handed back before pickup.
    pub handed_back: f64,
    /// The share of orders that the customer cancels.
    pub cancelled: f64,
    /// How often riders read what is theirs; if not given, only when they are called.
    pub look_ms: Option<i64>,
    /// How often riders read what could be grabbed.
    pub browse_ms: Option<i64>,
    /// How often riders read what rounds ask of them; if not given, no round is heeded.
    pub heed_ms: Option<i64>,
    /// How often riders say where they are.
    pub locate_ms: Option<i64>,
    /// How often dispatchers read the log.
    pub dispatch_ms: i64,
    /// How many riders a dispatcher invites before looking again.
    pub offers_per_look: usize,
    /// How many open tasks dispatchers and riders leave for others.
    pub keep_open: usize,
    /// The shop orders nothing while so many are open.
    pub most_open: usize,
    /// What the shop orders by itself, on average.
    pub orders_per_hour: f64,
    /// How many deeds happen side by side; with one, the same seed gives the same day.
    pub abreast: usize,
    /// Deeds that lie so close together are done in one step.
    pub window_ms: i64,
    /// How many deeds there are in one step at most.
    pub most_in_a_step: usize,
}

impl Manners {
    /// What was published, at the pace of life, one after another.
    pub fn published(seed: u64, prefix: &str) -> Self {
        Self {
            seed,
            prefix: prefix.to_owned(),
            pace: 1.0,
            offer_seconds: Some(120),
            declined: 0.25,
            accepted: 0.20,
            answer_ms: 37_000.0,
            late: 0.05,
            handed_back: 0.03,
            cancelled: 0.03,
            look_ms: None,
            browse_ms: Some(240_000),
            heed_ms: None,
            locate_ms: None,
            dispatch_ms: 5_000,
            offers_per_look: 16,
            keep_open: 0,
            most_open: usize::MAX,
            orders_per_hour: 60.0,
            abreast: 1,
            window_ms: 0,
            most_in_a_step: 256,
        }
    }

    /// `ms` of life at this pace.
    pub(super) fn paced(&self, ms: f64) -> i64 {
        super::draw::whole(ms / self.pace.max(0.001))
    }

    /// The same of whole milliseconds.
    pub(super) fn every(&self, ms: i64) -> i64 {
        // No such time is long enough to lose a millisecond.
        self.paced(f64::from(i32::try_from(ms).unwrap_or(i32::MAX)))
    }

    /// The request key of the deed of this number.
    pub(super) fn key(&self, number: u64, part: usize) -> Option<RequestKey> {
        RequestKey::parse(&format!("{}-{number}-{part}", self.prefix))
    }
}
