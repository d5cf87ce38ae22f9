//! Whom a task can be offered to: nearest first, with the figures; and why not the others.

use super::super::{
    chip::{distance, span},
    page::words,
};
use crate::{
    domain::{
        id::{RiderId, Timestamp},
        policy::Region,
        refusal::Lang,
        task::Task,
    },
    store::{self, Card, RiderAccount, Tx},
};

/// How many riders are read for one page, and how many of them are shown.
const READ: i64 = 2_000;
const SHOWN: usize = 60;

/// A rider as a choice in a form.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) id: RiderId,
    /// Name and figures in one line.
    pub(super) text: String,
    /// Whether the rider could take the task now.
    pub(super) fits: bool,
}

/// The riders of the task's region: whoever could take it first, nearest first, then by number; then the others
/// with their reason.
pub(super) async fn choices(
    tx: &mut Tx,
    card: &Card,
    region: &Region,
    now: Timestamp,
    lang: Lang,
) -> store::Result<Vec<Choice>> {
    let riders = tx.riders_of(&[region.id], RiderId(0), READ).await?;
    let at = card.detail.pickup.place();
    let owner = card.task.state.rider();
    let mut ranked: Vec<_> = riders
        .iter()
        .filter(|account| Some(account.rider.id) != owner)
        .map(|account| {
            let why_not = why_not(account, &card.task, region, now);
            let metres = account.place().map(|place| place.metres_to(at));
            (why_not, metres, account)
        })
        .collect();
    ranked.sort_by(|a, b| {
        let far = |metres: Option<f64>| metres.unwrap_or(f64::INFINITY);
        let fits = a.0.is_some().cmp(&b.0.is_some());
        let near = far(a.1).total_cmp(&far(b.1));
        fits.then(near).then(a.2.rider.id.cmp(&b.2.rider.id))
    });
    ranked.truncate(SHOWN);
    let choice =
        |(why_not, metres, account): (Option<String>, Option<f64>, &RiderAccount)| Choice {
            id: account.rider.id,
            fits: why_not.is_none(),
            text: text(account, why_not.as_deref(), metres, now, lang),
        };
    Ok(ranked.into_iter().map(choice).collect())
}

/// Why the rider can not take it, as the end of a key.
fn why_not(account: &RiderAccount, task: &Task, region: &Region, now: Timestamp) -> Option<String> {
    match account.rider.ineligible(task, region, now) {
        Some(why) => Some(why.as_str().to_owned()),
        None if account.free() == 0 => Some("full".to_owned()),
        None => None,
    }
}

fn text(
    account: &RiderAccount,
    why_not: Option<&str>,
    metres: Option<f64>,
    now: Timestamp,
    lang: Lang,
) -> String {
    let free = words(
        lang,
        "rider-places",
        &[("free", &account.free().to_string()), ("all", &account.rider.capacity.to_string())],
    );
    let mut parts = vec![format!("{} {}", account.rider.id, account.name), free];
    if let Some(vehicle) = account.rider.vehicle {
        parts.push(words(lang, &format!("vehicle-{vehicle}"), &[]));
    }
    if let Some(metres) = metres {
        parts.push(distance(metres));
    }
    if let Some(fix) = account.rider.last_fix_at {
        parts.push(words(lang, "rider-seen", &[("v", &span(now.ms_since(fix)))]));
    }
    if let Some(why_not) = why_not {
        parts.push(words(lang, &format!("ineligible-{why_not}"), &[]));
    }
    parts.join(" · ")
}
