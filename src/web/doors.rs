//! Who may come through which door: every route of the program, in one list. A route that does not stand here answers
//! nobody; the product shows this list, and the tests walk along it.

use axum::{
    extract::{MatchedPath, Request},
    http::{Extensions, Method},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    extract::preferred,
    problem::{Problem, ProblemCode},
};
use crate::domain::{
    authority::{self, Matter},
    command::{Role, Verb},
    refusal::Lang,
    round, table,
};

/// Who may come through a door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// Everyone.
    Anyone,
    /// Whoever has the unguessable link that the address is.
    Holder,
    /// Staff on the console, by what it is about.
    Desk(Matter),
    /// Staff on the console who may ask for any verb that is sent through this door; the table says which.
    DeskCommand,
    /// Riders on their page.
    Rider,
    /// Scripts that speak for one of these.
    Script(&'static [Role]),
    /// Scripts that speak for one who may ask for this verb.
    Command(Verb),
}

/// One route with one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// The method; `HEAD` goes with `GET`.
    pub method: &'static str,
    /// The path as the router has it, `{id}` for the parts that vary.
    pub path: &'static str,
    /// Who may.
    pub may: May,
}

const fn get(path: &'static str, may: May) -> Door {
    Door { method: "GET", path, may }
}

const fn post(path: &'static str, may: May) -> Door {
    Door { method: "POST", path, may }
}

const fn command(path: &'static str, verb: Verb) -> Door {
    Door { method: "POST", path, may: May::Command(verb) }
}

/// Scripts that read what belongs to staff, to riders, and to whoever ordered.
const READERS: &[Role] =
    &[Role::Dispatcher, Role::Supervisor, Role::Admin, Role::Auditor, Role::Rider, Role::Intake];
/// Scripts that read the log.
const LOG_READERS: &[Role] =
    &[Role::Dispatcher, Role::Supervisor, Role::Admin, Role::Auditor, Role::Rider];
/// Scripts that read a task's own story: its desk and whoever ordered it.
const STORY_READERS: &[Role] =
    &[Role::Dispatcher, Role::Supervisor, Role::Admin, Role::Auditor, Role::Intake];
/// Scripts that read who is on duty, and where.
const DISPATCHERS: &[Role] = &[Role::Dispatcher, Role::Supervisor, Role::Admin];
const RIDERS: &[Role] = &[Role::Rider];
/// Many commands at once: who may, is decided for each.
const BULK: &[Role] = &[Role::Dispatcher, Role::Supervisor];

