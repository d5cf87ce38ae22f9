//! Changes of the desk itself: people, regions, rules, tokens, sessions. Each is one transaction, and stands in the
//! same log as the tasks.
//!
//! ```text
//!  Office::open(executor, actor) ──► transaction, the store's now, the actor's account locked against changes
//!    change rows through `office.tx`
//!    office.note(what was done)
//!  office.commit() ──► numbers last, events, COMMIT; readers are woken
//! ```
//!
//! Dropped before the commit, nothing was done.
//!
//! | file | |
//! |---|---|
//! | `staff` | staff, and how they sign in |
//! | `riders` | riders, and how they come in |
//! | `places` | regions and their rules |
//! | `keys` | tokens of scripts, sessions, rules of the whole desk |
//! | `reveal`, `erase` | personal data: shown with a reason; no longer kept |
//! | `own` | one's own password, second factor and sessions |

mod erase;
mod import;
mod keys;
mod own;
mod places;
mod reveal;
mod riders;
mod staff;

pub use erase::DAY_MS;
pub use keys::NewToken;
pub use own::SetUp;
pub use reveal::Shown;
pub use riders::{NewRider, phone_number};
pub use staff::NewStaff;

use super::executor::Executor;
use crate::{
    domain::{
        actor::{Actor, RequestKey, Role},
        admin::{AdminAction, AdminEvent, AdminSubject},
        authority::{Matter, who},
        facts::Staff,
        fingerprint::hex,
        id::{RegionId, Timestamp},
    },
    store::{self, EventRow, OutcomeRow, Tx},
};

/// A link by which somebody sets their own password is good this long, in milliseconds: three days.
pub const PASSWORD_LINK_MS: i64 = 3 * 86_400_000;
/// A link by which a rider comes in is good this long, in milliseconds: a day.
pub const RIDER_LINK_MS: i64 = 86_400_000;

