//! What the suite's own terms are called in each language. Each match is complete, so that a new term can not be
//! forgotten.

use super::words::words;
use crate::{
    acceptance::{
        judge::{Outcome, Rule, Where},
        record::NotPlayed,
        scenario::Moment,
        words::{Returns, RiderSees, Standing, WINNER, Who},
    },
    domain::{
        command::Verb,
        refusal::{Code, Lang},
        task::{Stage, StateName},
    },
};

/// Something in words, with the code that machines know it by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) code: Option<String>,
    /// Whether there are no words for it: it stands as it was recorded, in English or in codes.
    pub(super) raw: bool,
}

impl Said {
    pub(super) fn plain(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    pub(super) fn raw(text: &str) -> Self {
        Self { text: text.to_owned(), code: None, raw: true }
    }
}

pub(super) fn who(lang: Lang, who: &Who) -> String {
    let key = match who {
        Who::Rider(name) => return name.clone(),
        Who::Intake => "report-who-intake",
        Who::Customer => "report-who-customer",
        Who::Dispatcher(2) => "report-who-dispatcher-2",
        Who::Dispatcher(_) => "report-who-dispatcher",
        Who::Supervisor => "report-who-supervisor",
        Who::Auditor => "report-who-auditor",
        Who::Foreigner => "report-who-foreigner",
        Who::Nobody => "report-who-nobody",
        Who::System => "report-who-system",
    };
    words(lang, key, &[])
}

/// What a code means, if it is one that we know.
fn meaning(lang: Lang, code: &str) -> Option<String> {
    if let Some(code) = Code::parse(code) {
        return Some(code.sentence(lang).to_owned());
    }
    let key = match code {
        "ALREADY_YOURS" => "report-code-already-yours",
        "ALREADY_DONE" => "report-code-already-done",
        "KEY_MISSING" => "report-code-key-missing",
        "REQUEST_KEY_REUSED" => "report-code-key-reused",
        "REQUEST_IN_PROGRESS" => "report-code-in-progress",
        "REVISION_MISSING" => "report-code-revision-missing",
        "FORBIDDEN" => "report-code-forbidden",
        "NOT_FOUND" => "report-code-not-found",
        "NOT_SIGNED_IN" => "report-code-not-signed-in",
        _ => return None,
    };
    Some(words(lang, key, &[]))
}

fn with_code(lang: Lang, key: &str, bare: &str, code: &str) -> Said {
    let text = match meaning(lang, code) {
        Some(why) => words(lang, key, &[("why", &why)]),
        None => words(lang, bare, &[]),
    };
    Said { text, code: Some(code.to_owned()), raw: false }
}

pub(super) fn returns(lang: Lang, it: &Returns) -> Said {
    match it {
        Returns::Done => Said::plain(words(lang, "report-returns-done", &[])),
        Returns::Already(code) => {
            with_code(lang, "report-returns-already", "report-returns-already-bare", code)
        }
        Returns::Refused(code) => {
            with_code(lang, "report-returns-refused", "report-returns-refused-bare", code)
        }
        Returns::TurnedAway(code) => {
            with_code(lang, "report-returns-turned-away", "report-returns-turned-away-bare", code)
        }
        Returns::Again(first) => {
            let first = returns(lang, first);
            let text = words(lang, "report-returns-again", &[("first", &first.text)]);
            Said { text, ..first }
        }
        Returns::Broken(why) => Said::plain(words(lang, "report-returns-broken", &[("why", why)])),
    }
}

pub(super) fn standing(lang: Lang, it: &Standing) -> String {
    let rider = match it.rider.as_deref() {
        Some(WINNER) => words(lang, "report-the-winner", &[]),
        Some(name) => name.to_owned(),
        None => words(lang, "report-rider-hidden", &[]),
    };
    let rider = [("rider", rider.as_str())];
    match (it.state, it.stage) {
        (StateName::Open, _) => words(lang, "report-stands-open", &[]),
        (StateName::Cancelled, _) => words(lang, "report-stands-cancelled", &[]),
        (StateName::Offered, _) if it.rider.is_none() => words(lang, "report-stands-offered", &[]),
        (StateName::Offered, _) => words(lang, "report-stands-offered-to", &rider),
        (StateName::Assigned, Some(Stage::AtPickup)) => {
            words(lang, "report-stands-at-pickup", &rider)
        }
        (StateName::Assigned, Some(Stage::PickedUp)) => {
            words(lang, "report-stands-picked-up", &rider)
        }
        (StateName::Assigned, Some(Stage::Delivered)) => {
            words(lang, "report-stands-delivered", &rider)
        }
        (StateName::Assigned, Some(Stage::Waiting) | None) => {
            words(lang, "report-stands-assigned", &rider)
        }
    }
}

pub(super) fn sees(lang: Lang, it: RiderSees) -> String {
    let key = match it {
        RiderSees::Mine => "report-sees-mine",
        RiderSees::Invited => "report-sees-invited",
        RiderSees::Pool => "report-sees-pool",
        RiderSees::Nothing => "report-sees-nothing",
    };
    words(lang, key, &[])
}

fn length(lang: Lang, ms: i64) -> String {
    if ms % 1_000 == 0 {
        words(lang, "report-seconds", &[("v", &(ms / 1_000).to_string())])
    } else {
        words(lang, "report-milliseconds", &[("v", &ms.to_string())])
    }
}

pub(super) fn moment(lang: Lang, it: Moment) -> String {
    let (key, ms) = match it {
        Moment::BeforeDeadline(0) | Moment::AfterDeadline(0) => {
            return words(lang, "report-moment-at", &[]);
        }
        Moment::BeforeDeadline(ms) => ("report-moment-before", ms),
        Moment::AfterDeadline(ms) => ("report-moment-after", ms),
        Moment::Later(ms) => ("report-moment-later", ms),
    };
    words(lang, key, &[("length", &length(lang, ms))])
}

pub(super) fn rule(lang: Lang, it: Rule) -> String {
    let key = match it {
        Rule::WrongAnswer => "report-rule-wrong-answer",
        Rule::WrongState => "report-rule-wrong-state",
        Rule::TwoWinners => "report-rule-two-winners",
        Rule::NoWinner => "report-rule-no-winner",
        Rule::NoOrder => "report-rule-no-order",
        Rule::AnswerChanged => "report-rule-answer-changed",
        Rule::WrongEnd => "report-rule-wrong-end",
        Rule::EndsDisagree => "report-rule-ends-disagree",
        Rule::History => "report-rule-history",
        Rule::WrongLog => "report-rule-wrong-log",
        Rule::WrongActor => "report-rule-wrong-actor",
        Rule::AttemptMissing => "report-rule-attempt-missing",
        Rule::Numbers => "report-rule-numbers",
        Rule::NoAnswer => "report-rule-no-answer",
        Rule::NotAsWritten => "report-rule-not-as-written",
        Rule::TableSilent => "report-rule-table-silent",
        Rule::RecordDiffers => "report-rule-record-differs",
        Rule::NoOverlap => "report-rule-no-overlap",
        Rule::CutShort => "report-rule-cut-short",
    };
    words(lang, key, &[])
}

pub(super) fn not_played(lang: Lang, why: NotPlayed) -> String {
    let key = match why {
        NotPlayed::NoSuchCommand => "report-why-no-such-command",
        NotPlayed::NeedsClock => "report-why-needs-clock",
        NotPlayed::NoRiders => "report-why-no-riders",
    };
    words(lang, key, &[])
}

pub(super) fn place(lang: Lang, it: Where) -> String {
    let key = match it {
        Where::Nowhere => "report-where-nowhere",
        Where::Open => "report-where-open",
        Where::Offered => "report-where-offered",
        Where::Waiting => "report-where-waiting",
        Where::AtPickup => "report-where-at-pickup",
        Where::PickedUp => "report-where-picked-up",
        Where::Delivered => "report-where-delivered",
        Where::Cancelled => "report-where-cancelled",
    };
    words(lang, key, &[])
}

pub(super) fn verb(lang: Lang, verb: Verb) -> String {
    words(lang, &format!("verb-{verb}"), &[])
}

pub(super) fn outcome(lang: Lang, it: Outcome) -> String {
    let key = match it {
        Outcome::Passed => "report-passed",
        Outcome::Failed => "report-failed",
        Outcome::NotPlayed => "report-not-played",
    };
    words(lang, key, &[])
}
