//! Who was asked for a task, round by round, and what a dispatcher can ask of the automatic.

use std::collections::BTreeMap;

use axum::{
    extract::State,
    response::{IntoResponse, Redirect, Response},
};

use super::super::{
    answer_page::name_of,
    chip::{distance, span},
    desk::Desk,
    extract::{Form, InPath, TaskPath},
    forms::{self, Typed},
    page::{When, Zone, encode, words},
    people::{Seat, StaffSeat},
    problem::{Problem, ProblemCode},
};
use super::reasons::why;
use crate::{
    domain::{
        answer::Outcome,
        command::RequestKey,
        id::{RiderId, TaskId},
        rank::LeftOut,
        refusal::{Code, Lang},
        round::{self, RoundStatus},
        task::{StateName, Task},
    },
    engine::rounds::{Options, RoundReply, Wish},
    store::{self, LedgerLine, Names, Pooled, Round, Tx},
};

/// One who was asked.
pub(super) struct AskedLine {
    pub(super) rank: u32,
    pub(super) rider: String,
    pub(super) distance: Option<String>,
    /// The sum, term by term.
    pub(super) why: String,
    pub(super) shown: Option<When>,
    /// `round-answer-…`.
    pub(super) answer: String,
    pub(super) answered: Option<When>,
}

/// One round as the page shows it.
pub(super) struct RoundLine {
    pub(super) step: u32,
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) radius: Option<String>,
    pub(super) started: When,
    pub(super) until: When,
    pub(super) ended: Option<When>,
    /// How many were asked.
    pub(super) count: usize,
    pub(super) asked: Vec<AskedLine>,
    /// Words and numbers of those who were left out.
    pub(super) left_out: Vec<(String, u32)>,
}

/// Something that a dispatcher can ask for.
pub(super) struct WishForm {
    /// The last part of its path; its button is `wish-…`.
    pub(super) name: &'static str,
    pub(super) key: String,
}

/// All of it.
pub(super) struct RoundsPart {
    pub(super) rounds: Vec<RoundLine>,
    /// Since when and why it is in the manual pool: `pool-reason-…`, and how long.
    pub(super) pooled: Option<(String, When, String)>,
    /// When the desk does something next.
    pub(super) next: Option<When>,
    pub(super) forms: Vec<WishForm>,
    /// What became of the last wish.
    pub(super) told: Option<(bool, String)>,
    /// Whether a look at who would be asked makes sense.
    pub(super) open: bool,
}

/// The riders whom the ledger names.
pub(super) fn riders_of(ledger: &[LedgerLine]) -> Vec<RiderId> {
    ledger.iter().filter(|line| line.asked.is_ok()).map(|line| line.rider).collect()
}

/// What is read for it.
pub(super) struct Read {
    pub(super) rounds: Vec<Round>,
    pub(super) ledger: Vec<LedgerLine>,
    pub(super) pooled: Option<Pooled>,
    pub(super) next: Option<crate::domain::id::Timestamp>,
    pub(super) told: Option<RoundReply>,
}

impl Read {
    /// Reads the rounds of a task, and the answer to the wish with this key.
    pub(super) async fn of(
        tx: &mut Tx,
        seat: &Seat,
        task: TaskId,
        wish: Option<&str>,
    ) -> store::Result<Self> {
        let told = match wish.and_then(RequestKey::parse) {
            None => None,
            Some(key) => tx.outcomes(&[(&seat.actor().principal(), key.as_str())]).await?.pop(),
        };
        Ok(Self {
            rounds: tx.rounds_of(task).await?,
            ledger: tx.ledger_of(task).await?,
            pooled: tx.pooled(task).await?,
            next: tx.search_of(task).await?.map(|(due, _)| due),
            told: told.and_then(|told| serde_json::from_str(&told.body).ok()),
        })
    }

    /// The same in words.
    pub(super) fn part(
        &self,
        desk: &Desk,
        seat: &Seat,
        task: &Task,
        names: &Names,
        zone: Zone,
    ) -> RoundsPart {
        let lang = seat.lang();
        let rounds = self.rounds.iter().rev();
        RoundsPart {
            rounds: rounds.map(|round| line(round, &self.ledger, names, zone, lang)).collect(),
            pooled: self.pooled.map(|pooled| {
                let age = span(zone.now.ms_since(pooled.since));
                (format!("pool-reason-{}", pooled.reason), zone.when(pooled.since), age)
            }),
            next: self.next.map(|due| zone.when(due)),
            forms: self.forms(desk, seat, task),
            told: self.told.as_ref().map(|told| said(told, lang)),
            open: task.state.name() == StateName::Open,
        }
    }

    /// What can be asked for now.
    fn forms(&self, desk: &Desk, seat: &Seat, task: &Task) -> Vec<WishForm> {
        if !seat.may(round::AS) || task.is_over() {
            return Vec::new();
        }
        let runs = self.rounds.last().is_some_and(|round| round.status == RoundStatus::Running);
        let open = task.state.name() == StateName::Open;
        let searching = runs || self.next.is_some();
        let declined = self.ledger.iter().filter_map(|line| line.asked.as_ref().ok());
        let declined = declined.filter_map(|asked| asked.answered).count() > 0;
        let can = [
            ("start", open && !runs),
            ("widen", open && runs),
            ("stop", searching),
            ("reset", open && declined),
            ("leave", open && self.pooled.is_some()),
        ];
        let key = || format!("page-{}", desk.token().unwrap_or_default());
        can.into_iter()
            .filter(|(_, can)| *can)
            .map(|(name, _)| WishForm { name, key: key() })
            .collect()
    }
}

