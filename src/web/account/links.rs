//! A password of one's own by a link, which nobody else chooses; and the first admin, by the link that the program
//! prints while there is nobody.

use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Redirect, Response},
};
use tower_sessions::Session;

use super::{
    super::{
        desk::Desk,
        extract::{Form, TokenPath},
        forms::Typed,
        page::{Shell, Taste, filters, render},
        password, people,
        problem::{Problem, ProblemCode},
    },
    hashed, said, unfit,
};
use crate::{
    domain::{command::Actor, id::StaffId},
    engine::office::SetUp,
    store::{self, Link, LinkPurpose, Tx, token_hash},
};

#[derive(Template)]
#[template(path = "account/first.html")]
struct Page {
    shell: Shell,
    action: String,
    /// Whether it is the desk's first admin.
    set_up: bool,
    /// Whose password it is.
    person: String,
    /// The name to sign in with, if there is one already.
    login: String,
    typed: Typed,
    wrong: Option<String>,
}

/// The form behind a link of that purpose. Looking at it does not use it up.
pub(in crate::web) async fn first(
    desk: &Desk,
    taste: &Taste,
    tx: &mut Tx,
    token: &str,
    link: &Link,
) -> Result<Response, Problem> {
    let page = page(desk, taste, tx, token, link).await?;
    Ok(render(&page, taste.lang, StatusCode::OK))
}

async fn page(
    desk: &Desk,
    taste: &Taste,
    tx: &mut Tx,
    token: &str,
    link: &Link,
) -> Result<Page, Problem> {
    let failed = |error: store::Error| Problem::read(&error, taste.lang);
    let over = || Problem::new(ProblemCode::NotFound, taste.lang);
    let Actor::Staff(staff) = link.actor else { return Err(over()) };
    let set_up = link.purpose == LinkPurpose::SetUp;
    let (mut person, mut login) = (String::new(), String::new());
    if !set_up {
        person = tx.staff_account(staff).await.map_err(failed)?.ok_or_else(over)?.name;
        let known = tx.password_of(staff).await.map_err(failed)?;
        login = known.map(|(login, _)| login).unwrap_or_default();
    }
    let action = if set_up { "set-up" } else { "password" };
    Ok(Page {
        shell: Shell::bare(desk, taste),
        action: format!("/{action}/{token}"),
        set_up,
        person,
        login,
        typed: Typed::default(),
        wrong: None,
    })
}

/// The link, if it is good and for that purpose.
async fn good(
    desk: &Desk,
    taste: &Taste,
    token: &str,
    purpose: LinkPurpose,
) -> Result<(Tx, Link), Problem> {
    let failed = |error: store::Error| Problem::read(&error, taste.lang);
    let mut tx = desk.db().read().await.map_err(failed)?;
    let now = tx.now().await.map_err(failed)?;
    let link = tx.link(&token_hash(token), now).await.map_err(failed)?;
    let link = link.filter(|link| link.purpose == purpose);
    Ok((tx, link.ok_or_else(|| Problem::new(ProblemCode::NotFound, taste.lang))?))
}

/// The form again, with what is wrong about it. The link is still good.
async fn again(
    desk: &Desk,
    taste: &Taste,
    token: &str,
    purpose: LinkPurpose,
    typed: Typed,
    wrong: String,
) -> Result<Response, Problem> {
    let (mut tx, link) = good(desk, taste, token, purpose).await?;
    let page = page(desk, taste, &mut tx, token, &link).await?;
    let page = Page { typed, wrong: Some(wrong), ..page };
    Ok(render(&page, taste.lang, StatusCode::UNPROCESSABLE_ENTITY))
}

/// One's own password, by a link. Then one signs in with it, and with the second factor if there is one.
pub(super) async fn set_password(
    State(desk): State<Desk>,
    taste: Taste,
    TokenPath(token): TokenPath,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let purpose = LinkPurpose::Password;
    let (mut tx, link) = good(&desk, &taste, &token, purpose).await?;
    let person = page(&desk, &taste, &mut tx, &token, &link).await?.person;
    drop(tx);
    let (login, new) = (typed.get("login").replace('\0', ""), typed.raw("password").to_owned());
    if let Err(why) = password::fit(&new, &[&login, &person]) {
        return again(&desk, &taste, &token, purpose, typed, unfit(why, &taste)).await;
    }
    let phc = hashed(&desk, &taste, new).await?;
    match desk.executor().use_password_link(&token, &login, &phc).await {
        Ok(_) => Ok(Redirect::to("/sign-in").into_response()),
        Err(error) => {
            let wrong = said(&error, &taste)?;
            again(&desk, &taste, &token, purpose, typed, wrong).await
        }
    }
}

/// The first admin comes in, and sees where to begin.
pub(super) async fn set_up(
    State(desk): State<Desk>,
    taste: Taste,
    headers: HeaderMap,
    session: Session,
    TokenPath(token): TokenPath,
    Form(typed): Form<Typed>,
) -> Result<Response, Problem> {
    let purpose = LinkPurpose::SetUp;
    good(&desk, &taste, &token, purpose).await?;
    let (login, name) = (typed.get("login").replace('\0', ""), typed.get("name").replace('\0', ""));
    let new = typed.raw("password").to_owned();
    if let Err(why) = password::fit(&new, &[&login, &name]) {
        return again(&desk, &taste, &token, purpose, typed, unfit(why, &taste)).await;
    }
    let phc = hashed(&desk, &taste, new).await?;
    let wanted = SetUp { secret: &token, name: &name, login: &login, phc: &phc };
    let staff: StaffId = match desk.executor().set_up(&wanted).await {
        Ok(staff) => staff,
        Err(error) => {
            let wrong = said(&error, &taste)?;
            return again(&desk, &taste, &token, purpose, typed, wrong).await;
        }
    };
    let entered = people::sign_in(&session, &Actor::Staff(staff), &headers, desk.now()).await;
    entered.map_err(|_| Problem::new(ProblemCode::Unavailable, taste.lang))?;
    Ok(Redirect::to("/admin/regions").into_response())
}
