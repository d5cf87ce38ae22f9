//! What is written of a verdict.
//!
//! | file | |
//! |---|---|
//! | `mod` | which files there are |

use std::{fs, io, path::Path};

use super::{judge::RunVerdict, record::Break};
use crate::domain::refusal::Lang;

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
    let _ = (broken, lang);
    fs::write(folder.join("report.json"), serde_json::to_vec_pretty(verdict)?)
}
