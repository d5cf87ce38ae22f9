//! What was done to one of the desk's own things, the latest first.

use crate::{
    domain::{
        actor::Actor,
        admin::AdminSubject,
        id::{RiderId, StaffId, Timestamp},
        refusal::Lang,
    },
    store::{self, LoggedEvent, Tx},
    web::page::{When, Zone, words},
};

/// The most that a page shows.
const MOST: i64 = 30;

/// One change, as people read it.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) at: When,
    pub(super) who: String,
    pub(super) what: String,
    /// What exactly, as the log has it.
    pub(super) detail: String,
}

fn detail(event: &LoggedEvent) -> String {
    let detail: serde_json::Value = serde_json::from_str(&event.detail).unwrap_or_default();
    let fields = detail.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, value)| name.as_str() != "of" && !value.is_null());
    let text =
        |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fields.map(|(name, value)| format!("{name}: {}", text(value))).collect::<Vec<_>>().join(" · ")
}

/// What was done to `of`.
pub(super) async fn of(
    tx: &mut Tx,
    of: AdminSubject,
    zone: Zone,
    lang: Lang,
) -> store::Result<Vec<Change>> {
    let events = tx.changes_of(of, MOST).await?;
    let actors: Vec<_> = events
        .iter()
        .map(|event| Actor::from_columns(&event.actor_kind, event.actor_id.as_deref()))
        .collect();
    let (mut staff, mut riders): (Vec<StaffId>, Vec<RiderId>) = (Vec::new(), Vec::new());
    for actor in actors.iter().flatten() {
        match actor {
            Actor::Staff(id) => staff.push(*id),
            Actor::Rider(id) => riders.push(*id),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) => {}
        }
    }
    let names = tx.names(&riders, &staff).await?;
    let who = |actor: &Option<Actor>| match actor {
        Some(Actor::Staff(id)) => names.staff.get(id).map(|name| format!("{name} ({id})")),
        Some(Actor::Rider(id)) => names.riders.get(id).map(|name| format!("{name} ({id})")),
        Some(Actor::System) | None => Some(words(lang, "actor-program", &[])),
        Some(other) => Some(other.to_string()),
    };
    let change = |(event, actor): (&LoggedEvent, &Option<Actor>)| Change {
        at: zone.when(Timestamp(event.occurred_at)),
        who: who(actor).unwrap_or_default(),
        what: words(lang, &format!("done-{}", event.action), &[]),
        detail: detail(event),
    };
    Ok(events.iter().zip(&actors).map(change).collect())
}
