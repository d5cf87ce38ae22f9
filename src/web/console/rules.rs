//! The rules, as the program has them: who may ask what, where it leads, and what each code means.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::super::{
    desk::Desk,
    page::{Shell, Taste, filters, render},
    problem::ProblemCode,
};
use crate::domain::{
    command::Verb,
    refusal::Code,
    table::{self, Cell},
    task::StateName,
};

struct Rule {
    verb: Verb,
    who: Vec<&'static str>,
    /// For open, offered, assigned, cancelled: where it leads, or the refusal.
    cells: Vec<(bool, String)>,
}

struct Explained {
    code: &'static str,
    sentence: &'static str,
    status: u16,
}

#[derive(Template)]
#[template(path = "console/rules.html")]
struct Page {
    shell: Shell,
    states: &'static [StateName],
    rules: Vec<Rule>,
    refusals: Vec<Explained>,
    problems: Vec<Explained>,
}

/// The page: for everyone, without a sign-in.
pub(super) async fn page(State(desk): State<Desk>, taste: Taste) -> Response {
    let lang = taste.lang;
    let rule = |verb: &Verb| Rule {
        verb: *verb,
        who: table::who(*verb).iter().map(|role| role.as_str()).collect(),
        cells: StateName::ALL.iter().map(|state| cell(*state, *verb)).collect(),
    };
    let in_table = |verb: &&Verb| !matches!(verb, Verb::Create | Verb::Edit);
    let page = Page {
        shell: Shell::bare(&desk, &taste),
        states: StateName::ALL,
        rules: Verb::ALL.iter().filter(in_table).map(rule).collect(),
        refusals: Code::ALL
            .iter()
            .map(|code| Explained {
                code: code.as_str(),
                sentence: code.sentence(lang),
                status: 409,
            })
            .collect(),
        problems: ProblemCode::ALL
            .iter()
            .map(|code| Explained {
                code: code.as_str(),
                sentence: code.sentence(lang),
                status: code.status(),
            })
            .collect(),
    };
    render(&page, lang, StatusCode::OK)
}

/// Whether it leads on, and where to; or the code.
fn cell(state: StateName, verb: Verb) -> (bool, String) {
    match table::cell(state, verb) {
        None if state == StateName::Cancelled => (false, Code::Cancelled.as_str().to_owned()),
        None => (false, String::new()),
        Some(Cell::Apply(to) | Cell::ForHolder(to, _)) => (true, to.to_string()),
        Some(Cell::Refuse(code)) => (false, code.as_str().to_owned()),
    }
}
