//! A masked phone number is shown, this once: whose and why is kept in the log before the page is made.
//!
//! Each showing is an event of its own, so the form has no key: sent twice, it is looked at twice.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    super::{
        desk::Desk,
        extract::{Form, TaskPath},
        forms::{Typed, Wrong},
        people::StaffSeat,
        problem::Problem,
    },
    task::{Showing, show},
};
use crate::{
    domain::reveal::{RevealReason, Which},
    engine::office::{self, Shown},
    store::Detail,
};

/// The form, with the numbers that there are.
#[derive(Clone, Debug)]
pub(super) struct RevealForm {
    pub(super) which: Vec<Which>,
    pub(super) reasons: &'static [RevealReason],
    /// What was chosen before, if it can not be used.
    pub(super) typed: Typed,
    pub(super) wrong: Option<Wrong>,
    /// Whether numbers are shown on this page.
    pub(super) shown: bool,
}

impl RevealForm {
    /// The form for a task; none if it has no number.
    pub(super) fn of(detail: &Detail, rider: bool, showing: &Showing) -> Option<Self> {
        let there = |which: &Which| match which {
            Which::Contacts => detail.pickup.phone.is_some() && detail.dropoff.phone.is_some(),
            Which::Pickup => detail.pickup.phone.is_some(),
            Which::Dropoff => detail.dropoff.phone.is_some(),
            Which::Rider => rider,
        };
        let which: Vec<_> = Which::ALL.iter().copied().filter(there).collect();
        let shown = showing.shown != Shown::default();
        let wrong = showing.wrong.filter(|_| showing.verb.is_none());
        let typed = if wrong.is_some() { showing.typed.clone() } else { Typed::default() };
        let form = Self { which, reasons: RevealReason::ALL, typed, wrong, shown };
        Some(form).filter(|form| !form.which.is_empty())
    }

    /// Whether it is this field that can not be used.
    pub(super) fn is_wrong(&self, field: &str) -> bool {
        self.wrong.is_some_and(|wrong| wrong.field == field)
    }
}

/// Shows the task with the numbers that were asked for.
pub(super) async fn reveal(
    State(desk): State<Desk>,
    StaffSeat(mut seat): StaffSeat,
    TaskPath(id): TaskPath,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    // The links of the page lead to the task, which shows the numbers to nobody.
    seat.taste.here = format!("/tasks/{id}");
    let asked = match (Which::parse(typed.get("which")), RevealReason::parse(typed.get("reason"))) {
        (Some(which), Some(reason)) => Ok((which, reason)),
        (None, _) => Err(Wrong { field: "which", words: "wrong-which" }),
        (_, None) => Err(Wrong { field: "reason", words: "wrong-why" }),
    };
    let shown = match asked {
        Err(wrong) => Err(wrong),
        Ok((which, reason)) => {
            match desk.executor().reveal(seat.actor(), id, which, reason).await {
                Ok(shown) => Ok(shown),
                Err(office::Error::Invalid(_)) => {
                    Err(Wrong { field: "which", words: "wrong-no-number" })
                }
                Err(error) => return Err(Problem::of_office(&error, seat.lang())),
            }
        }
    };
    match shown {
        Ok(shown) => {
            show(&desk, &seat, id, Showing { shown, ..Showing::default() }, StatusCode::OK).await
        }
        Err(wrong) => {
            let showing = Showing { typed, wrong: Some(wrong), ..Showing::default() };
            show(&desk, &seat, id, showing, StatusCode::UNPROCESSABLE_ENTITY).await
        }
    }
}