/// Every door.
pub const DOORS: &[Door] = &[
    // --- everyone ---
    get("/", May::Anyone),
    get("/rules", May::Anyone),
    get("/rules/access", May::Anyone),
    get("/taste", May::Anyone),
    get("/style-{version}", May::Anyone),
    get("/scripts-{version}/{file}", May::Anyone),
    get("/sign-in", May::Anyone),
    post("/sign-in", May::Anyone),
    post("/sign-in/code", May::Anyone),
    post("/sign-out", May::Anyone),
    get("/rider/closed", May::Anyone),
    post("/rider/sign-in", May::Anyone),
    post("/rider/sign-out", May::Anyone),
    get("/healthz", May::Anyone),
    get("/readyz", May::Anyone),
    get("/api/v1/time", May::Anyone),
    get("/api/v1/openapi.json", May::Anyone),
    // --- whoever has the link ---
    get("/enter/{token}", May::Holder),
    post("/desk/enter/{token}", May::Holder),
    post("/rider/enter/{token}", May::Holder),
    post("/password/{token}", May::Holder),
    post("/set-up/{token}", May::Holder),
    get("/t/{token}", May::Holder),
    get("/t/{token}/stream", May::Holder),
    post("/t/{token}/cancel", May::Holder),
    get("/api/v1/track/{token}", May::Holder),
    post("/api/v1/track/{token}/cancel", May::Holder),
    // --- the console ---
    get("/board", May::Desk(Matter::Board)),
    get("/board/stream", May::Desk(Matter::Board)),
    get("/tasks/new", May::DeskCommand),
    post("/tasks/new", May::DeskCommand),
    get("/tasks/{id}", May::Desk(Matter::Board)),
    post("/tasks/{id}/detail", May::DeskCommand),
    post("/tasks/{id}/reveal", May::Desk(Matter::Reveal)),
    get("/tasks/{id}/candidates", May::Desk(Matter::Board)),
    post("/tasks/{id}/rounds/{wish}", May::DeskCommand),
    get("/pool", May::Desk(Matter::Board)),
    post("/tasks/{id}/{verb}", May::DeskCommand),
    get("/import", May::Desk(Matter::Import)),
    post("/import", May::Desk(Matter::Import)),
    get("/import/{token}", May::Desk(Matter::Import)),
    post("/import/{token}", May::Desk(Matter::Import)),
    // --- one's own account ---
    get("/me", May::Desk(Matter::Own)),
    post("/me/password", May::Desk(Matter::Own)),
    post("/me/factor", May::Desk(Matter::Own)),
    post("/me/factor/confirm", May::Desk(Matter::Own)),
    post("/me/factor/remove", May::Desk(Matter::Own)),
    post("/me/sessions/end", May::Desk(Matter::Own)),
    // --- keeping the desk ---
    get("/admin/staff", May::Desk(Matter::SeeStaff)),
    post("/admin/staff", May::Desk(Matter::Staff)),
    get("/admin/staff/{id}", May::Desk(Matter::SeeStaff)),
    post("/admin/staff/{id}", May::Desk(Matter::Staff)),
    post("/admin/staff/{id}/link", May::Desk(Matter::Staff)),
    post("/admin/staff/{id}/factor", May::Desk(Matter::Staff)),
    post("/admin/staff/{id}/sessions", May::Desk(Matter::Staff)),
    get("/admin/riders", May::Desk(Matter::RiderLinks)),
    post("/admin/riders", May::Desk(Matter::Riders)),
    get("/admin/riders/{id}", May::Desk(Matter::RiderLinks)),
    post("/admin/riders/{id}", May::Desk(Matter::Riders)),
    post("/admin/riders/{id}/link", May::Desk(Matter::RiderLinks)),
    post("/admin/riders/{id}/sessions", May::Desk(Matter::Riders)),
    post("/admin/riders/{id}/signals/{signal}", May::Desk(Matter::RiderLinks)),
    get("/admin/regions", May::Desk(Matter::Policies)),
    post("/admin/regions", May::Desk(Matter::Regions)),
    get("/admin/regions/{id}", May::Desk(Matter::Policies)),
    post("/admin/regions/{id}", May::Desk(Matter::Regions)),
    post("/admin/regions/{id}/policy", May::Desk(Matter::Policies)),
    get("/admin/tokens", May::Desk(Matter::Tokens)),
    post("/admin/tokens", May::Desk(Matter::Tokens)),
    post("/admin/tokens/{id}/end", May::Desk(Matter::Tokens)),
    post("/admin/rules", May::Desk(Matter::DeskRules)),
    get("/admin/erase", May::Desk(Matter::Erase)),
    post("/admin/erase", May::Desk(Matter::Erase)),
    get("/measures", May::Desk(Matter::Board)),
    get("/audit", May::Desk(Matter::Audit)),
    get("/audit/export.csv", May::Desk(Matter::Audit)),
    get("/audit/export.jsonl", May::Desk(Matter::Audit)),
    // --- the rider's page ---
    get("/rider", May::Rider),
    get("/rider/stream", May::Rider),
    post("/rider/duty", May::Rider),
    post("/rider/location", May::Rider),
    post("/rider/tasks/{id}/{verb}", May::Rider),
    post("/rider/rounds/{round}/decline", May::Rider),
    get("/rider/me", May::Rider),
    post("/rider/me/password", May::Rider),
    post("/rider/me/sessions/end", May::Rider),
    // --- scripts ---
    command("/api/v1/tasks", Verb::Create),
    get("/api/v1/tasks", May::Script(authority::STAFF)),
    get("/api/v1/tasks/{id}", May::Script(READERS)),
    get("/api/v1/tasks/{id}/events", May::Script(STORY_READERS)),
    get("/api/v1/tasks/{id}/attempts", May::Script(STORY_READERS)),
    command("/api/v1/tasks/{id}/grab", Verb::Grab),
    command("/api/v1/tasks/{id}/offer", Verb::Offer),
    command("/api/v1/tasks/{id}/assign", Verb::Assign),
    command("/api/v1/tasks/{id}/accept", Verb::Accept),
    command("/api/v1/tasks/{id}/decline", Verb::Decline),
    command("/api/v1/tasks/{id}/withdraw", Verb::Withdraw),
    command("/api/v1/tasks/{id}/cancel", Verb::Cancel),
    command("/api/v1/tasks/{id}/reassign", Verb::Reassign),
    command("/api/v1/tasks/{id}/hand-back", Verb::HandBack),
    command("/api/v1/tasks/{id}/arrive", Verb::Arrive),
    command("/api/v1/tasks/{id}/pick-up", Verb::PickUp),
    command("/api/v1/tasks/{id}/deliver", Verb::Deliver),
    post("/api/v1/bulk", May::Script(BULK)),
    Door { method: "PATCH", path: "/api/v1/tasks/{id}/detail", may: May::Command(Verb::Edit) },
    get("/api/v1/tasks/{id}/candidates", May::Script(authority::STAFF)),
    get("/api/v1/tasks/{id}/rounds", May::Script(authority::STAFF)),
    post("/api/v1/tasks/{id}/rounds", May::Command(round::AS)),
    post("/api/v1/tasks/{id}/rounds/widen", May::Command(round::AS)),
    post("/api/v1/tasks/{id}/rounds/stop", May::Command(round::AS)),
    post("/api/v1/tasks/{id}/declines/reset", May::Command(round::AS)),
    post("/api/v1/tasks/{id}/pool/leave", May::Command(round::AS)),
    get("/api/v1/pool", May::Script(authority::STAFF)),
    get("/api/v1/riders", May::Script(DISPATCHERS)),
    get("/api/v1/offers/{token}", May::Script(READERS)),
    command("/api/v1/offers/{token}/accept", Verb::Accept),
    get("/api/v1/rider/pool", May::Script(RIDERS)),
    post("/api/v1/rider/rounds/{round}/decline", May::Script(RIDERS)),
    get("/api/v1/rider/tasks", May::Script(RIDERS)),
    post("/api/v1/rider/duty", May::Script(RIDERS)),
    post("/api/v1/rider/location", May::Script(RIDERS)),
    get("/api/v1/events", May::Script(LOG_READERS)),
    get("/api/v1/stream", May::Script(LOG_READERS)),
];

