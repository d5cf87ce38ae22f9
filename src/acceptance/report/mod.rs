//! What is written of a verdict, for people and for machines.
//!
//! | file | |
//! |---|---|
//! | `mod` | which files there are |
//! | `page` | the report as a page; the template is `templates/acceptance/report.html` |
//! | `front` | verdict, what was asked, numbers |
//! | `grid` | commands and states |
//! | `scenario`, `round` | the part of each scenario, each of its rounds |
//! | `did`, `say`, `read` | steps in sentences, terms in words, the verdict's phrases read back |
//! | `words`, `when` | the words of both languages, instants |
//! | `junit`, `outcomes` | for build servers, for spreadsheets |

mod did;
mod front;
mod grid;
mod junit;
mod outcomes;
mod page;
mod read;
mod round;
mod say;
mod scenario;
mod when;
mod words;

use std::{fs, io, path::Path};

use super::{judge::RunVerdict, record::Break};
use crate::domain::refusal::Lang;

/// The report in the language that was asked for.
const FIRST: &str = "report.html";

const fn other(lang: Lang) -> Lang {
    match lang {
        Lang::Zh => Lang::En,
        Lang::En => Lang::Zh,
    }
}

/// The report in another language.
fn file_in(lang: Lang) -> String {
    format!("report.{lang}.html")
}

/// Writes all reports into `folder`. `broken` says where the record does not hold together.
///
/// # Errors
/// If a file can not be written.
pub fn write(
    folder: &Path,
    verdict: &RunVerdict,
    broken: Option<&Break>,
    lang: Lang,
) -> io::Result<()> {
    fs::write(folder.join("report.json"), serde_json::to_vec_pretty(verdict)?)?;
    fs::write(folder.join("junit.xml"), junit::render(verdict, broken))?;
    fs::write(folder.join("outcomes.csv"), outcomes::render(verdict)?)?;
    let second = file_in(other(lang));
    let page =
        |lang, link: &str| page::render(lang, link, verdict, broken).map_err(io::Error::other);
    fs::write(folder.join(&second), page(other(lang), FIRST)?)?;
    fs::write(folder.join(FIRST), page(lang, &second)?)?;
    // What an earlier verdict in the other language has left behind.
    match fs::remove_file(folder.join(file_in(lang))) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
