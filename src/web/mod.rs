//! HTTP and nothing else: pages, forms and JSON around the executor.
//!
//! **Architecture invariant.** It reads through [`Db`](crate::store::Db) and changes tasks through the
//! [`Executor`](crate::engine::executor::Executor) alone. Who acts comes from the session or the token, never from
//! what was sent. A page says what the database said, at the moment that it names.
//!
//! | file | |
//! |---|---|
//! | `desk` | what every request needs: the executor, the origin, the turns |
//! | `serve`, `crowd`, `whole` | connections, how many of one peer, time-outs, bodies that nobody wants, the end in good order |
//! | `peer` | whose request it is: the address of the connection, or what a trusted proxy says |
//! | `gate`, `form_token` | what every request must: its size, its host, the site and the session that a form comes from |
//! | `doors` | every route, and who may come through it |
//! | `pace`, `throttle`, `exports` | how fast a rider may try one task, how often somebody may try to sign in, how much at once |
//! | `headers` | what every answer carries |
//! | `problem`, `problem_code`, `problem_body` | errors, for scripts and for people |
//! | `extract` | what a request may hold |
//! | `who`, `people`, `session`, `password` | who is there |
//! | `page`, `chip`, `answer_page`, `trouble`, `forms`, `files`, `mask`, `picture` | what pages are made of |
//! | `live/` | live streams |
//! | `enter` | pages for everyone: links, taste, errors |
//! | `positions` | where riders say that they are |
//! | `metrics` | the meters of a node, on an address of their own |
//! | `uploads` | files that somebody looks at before they are imported |
//! | `account/` | one's own account |
//! | `admin/` | pages for keeping the desk |
//! | `console/`, `rider/`, `track/` | pages for dispatchers, riders, customers |
//! | `api/` | JSON for scripts |

mod account;
mod admin;
mod answer_page;
pub mod api;
mod chip;
mod console;
mod crowd;
mod desk;
mod doors;
mod enter;
mod exports;
mod extract;
mod files;
mod form_token;
mod forms;
mod gate;
mod hashing;
mod headers;
mod live;
mod mask;
mod metrics;
mod pace;
mod page;
mod password;
mod peer;
mod people;
mod picture;
mod positions;
mod problem;
mod problem_body;
mod problem_code;
mod reauth;
mod rider;
pub mod serve;
mod session;
mod throttle;
mod track;
mod trouble;
mod uploads;
mod who;
mod whole;

pub use desk::{Desk, Origin};
pub use doors::{DOORS, Door, May};
pub use password::{Unfit, fit as fit_password, hash as hash_password};
pub use peer::{Network, Networks, Peer};
pub use problem::{Problem, ProblemCode};
pub use serve::{Limits, Server};
pub use session::{Lifetime, Sessions};

use axum::{Router, middleware};

/// Everything that this program answers.
pub fn router(desk: &Desk) -> Router {
    let (api, description) = api::router().split_for_parts();
    let router = api
        .merge(api::description(description))
        .merge(console::router(desk))
        .merge(rider::router(desk))
        .merge(track::router())
        .merge(enter::router())
        .merge(files::router())
        .route_layer(middleware::from_fn(doors::only_doors))
        .fallback(problem::no_such_page)
        .method_not_allowed_fallback(problem::wrong_method)
        .with_state(desk.clone());
    headers::on_every_answer(router, desk)
}
