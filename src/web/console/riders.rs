//! Whom a task can be offered to: in the order in which rounds ask, with the figures; and why not the others.

use std::collections::HashMap;

use super::super::{
    chip::{distance, span},
    page::words,
};
use crate::{
    domain::{
        id::{RiderId, Timestamp},
        policy::Region,
        rank::LeftOut,
        refusal::Lang,
    },
    engine::rounds,
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

/// The riders of the task's region in the order in which a round would ask them; then the others with their reason.
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
    let seen =
        |account: &RiderAccount| (account.rider.id, account.place().zip(account.rider.last_fix_at));
    let seen: Vec<_> = riders.iter().map(seen).filter(|(id, _)| Some(*id) != owner).collect();
    let ranking = rounds::among(tx, &card.task, region, at, &seen).await?;
    let accounts: HashMap<_, _> =
        riders.iter().map(|account| (account.rider.id, account)).collect();
    let candidates = ranking.candidates.iter().map(|one| (one.rider, None, one.factors.distance_m));
    let others = ranking.left_out.iter().map(|(rider, why, metres)| (*rider, Some(*why), *metres));
    let choice = |(rider, why, metres): (RiderId, Option<LeftOut>, Option<u32>)| {
        let account = accounts.get(&rider)?;
        Some(Choice {
            id: rider,
            // Who declined before may be asked again by hand, and says yes or no.
            fits: why.is_none_or(LeftOut::may_be_asked_by_hand),
            text: text(account, why, metres.map(f64::from), now, lang),
        })
    };
    Ok(candidates.chain(others).take(SHOWN).filter_map(choice).collect())
}

fn text(
    account: &RiderAccount,
    why: Option<LeftOut>,
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
    if let Some(why) = why {
        parts.push(words(lang, &format!("left-out-{why}"), &[]));
    }
    parts.join(" · ")
}
