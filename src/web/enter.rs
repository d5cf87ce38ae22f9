//! Pages for everyone: a link that signs somebody in, the choice of language and colours, and errors.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use serde::Deserialize;

use super::{
    account,
    desk::Desk,
    extract::{Query, TokenPath},
    page::{Shell, Taste, filters, is_ours, render},
    problem::{Problem, ProblemCode},
};
use crate::{
    domain::{command::Actor, refusal::Lang},
    store::{self, LinkPurpose, token_hash},
};

/// Their routes.
pub(super) fn router() -> Router<Desk> {
    Router::new().route("/enter/{token}", get(page)).route("/taste", get(taste))
}

#[derive(Template)]
#[template(path = "enter.html")]
struct Page {
    shell: Shell,
    action: String,
    name: String,
}

/// Asks before it signs in: looking at a link (as chat programs do to show what is behind it) must not use it up.
async fn page(
    State(desk): State<Desk>,
    taste: Taste,
    TokenPath(token): TokenPath,
) -> Result<Response, Problem> {
    let failed = |error: store::Error| Problem::read(&error, taste.lang);
    let over = || Problem::new(ProblemCode::NotFound, taste.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let link = tx.link(&token_hash(&token), now).await.map_err(failed)?.ok_or_else(over)?;
    let (action, name) = match link.actor {
        Actor::Staff(_) if link.purpose != LinkPurpose::Enter => {
            return account::first(&desk, &taste, &mut tx, &token, &link).await;
        }
        Actor::Staff(id) => {
            let account = tx.staff_account(id).await.map_err(failed)?.ok_or_else(over)?;
            (format!("/desk/enter/{token}"), account.name)
        }
        Actor::Rider(id) => {
            let account = tx.rider_account(id).await.map_err(failed)?.ok_or_else(over)?;
            (format!("/rider/enter/{token}"), account.name)
        }
        Actor::System | Actor::Intake(_) | Actor::Customer(_) => return Err(over()),
    };
    let page = Page { shell: Shell::bare(&desk, &taste), action, name };
    Ok(render(&page, taste.lang, StatusCode::OK))
}

/// What is chosen, and the page to go back to.
#[derive(Debug, Deserialize)]
struct Choice {
    lang: Option<String>,
    theme: Option<String>,
    #[serde(default)]
    back: String,
}

/// Remembers a language or colours for a year and goes back.
async fn taste(State(desk): State<Desk>, Query(choice): Query<Choice>) -> Response {
    let back = choice.back.as_str();
    let mut response = Redirect::to(if is_ours(back) { back } else { "/" }).into_response();
    let secure = if desk.origin().is_secure() { "; Secure" } else { "" };
    let lang = choice.lang.as_deref().and_then(Lang::parse).map(|lang| ("lang", lang.as_str()));
    let theme = choice.theme.as_deref();
    let theme = ["light", "dark", "auto"].into_iter().find(|known| theme == Some(known));
    for (name, value) in [lang, theme.map(|theme| ("theme", theme))].into_iter().flatten() {
        let cookie =
            format!("{name}={value}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly{secure}");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
    }
    response
}

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage {
    shell: Shell,
    status: u16,
    code: &'static str,
    sentence: &'static str,
    detail: Option<String>,
    id: String,
}

/// A problem as a page, for people.
pub(super) fn error(desk: &Desk, taste: &Taste, problem: &Problem, id: &str) -> Response {
    let page = ErrorPage {
        shell: Shell::bare(desk, taste),
        status: problem.code.status(),
        code: problem.code.as_str(),
        sentence: problem.code.sentence(taste.lang),
        detail: problem.detail.clone(),
        id: id.to_owned(),
    };
    render(&page, taste.lang, problem.status())
}
