//! Errors, for scripts: `application/problem+json` (RFC 9457) with a code and a sentence that a person can use.

use axum::http::StatusCode;

pub(super) use super::problem_body::ProblemBody;
pub use super::problem_code::ProblemCode;
use crate::{
    domain::{command::Malformed, decide::Denial, refusal::Lang},
    engine::{executor, office},
    store,
};

/// Why a request got no outcome, as it is sent.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What it is.
    pub code: ProblemCode,
    /// What exactly: which field, which limit.
    pub detail: Option<String>,
    /// For `/field`: where in the body, as a JSON pointer.
    pub pointer: Option<String>,
    /// After how many seconds it makes sense to ask again; none says nothing about it.
    pub retry_after: Option<u32>,
    lang: Lang,
}

impl Problem {
    /// A problem for a reader of `lang`.
    pub const fn new(code: ProblemCode, lang: Lang) -> Self {
        Self { code, detail: None, pointer: None, retry_after: None, lang }
    }

    /// The same with what exactly is wrong.
    #[must_use]
    pub fn with(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    /// The same with the place in the body.
    #[must_use]
    pub fn at(self, pointer: impl Into<String>) -> Self {
        Self { pointer: Some(pointer.into()), ..self }
    }

    /// The same with the time after which it makes sense to ask again, in seconds.
    #[must_use]
    pub fn after(self, seconds: u32) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// What became of a command that got no outcome.
    pub fn of(error: &executor::Error, lang: Lang) -> Self {
        let code = match error {
            executor::Error::Denied(Denial::NotSignedIn) => ProblemCode::NotSignedIn,
            executor::Error::Denied(Denial::Forbidden) => ProblemCode::Forbidden,
            executor::Error::Denied(Denial::NotFound) => ProblemCode::NotFound,
            executor::Error::Denied(Denial::OfferSeconds { min, max }) => {
                let detail = match lang {
                    Lang::Zh => format!("允许 {min} 至 {max} 秒。"),
                    Lang::En => format!("Allowed are {min} to {max} seconds."),
                };
                return Self::new(ProblemCode::OfferSeconds, lang).with(detail).at("/seconds");
            }
            executor::Error::KeyReused => ProblemCode::RequestKeyReused,
            executor::Error::KeyMissing => ProblemCode::KeyMissing,
            executor::Error::Malformed(Malformed::NulInText) => ProblemCode::NulInText,
            executor::Error::Malformed(Malformed::TimeOutOfRange) => ProblemCode::TimeOutOfRange,
            executor::Error::Malformed(Malformed::NotOnEarth) => ProblemCode::NotOnEarth,
            executor::Error::RecordChanged => ProblemCode::RecordChanged,
            executor::Error::Busy => ProblemCode::Busy,
            executor::Error::Unavailable { unknown: true } => ProblemCode::Unknown,
            executor::Error::Unavailable { unknown: false } => ProblemCode::Unavailable,
            executor::Error::Faulty => ProblemCode::Faulty,
        };
        Self::new(code, lang)
    }

    /// Why a change of the desk itself was not made.
    pub fn of_office(error: &office::Error, lang: Lang) -> Self {
        let code = match error {
            office::Error::NotSignedIn => ProblemCode::NotSignedIn,
            office::Error::Forbidden => ProblemCode::Forbidden,
            office::Error::NotFound => ProblemCode::NotFound,
            office::Error::Before(_)
            | office::Error::Stale
            | office::Error::Taken
            | office::Error::NotOver
            | office::Error::OwnAccount
            | office::Error::LastAdmin => ProblemCode::RecordChanged,
            office::Error::Invalid(field) => {
                return Self::new(ProblemCode::BodyInvalid, lang).with(*field);
            }
            office::Error::Busy => ProblemCode::Busy,
            office::Error::Store(error) => return Self::read(error, lang),
        };
        Self::new(code, lang)
    }

    /// A read that failed. What exactly goes to the log, not to the reader.
    pub fn read(error: &store::Error, lang: Lang) -> Self {
        tracing::error!(%error, "a read failed");
        let code = match error.remedy() {
            store::Remedy::Bisect => ProblemCode::Faulty,
            store::Remedy::Again
            | store::Remedy::GiveUp
            | store::Remedy::Stop
            | store::Remedy::LookUp => ProblemCode::Unavailable,
        };
        Self::new(code, lang)
    }

    /// The sentence for people.
    pub const fn sentence(&self) -> &'static str {
        self.code.sentence(self.lang)
    }

    /// The status line.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// Nothing lives at this address.
pub(super) async fn no_such_page(lang: super::extract::Language) -> Problem {
    Problem::new(ProblemCode::NotFound, lang.0)
}

/// Something lives at this address, but it takes other methods.
pub(super) async fn wrong_method(lang: super::extract::Language) -> Problem {
    Problem::new(ProblemCode::MethodNotAllowed, lang.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_spelling_and_sentences_of_its_own() {
        let distinct = |of: &dyn Fn(ProblemCode) -> &'static str| {
            let all: std::collections::BTreeSet<_> =
                ProblemCode::ALL.iter().map(|code| of(*code)).collect();
            all.len() == ProblemCode::ALL.len()
        };
        assert!(distinct(&|code| code.as_str()));
        assert!(distinct(&|code| code.sentence(Lang::Zh)));
        assert!(distinct(&|code| code.sentence(Lang::En)));
    }
}