impl Door {
    /// The roles that may, for doors that people and scripts go through by their role; none otherwise.
    pub fn roles(&self) -> Option<Vec<Role>> {
        match self.may {
            May::Anyone | May::Holder => None,
            May::Desk(matter) => Some(authority::who(matter).to_vec()),
            May::DeskCommand => Some(vec![Role::Dispatcher, Role::Supervisor]),
            May::Rider => Some(vec![Role::Rider]),
            May::Script(roles) => Some(roles.to_vec()),
            May::Command(verb) => Some(table::who(verb).to_vec()),
        }
    }

    /// The verb that comes through, if there is but one.
    pub const fn verb(&self) -> Option<Verb> {
        match self.may {
            May::Command(verb) => Some(verb),
            _ => None,
        }
    }

    /// Whether something may be changed through it.
    pub fn changes(&self) -> bool {
        self.method != "GET"
    }
}

/// The door that a request came to; none for an address that leads nowhere.
pub(super) fn door(method: &Method, extensions: &Extensions) -> Option<&'static Door> {
    let path = extensions.get::<MatchedPath>()?.as_str();
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    DOORS.iter().find(|door| door.method == method && same(door.path, path))
}

/// Whether a door's path is this one. The names of the style sheet and of the scripts have their versions in them.
fn same(door: &str, path: &str) -> bool {
    match door {
        "/style-{version}" => path == super::files::style(),
        "/scripts-{version}/{file}" => path == *super::files::SCRIPT_ROUTE,
        _ => door == path,
    }
}

/// Whether somebody in `role` may come through the door that the request came to.
pub(super) fn admits(method: &Method, extensions: &Extensions, role: Role) -> bool {
    let roles = door(method, extensions).and_then(Door::roles);
    roles.is_some_and(|roles| roles.contains(&role))
}

/// Lets nobody through where no door is: a route that was forgotten in the list answers nobody.
pub(super) async fn only_doors(request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>();
    let known = DOORS.iter().any(|door| path.is_some_and(|path| same(door.path, path.as_str())));
    if known {
        return next.run(request).await;
    }
    tracing::error!(?path, "a route without a door");
    let lang = preferred(request.headers()).unwrap_or(Lang::En);
    Problem::new(ProblemCode::Faulty, lang).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_door_stands_here_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for door in DOORS {
            assert!(seen.insert((door.method, door.path)), "{} {}", door.method, door.path);
        }
    }

    #[test]
    fn whoever_changes_something_is_asked_who_they_are() {
        for door in DOORS.iter().filter(|door| door.changes() && door.may == May::Anyone) {
            let own = ["/sign-in", "/sign-in/code", "/sign-out"];
            let way = door.path.strip_prefix("/rider").unwrap_or(door.path);
            assert!(own.contains(&way), "{}", door.path);
        }
    }

    #[test]
    fn an_auditor_changes_nothing_but_their_own_account() {
        for door in DOORS.iter().filter(|door| door.changes()) {
            let may = door.roles().is_some_and(|roles| roles.contains(&Role::Auditor));
            assert!(!may || door.may == May::Desk(Matter::Own), "{} {}", door.method, door.path);
        }
    }
}
