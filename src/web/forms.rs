//! What was typed into a form, and the act that it asks for.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::domain::{
    command::{Act, Reason, RequestKey, Ticket, Verb},
    id::{Revision, RiderId},
};

/// The fields of a form, as they were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Typed(pub(super) HashMap<String, String>);

impl Typed {
    /// What was typed into a field; nothing if it was left out.
    pub(super) fn get(&self, field: &str) -> &str {
        self.0.get(field).map_or("", |text| text.trim())
    }

    /// The same as it was typed, with spaces before and behind.
    pub(super) fn raw(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    /// A text of several lines; browsers send their ends as CR LF.
    pub(super) fn lines(&self, field: &str) -> String {
        self.raw(field).replace("\r\n", "\n")
    }

    /// Whether this choice of a field was taken.
    pub(super) fn is(&self, field: &str, choice: &str) -> bool {
        self.get(field) == choice
    }
}

/// A field that can not be used, and the words that say why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) field: &'static str,
    pub(super) words: &'static str,
}

const fn wrong<T>(field: &'static str, words: &'static str) -> Result<T, Wrong> {
    Err(Wrong { field, words })
}

/// The key and the revision that the form was rendered with.
pub(super) fn based_on(typed: &Typed) -> Result<(RequestKey, Revision), Wrong> {
    let key = RequestKey::parse(typed.get("key"));
    let revision = typed.get("revision").parse().ok().map(Revision);
    match (key, revision) {
        (Some(key), Some(revision)) => Ok((key, revision)),
        // Only a form that was put together by hand lacks them.
        (None, _) => wrong("key", "wrong-key"),
        (_, None) => wrong("revision", "wrong-revision"),
    }
}

/// The rider that was chosen from the list, or typed as a number.
fn rider(typed: &Typed) -> Result<RiderId, Wrong> {
    let typed_number = typed.get("rider_number");
    let chosen = if typed_number.is_empty() { typed.get("rider") } else { typed_number };
    match RiderId::parse(&chosen.to_ascii_uppercase()) {
        Some(rider) => Ok(rider),
        None => wrong("rider", "wrong-rider"),
    }
}

fn seconds(typed: &Typed) -> Result<Option<u32>, Wrong> {
    match typed.get("seconds") {
        "" => Ok(None),
        text => text.parse().map(Some).or_else(|_| wrong("seconds", "wrong-seconds")),
    }
}

fn reason(typed: &Typed) -> Result<Option<Reason>, Wrong> {
    match typed.get("reason") {
        "" => Ok(None),
        text => {
            Reason::parse(text).map_or_else(|| wrong("reason", "wrong-reason"), |r| Ok(Some(r)))
        }
    }
}

/// The act that a form for `verb` asks for; `None` if no form asks for it.
pub(super) fn act(verb: Verb, typed: &Typed) -> Option<Result<Act, Wrong>> {
    Some(match verb {
        Verb::Grab => ticket(typed).map(|ticket| Act::Grab { ticket }),
        Verb::Offer => rider(typed)
            .and_then(|rider| Ok(Act::Offer { rider, seconds: seconds(typed)?, round: None })),
        Verb::Assign => {
            rider(typed).and_then(|rider| Ok(Act::Assign { rider, reason: reason(typed)? }))
        }
        Verb::Accept => Ok(Act::Accept),
        Verb::Decline => reason(typed).map(|reason| Act::Decline { reason }),
        Verb::Withdraw => reason(typed).map(|reason| Act::Withdraw { reason }),
        Verb::Cancel => reason(typed).map(|reason| Act::Cancel { reason }),
        Verb::Reassign => rider(typed).and_then(|rider| {
            Ok(Act::Reassign {
                rider,
                seconds: seconds(typed)?,
                handover_confirmed: typed.is("handover_confirmed", "yes"),
                reason: reason(typed)?,
            })
        }),
        Verb::HandBack => reason(typed).map(|reason| Act::HandBack { reason }),
        Verb::Arrive => Ok(Act::Arrive),
        Verb::PickUp => Ok(Act::PickUp),
        Verb::Deliver => Ok(Act::Deliver),
        Verb::Create | Verb::Expire | Verb::Edit => return None,
    })
}

fn ticket(typed: &Typed) -> Result<Option<Ticket>, Wrong> {
    match typed.get("ticket").split_once('.') {
        None => Ok(None),
        Some((round, nonce)) => match round.parse() {
            Ok(round) => Ok(Some(Ticket { round, nonce: nonce.to_owned() })),
            Err(_) => wrong("ticket", "wrong-ticket"),
        },
    }
}

/// The reasons that a form for `verb` offers, as codes; their words are `reason-<code>`.
pub(super) const fn reasons(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::Cancel => {
            &["customer_request", "duplicate", "no_rider", "wrong_address", "shop_closed", "other"]
        }
        Verb::Reassign => &["owner_unreachable", "late", "vehicle_trouble", "balance", "other"],
        Verb::Withdraw => &["wrong_rider", "better_rider", "other"],
        Verb::Assign => &["agreed_by_phone", "no_answer", "other"],
        Verb::Decline => &["too_far", "too_busy", "vehicle_trouble", "on_break", "other"],
        Verb::HandBack => &["vehicle_trouble", "accident", "can_not_reach", "other"],
        Verb::Create
        | Verb::Grab
        | Verb::Offer
        | Verb::Accept
        | Verb::Expire
        | Verb::Arrive
        | Verb::PickUp
        | Verb::Deliver
        | Verb::Edit => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(fields: &[(&str, &str)]) -> Typed {
        Typed(fields.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect())
    }

    #[test]
    fn a_rider_is_chosen_or_typed() {
        let offer = |fields: &[(&str, &str)]| act(Verb::Offer, &typed(fields));
        let to =
            |rider, seconds| Some(Ok(Act::Offer { rider: RiderId(rider), seconds, round: None }));
        assert_eq!(offer(&[("rider", "R17"), ("seconds", "")]), to(17, None));
        assert_eq!(
            offer(&[("rider", "R17"), ("rider_number", " r9 "), ("seconds", "45")]),
            to(9, Some(45))
        );
        let no_rider = Wrong { field: "rider", words: "wrong-rider" };
        assert_eq!(offer(&[("rider", "")]), Some(Err(no_rider)));
        let no_seconds = Wrong { field: "seconds", words: "wrong-seconds" };
        assert_eq!(offer(&[("rider", "1"), ("seconds", "1.5")]), Some(Err(no_seconds)));
    }

    #[test]
    fn every_offered_reason_is_a_reason() {
        for verb in Verb::ALL {
            for code in reasons(*verb) {
                assert!(Reason::parse(code).is_some(), "{code}");
            }
        }
    }
}
