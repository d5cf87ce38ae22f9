//! A link or a token that is shown this once: only its hash is kept.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use super::Opened;
use crate::web::{
    desk::Desk,
    page::{Shell, filters, render},
    people::Seat,
    picture::{self, Picture},
    problem::Problem,
};

#[derive(Template)]
#[template(path = "admin/secret.html")]
struct Page {
    shell: Shell,
    /// The keys of the words: what it is, and what to do with it.
    title: &'static str,
    help: &'static str,
    /// Whose it is.
    whose: String,
    secret: String,
    picture: Option<Picture>,
    back: String,
}

/// The page of a link. Sent again, the form makes a new one, and the one before is over.
pub(super) async fn link(
    desk: &Desk,
    seat: &Seat,
    keys: (&'static str, &'static str),
    whose: String,
    token: &str,
    back: String,
) -> Result<Response, Problem> {
    let address = format!("{}/enter/{token}", desk.origin().as_str());
    let picture = Some(picture::qr(&address));
    show(desk, seat, keys, whose, (address, picture), back).await
}

/// The page of a token.
pub(super) async fn token(
    desk: &Desk,
    seat: &Seat,
    whose: String,
    token: String,
) -> Result<Response, Problem> {
    let keys = ("token-made", "token-made-help");
    show(desk, seat, keys, whose, (token, None), "/admin/tokens".to_owned()).await
}

async fn show(
    desk: &Desk,
    seat: &Seat,
    (title, help): (&'static str, &'static str),
    whose: String,
    (secret, picture): (String, Option<Picture>),
    back: String,
) -> Result<Response, Problem> {
    let opened = Opened::of(desk, seat).await?;
    let shell = seat.shell(desk, &opened.regions, opened.zone);
    let page = Page { shell, title, help, whose, secret, picture, back };
    Ok(render(&page, seat.lang(), StatusCode::OK))
}
