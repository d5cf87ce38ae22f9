//! Who may come through which door, as the program has it.

use askama::Template;
use axum::{extract::State, http::StatusCode, response::Response};

use super::super::{
    desk::Desk,
    doors::{DOORS, Door, May},
    page::{Shell, Taste, filters, render},
};
use crate::domain::{authority::Matter, command::Role};

/// Those who come in, in the order of the columns.
const COLUMNS: &[Role] = &[
    Role::Dispatcher,
    Role::Supervisor,
    Role::Admin,
    Role::Auditor,
    Role::Rider,
    Role::Customer,
    Role::Intake,
];

/// A door as a row.
struct Row {
    door: &'static Door,
    /// `everyone`, `holder`, or nothing if it goes by role.
    open: &'static str,
    /// What it is about, for pages of staff.
    matter: Option<Matter>,
    /// For each column, whether they may.
    may: Vec<bool>,
}

#[derive(Template)]
#[template(path = "console/access.html")]
struct Page {
    shell: Shell,
    columns: &'static [Role],
    /// Pages first, then scripts; each with the key of its title.
    parts: [(&'static str, Vec<Row>); 2],
}

/// The page: for everyone, without a sign-in.
pub(super) async fn page(State(desk): State<Desk>, taste: Taste) -> Response {
    let row = |door: &'static Door| {
        let roles = door.roles().unwrap_or_default();
        Row {
            door,
            open: match door.may {
                May::Anyone => "everyone",
                May::Holder => "holder",
                _ => "",
            },
            matter: match door.may {
                May::Desk(matter) => Some(matter),
                _ => None,
            },
            may: COLUMNS.iter().map(|column| roles.contains(column)).collect(),
        }
    };
    let is_script = |door: &&Door| door.path.starts_with("/api/");
    let page = Page {
        shell: Shell::bare(&desk, &taste),
        columns: COLUMNS,
        parts: [
            ("access-pages", DOORS.iter().filter(|door| !is_script(door)).map(row).collect()),
            ("access-scripts", DOORS.iter().filter(is_script).map(row).collect()),
        ],
    };
    render(&page, taste.lang, StatusCode::OK)
}
