//! Rounds in words: the sum behind a rank, and what an entry of the log says.

use super::super::{chip::distance, page::words};
use crate::{
    domain::{rank::Factors, refusal::Lang, round::RoundAction},
    store::LoggedEvent,
};

/// What an entry of the log says of a round, in one line; none if it is of another kind.
pub(super) fn figures(event: &LoggedEvent, lang: Lang) -> Option<String> {
    let detail: serde_json::Value = serde_json::from_str(&event.detail).ok()?;
    let step = detail["step"].as_u64().filter(|_| event.kind == "round")?.to_string();
    match RoundAction::parse(&event.action)? {
        RoundAction::Started => {
            let asked = detail["asked"].as_array().map_or(0, Vec::len).to_string();
            match detail["radius_m"].as_u64().and_then(|metres| u32::try_from(metres).ok()) {
                Some(metres) => {
                    let far = distance(f64::from(metres));
                    Some(words(
                        lang,
                        "round-figures",
                        &[("step", &step), ("asked", &asked), ("far", &far)],
                    ))
                }
                None => Some(words(
                    lang,
                    "round-figures-anywhere",
                    &[("step", &step), ("asked", &asked)],
                )),
            }
        }
        RoundAction::Shown => {
            let asked = detail["asked"].as_array().map_or(0, Vec::len).to_string();
            Some(words(lang, "round-figures-shown", &[("step", &step), ("asked", &asked)]))
        }
        RoundAction::Ended => {
            let status = detail["status"].as_str().unwrap_or_default();
            let status = words(lang, &format!("round-status-{status}"), &[]);
            Some(words(lang, "round-figures-ended", &[("step", &step), ("status", &status)]))
        }
        RoundAction::Declined
        | RoundAction::Pooled
        | RoundAction::Unpooled
        | RoundAction::DeclinesReset
        | RoundAction::TakenOver => Some(words(lang, "round-figures-step", &[("step", &step)])),
    }
}

/// The sum behind a rank, term by term: what counts nothing is left out.
pub(super) fn why(factors: &Factors, lang: Lang) -> String {
    let metres = |metres: i64| distance(f64::from(i32::try_from(metres).unwrap_or(i32::MAX)));
    let mut terms = vec![match factors.distance_m {
        Some(away) => words(lang, "factor-distance", &[("m", &distance(f64::from(away)))]),
        None => words(lang, "factor-unknown", &[]),
    }];
    let term = |key: &str, n: String, m: i64| words(lang, key, &[("n", &n), ("m", &metres(m))]);
    if factors.in_hand_m > 0 {
        terms.push(term("factor-in-hand", factors.in_hand.to_string(), factors.in_hand_m));
    }
    if factors.unanswered_m > 0 {
        let silent = factors.asked.saturating_sub(factors.answered);
        let of = format!("{silent}/{}", factors.asked);
        terms.push(term("factor-unanswered", of, factors.unanswered_m));
    }
    if factors.hand_backs_m > 0 {
        terms.push(term("factor-hand-backs", factors.hand_backs.to_string(), factors.hand_backs_m));
    }
    if factors.waiting_m > 0 {
        terms.push(term("factor-waiting", factors.waiting_minutes.to_string(), factors.waiting_m));
    }
    if terms.len() > 1 && factors.distance_m.is_some() {
        let sum = metres(factors.total_m);
        terms.push(words(lang, "factor-sum", &[("m", &sum)]));
    }
    terms.join(" ")
}