/// What became of a wish: whether it was refused, and one sentence.
fn said(told: &RoundReply, lang: Lang) -> (bool, String) {
    let sentence = match told.outcome {
        Outcome::Done => match &told.round {
            Some(round) if round.status == RoundStatus::Running => words(
                lang,
                "round-told",
                &[("step", &round.step.to_string()), ("asked", &round.asked.to_string())],
            ),
            Some(_) | None => words(lang, "round-done", &[]),
        },
        Outcome::AlreadyDone => words(lang, "round-already", &[]),
        Outcome::Refused => {
            let code = told.code.as_deref().and_then(Code::parse);
            code.map_or_else(String::new, |code| code.sentence(lang).to_owned())
        }
    };
    (told.outcome == Outcome::Refused, sentence)
}

fn line(round: &Round, ledger: &[LedgerLine], names: &Names, zone: Zone, lang: Lang) -> RoundLine {
    let mine = || ledger.iter().filter(|line| line.round == round.id);
    let asked = mine().filter_map(|line| {
        let asked = line.asked.as_ref().ok()?;
        let answer = match (asked.answered, round.status) {
            (Some((answer, _)), _) => format!("round-answer-{answer}"),
            (None, RoundStatus::Running) => "round-answer-waiting".to_owned(),
            (None, _) => "round-answer-silent".to_owned(),
        };
        Some(AskedLine {
            rank: asked.rank,
            rider: name_of(&line.rider.to_string(), names, lang),
            distance: line.distance_m.map(|metres| distance(f64::from(metres))),
            why: why(&asked.factors, lang),
            shown: asked.shown_at.map(|at| zone.when(at)),
            answer,
            answered: asked.answered.map(|(_, at)| zone.when(at)),
        })
    });
    let mut left_out: BTreeMap<LeftOut, u32> = BTreeMap::new();
    for reason in mine().filter_map(|line| line.asked.as_ref().err()) {
        *left_out.entry(*reason).or_default() += 1;
    }
    let mut left_out: Vec<_> = left_out
        .into_iter()
        .map(|(reason, count)| (words(lang, &format!("left-out-{reason}"), &[]), count))
        .collect();
    if round.farther > 0 {
        left_out.push((words(lang, "left-out-farther", &[]), round.farther));
    }
    RoundLine {
        step: round.step,
        kind: round.kind.as_str(),
        status: round.status.as_str(),
        radius: round.radius_m.map(|metres| distance(f64::from(metres))),
        started: zone.when(round.started_at),
        until: zone.when(round.until),
        ended: round.ended_at.map(|at| zone.when(at)),
        count: mine().filter(|line| line.asked.is_ok()).count(),
        asked: asked.collect(),
        left_out,
    }
}

/// The wish of this name.
fn wish(name: &str, typed: &Typed) -> Option<Result<Wish, &'static str>> {
    let number = |field: &'static str| match typed.get(field) {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| field),
    };
    Some(match name {
        "start" => number("radius_m").and_then(|radius_m| {
            let options =
                Options { radius_m, batch: number("batch")?, seconds: number("seconds")? };
            options.wrong().map_or(Ok(Wish::Start(options)), Err)
        }),
        "widen" => Ok(Wish::Widen),
        "stop" => Ok(Wish::Stop),
        "reset" => Ok(Wish::ResetDeclines),
        "leave" => Ok(Wish::LeavePool),
        _ => return None,
    })
}

/// Where options that can not be so are shown with what is wrong, and can be put right.
fn again(id: TaskId, typed: &Typed) -> String {
    let fields = ["radius_m", "batch", "seconds"];
    let fields = fields.map(|field| format!("{field}={}", encode(typed.get(field))));
    format!("/tasks/{id}/candidates?{}", fields.join("&"))
}

/// A form with a wish: done, then shown. Sent twice, it has one effect and one answer.
pub(super) async fn ask(
    State(desk): State<Desk>,
    StaffSeat(seat): StaffSeat,
    TaskPath(id): TaskPath,
    InPath((_, name)): InPath<(String, String)>,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let lang = seat.lang();
    let wish = wish(&name, &typed).ok_or_else(|| Problem::new(ProblemCode::NotFound, lang))?;
    let invalid = |field: &str| Problem::new(ProblemCode::BodyInvalid, lang).with(field.to_owned());
    let Ok(wish) = wish else {
        return Ok(Redirect::to(&again(id, &typed)).into_response());
    };
    let (key, revision) = forms::based_on(&typed).map_err(|wrong| invalid(wrong.field))?;
    let asked = desk.rounds().ask(seat.actor(), &key, lang, id, revision, wish).await;
    asked.map_err(|error| Problem::of(&error, lang))?;
    Ok(Redirect::to(&format!("/tasks/{id}?wish={}#rounds", key.as_str())).into_response())
}
