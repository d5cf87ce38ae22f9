//! A request that got no outcome: what is said about it, and the same request again, under the same key.

use axum::http::StatusCode;

use super::{forms::Typed, problem::Problem};
use crate::{domain::refusal::Lang, engine::executor};

/// Why a form that was sent has no outcome.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    /// The key of the title's words.
    pub(super) title: &'static str,
    pub(super) sentence: String,
    /// The form again, under the same key, if asking again makes sense.
    pub(super) again: Option<Again>,
}

/// A form that is to be sent again as it was.
#[derive(Clone, Debug)]
pub(super) struct Again {
    pub(super) action: String,
    pub(super) fields: Vec<(String, String)>,
}

impl Trouble {
    /// A sentence and no more.
    pub(super) const fn saying(sentence: String) -> Self {
        Self { title: "error-title", sentence, again: None }
    }

    /// What became of `typed`, which was sent to `action`; and the status that goes with it.
    pub(super) fn of(
        error: &executor::Error,
        action: String,
        typed: &Typed,
        lang: Lang,
    ) -> (Self, StatusCode) {
        let problem = Problem::of(error, lang);
        let sentence = match &problem.detail {
            Some(detail) => format!("{} {detail}", problem.sentence()),
            None => problem.sentence().to_owned(),
        };
        let status = problem.status();
        let open = matches!(error, executor::Error::Busy | executor::Error::Unavailable { .. });
        if !open {
            return (Self::saying(sentence), status);
        }
        let mut fields: Vec<_> = typed.0.clone().into_iter().collect();
        fields.sort();
        let again = Some(Again { action, fields });
        (Self { title: "trouble-title", sentence, again }, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_succeed_later_is_offered_again() {
        let typed = Typed([("key".to_owned(), "k".to_owned())].into());
        let of = |error: executor::Error| Trouble::of(&error, "/x".into(), &typed, Lang::En);
        for error in [executor::Error::Busy, executor::Error::Unavailable { unknown: true }] {
            let (trouble, status) = of(error);
            assert_eq!((trouble.title, status.as_u16()), ("trouble-title", 503));
            let again = trouble.again.map(|again| (again.action, again.fields));
            assert_eq!(again, Some(("/x".to_owned(), vec![("key".to_owned(), "k".to_owned())])));
        }
        let (trouble, status) = of(executor::Error::KeyReused);
        assert!(trouble.again.is_none());
        assert_eq!((trouble.title, status.as_u16()), ("error-title", 422));
    }
}
