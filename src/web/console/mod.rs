//! The console of dispatchers: plain pages that work without JavaScript.
//!
//! | file | |
//! |---|---|
//! | `sign_in` | in and out, with name and password or by a link |
//! | `board` | what waits, counted and listed |
//! | `task` | one task: its story, and a form for each thing that can be done |
//! | `riders` | whom a task can be offered to, and why not the others |
//! | `rounds`, `reasons`, `candidates`, `pool` | who was asked, who would be; what nobody took |
//! | `story` | a task's events and refusals in one line of time |
//! | `command` | a form that was sent: decided, then shown |
//! | `import`, `import_file` | a file of another system: looked at, then imported |
//! | `create` | a new task by hand |
//! | `reveal` | a masked phone number is shown, with a reason |
//! | `audit` | the log as a whole, for auditors: searched, exported |
//! | `measures` | how dispatching goes, in figures |
//! | `rules`, `access` | the table, the codes and the doors, as the program has them |

mod access;
mod audit;
mod board;
mod candidates;
mod command;
mod create;
mod import;
mod import_file;
mod measures;
mod pool;
mod proof;
mod reasons;
mod reveal;
mod riders;
mod rounds;
mod rules;
mod sign_in;
mod story;
mod task;

use axum::{
    Router,
    routing::{get, post},
};

use super::{account, admin, desk::Desk, live, people::sessions, session::Lifetime};

/// The routes of the console.
pub(super) fn router(desk: &Desk) -> Router<Desk> {
    Router::new()
        .route("/", get(sign_in::home))
        .route("/sign-in", get(sign_in::form).post(sign_in::sign_in))
        .route("/sign-in/code", post(sign_in::code))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/desk/enter/{token}", post(sign_in::enter))
        .route("/board", get(board::page))
        .route("/board/stream", get(live::pages::console))
        .route("/tasks/new", get(create::form).post(create::create))
        .route("/tasks/{id}", get(task::page))
        .route("/tasks/{id}/detail", post(command::edit))
        .route("/tasks/{id}/reveal", post(reveal::reveal))
        .route("/tasks/{id}/candidates", get(candidates::page))
        .route("/tasks/{id}/rounds/{wish}", post(rounds::ask))
        .route("/pool", get(pool::page))
        .route("/tasks/{id}/{verb}", post(command::command))
        .route("/import", get(import::form).post(import::upload))
        .route("/import/{token}", get(import_file::file).post(import_file::run))
        .merge(account::staff())
        .merge(admin::router())
        .route("/audit", get(audit::page))
        .route("/audit/export.csv", get(audit::csv))
        .route("/audit/export.jsonl", get(audit::jsonl))
        .route("/measures", get(measures::page))
        .route("/rules", get(rules::page))
        .route("/rules/access", get(access::page))
        .layer(sessions(desk, "desk", Lifetime::STAFF))
}