/// Why a change was not made. Nothing of it was.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The account of whoever asks is shut.
    #[error("NOT_SIGNED_IN")]
    NotSignedIn,
    /// Not in this role, or not with these regions.
    #[error("FORBIDDEN")]
    Forbidden,
    /// There is no such thing, or none that whoever asks may know of.
    #[error("NOT_FOUND")]
    NotFound,
    /// Somebody changed it meanwhile: look again, decide again.
    #[error("RECORD_CHANGED")]
    Stale,
    /// Somebody else has that name or number.
    #[error("TAKEN")]
    Taken,
    /// One's own way in: that is kept on one's own page, with the present password.
    #[error("OWN_ACCOUNT")]
    OwnAccount,
    /// It would leave the desk without an admin.
    #[error("LAST_ADMIN")]
    LastAdmin,
    /// Something that was given can not be, by the name of its field.
    #[error("{0} is not valid")]
    Invalid(&'static str),
    /// Personal data that is still needed: the task is not over, or the rider is not shut out or still holds something.
    #[error("NOT_OVER")]
    NotOver,
    /// The same form was sent before and did its work; its page.
    #[error("done before: {0}")]
    Before(String),
    /// The rider's tasks are being changed at this moment.
    #[error("BUSY")]
    Busy,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// The result of a change.
pub type Result<T> = std::result::Result<T, Error>;

/// A unique name that somebody else has.
fn taken(error: store::Error) -> Error {
    match error {
        store::Error::Moved(_) => Error::Taken,
        other => Error::Store(other),
    }
}

/// A name of people or places: not empty, no control characters, at most 80 characters.
fn name<'a>(text: &'a str, field: &'static str) -> Result<&'a str> {
    let text = text.trim();
    let fits = (1..=80).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits { Ok(text) } else { Err(Error::Invalid(field)) }
}

/// One change of the desk, under way.
#[derive(Debug)]
pub struct Office {
    executor: Executor,
    actor: Actor,
    /// The account of whoever acts, locked against changes; none if it is no member of staff.
    staff: Option<Staff>,
    /// The transaction.
    pub tx: Tx,
    now: Timestamp,
    notes: Vec<AdminEvent>,
    /// The key of the form, and the page that shows what it did.
    form: Option<(RequestKey, String)>,
}

impl Office {
    /// Begins a change on behalf of `actor`.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn open(executor: &Executor, actor: &Actor) -> store::Result<Self> {
        let mut tx = executor.db().begin().await?;
        let staff = match actor {
            Actor::Staff(id) => tx.lock_staff(&[*id]).await?.pop().filter(|staff| !staff.disabled),
            Actor::System | Actor::Intake(_) | Actor::Customer(_) | Actor::Rider(_) => None,
        };
        let now = tx.now().await?;
        let (executor, actor) = (executor.clone(), actor.clone());
        Ok(Self { executor, actor, staff, tx, now, notes: Vec::new(), form: None })
    }

    /// The store's instant.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Begins a change that only some roles may make. Their right holds until the commit.
    ///
    /// # Errors
    /// [`Error::NotSignedIn`], [`Error::Forbidden`], or whatever the database says.
    pub async fn open_for(executor: &Executor, actor: &Actor, matter: Matter) -> Result<Self> {
        let office = Self::open(executor, actor).await?;
        match office.role() {
            None => Err(Error::NotSignedIn),
            Some(role) if role == Role::System || who(matter).contains(&role) => Ok(office),
            Some(_) => Err(Error::Forbidden),
        }
    }

    /// Sees to it that a form does its work once, however often it is sent. Without a key it may do it again.
    ///
    /// # Errors
    /// [`Error::Before`] with the page of what it did, or whatever the database says.
    pub async fn once(&mut self, key: Option<&RequestKey>) -> Result<()> {
        let Some(key) = key else { return Ok(()) };
        let principal = self.actor.principal();
        let known = self.tx.outcomes(&[(principal.as_str(), key.as_str())]).await?.pop();
        if let Some(known) = known {
            return Err(Error::Before(known.location.unwrap_or_default()));
        }
        self.form = Some((key.clone(), String::new()));
        Ok(())
    }

    /// The page of what the form did.
    pub fn shown_at(&mut self, page: String) {
        if let Some((_, shown)) = &mut self.form {
            *shown = page;
        }
    }

    /// The role of whoever acts; none if they have no account, or it is shut.
    pub fn role(&self) -> Option<Role> {
        match (&self.actor, &self.staff) {
            (Actor::System, _) => Some(Role::System),
            (_, staff) => staff.as_ref().map(|staff| staff.role),
        }
    }

    /// Whether `region` is one of whoever acts.
    pub fn reaches(&self, region: RegionId) -> bool {
        match (&self.actor, &self.staff) {
            (Actor::System, _) => true,
            (_, Some(staff)) => staff.regions.contains(&region),
            (_, None) => false,
        }
    }

    /// Whether all of `regions` are those of whoever acts. Whoever has none yet belongs to nobody's region, and is kept by
    /// those who have every one.
    ///
    /// # Errors
    /// Whatever the database says.
    pub async fn reaches_all(&mut self, regions: &[RegionId]) -> store::Result<bool> {
        if !regions.is_empty() {
            return Ok(regions.iter().all(|region| self.reaches(*region)));
        }
        let all = self.tx.regions(self.now).await?;
        Ok(all.iter().all(|found| self.reaches(found.region.id)))
    }

    /// Says what was done. It stands in the log once it is committed.
    pub fn note(&mut self, event: AdminEvent) {
        self.notes.push(event);
    }

    /// An unguessable name of 128 bits.
    ///
    /// # Errors
    /// If the system has no randomness to give.
    pub fn token(&self) -> store::Result<String> {
        let mut bytes = [0; 16];
        let entropy = &self.executor.settings().entropy;
        entropy.fill(&mut bytes).map_err(|error| store::Error::Driver(error.into()))?;
        Ok(hex(&bytes))
    }

    /// Makes the change last, with what was noted.
    ///
    /// # Errors
    /// Whatever the database says; then nothing was done, unless the connection broke in the commit itself.
    pub async fn commit(mut self) -> store::Result<()> {
        let count = i64::try_from(self.notes.len()).unwrap_or(i64::MAX);
        let mut head = None;
        if count > 0 {
            for note in self.notes.iter_mut().filter(|note| note.region.is_none()) {
                let of = match note.of {
                    // What was taken away, or made for a source of orders, belongs to where whoever did it does.
                    AdminSubject::Desk if note.action != AdminAction::RuleChanged => {
                        AdminSubject::of(&self.actor)
                    }
                    of => of,
                };
                note.region = self.tx.region_of(of).await?;
            }
            // The counter is locked from here to the commit, so it comes last.
            let (first, _) = self.tx.take_numbers(count, 0).await?;
            let mut rows = Vec::with_capacity(self.notes.len());
            for (number, note) in (first..).zip(&self.notes) {
                let id = self.token()?;
                rows.push(EventRow::of_admin(number, id, note, &self.actor, self.now));
            }
            self.tx.insert_events(&rows).await?;
            head = Some(first + count - 1);
        }
        if let Some((key, page)) = &self.form {
            let (principal, fingerprint) = (self.actor.principal(), "form");
            let row = OutcomeRow {
                principal: &principal,
                request_key: key.as_str(),
                fingerprint,
                status: 303,
                location: Some(page),
                etag: None,
                body: "",
                at: self.now.0,
            };
            self.tx.insert_outcomes(&[row]).await?;
        }
        self.tx.commit().await?;
        if let Some(head) = head {
            self.executor.committed(head);
        }
        Ok(())
    }
}
