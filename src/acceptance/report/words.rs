//! The report's words, in both languages.

use std::collections::HashMap;

use fluent_templates::{LanguageIdentifier, Loader, fluent_bundle::FluentValue, static_loader};

use crate::{acceptance::table::Text, domain::refusal::Lang};

static_loader! {
    static WORDS = {
        locales: "./locales",
        fallback_language: "en",
        // Marks for mixed directions would stand in HTML as characters.
        customise: |bundle| bundle.set_use_isolating(false),
    };
}

/// The words of `key`, with named values if it takes any.
pub(super) fn words(lang: Lang, key: &str, values: &[(&'static str, &str)]) -> String {
    let tag: LanguageIdentifier = lang.as_str().parse().unwrap_or_default();
    let values: HashMap<_, _> =
        values.iter().map(|(name, value)| ((*name).into(), FluentValue::from(*value))).collect();
    WORDS.lookup_with_args(&tag, key, &values)
}

/// A text that comes in both languages.
pub(super) fn text(lang: Lang, text: &Text) -> &str {
    match lang {
        Lang::Zh => &text.zh,
        Lang::En => &text.en,
    }
}

/// The same as the beginning of a sentence.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A number with a mark between thousands, the same in both languages.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What the template can do with a text.
#[expect(clippy::inline_always, clippy::unused_self, reason = "askama makes the filters so")]
pub(super) mod filters {
    use super::{Lang, words};

    fn lang(env: &dyn askama::Values) -> askama::Result<Lang> {
        askama::get_value::<Lang>(env, "lang").copied()
    }

    /// The words of a key.
    #[askama::filter_fn]
    pub(in crate::acceptance::report) fn t(
        key: impl std::fmt::Display,
        env: &dyn askama::Values,
    ) -> askama::Result<String> {
        Ok(words(lang(env)?, &key.to_string(), &[]))
    }

    /// The words of a key that takes one value, `{ $v }`.
    #[askama::filter_fn]
    pub(in crate::acceptance::report) fn tv(
        key: impl std::fmt::Display,
        env: &dyn askama::Values,
        v: &dyn std::fmt::Display,
    ) -> askama::Result<String> {
        Ok(words(lang(env)?, &key.to_string(), &[("v", &v.to_string())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_marked() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn a_sentence_begins_with_a_capital() {
        assert_eq!(sentence("the dispatcher looks"), "The dispatcher looks");
        assert_eq!(sentence("调度查看"), "调度查看");
        assert_eq!(sentence(""), "");
    }
}
