//! Pages: what all of them carry, how they are rendered, how times are written.

use std::{any::Any, collections::HashMap};

use askama::Template;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{Html, IntoResponse, Response},
};
use chrono::{DateTime, FixedOffset, Offset, TimeZone};
use fluent_templates::{LanguageIdentifier, Loader, fluent_bundle::FluentValue, static_loader};

use super::{desk::Desk, extract::preferred, files, form_token, live::Mark};
use crate::domain::{id::Timestamp, refusal::Lang};

static_loader! {
    static WORDS = {
        locales: "./locales",
        fallback_language: "en",
        // Marks for mixed directions would stand in HTML as characters.
        customise: |bundle| bundle.set_use_isolating(false),
    };
}

fn tag(lang: Lang) -> LanguageIdentifier {
    lang.as_str().parse().unwrap_or_default()
}

/// The words of `key`, with named values if it takes any.
pub(super) fn words(lang: Lang, key: &str, values: &[(&'static str, &str)]) -> String {
    let values: HashMap<_, _> =
        values.iter().map(|(name, value)| ((*name).into(), FluentValue::from(*value))).collect();
    WORDS.lookup_with_args(&tag(lang), key, &values)
}

/// Whether there are words for `key`.
pub(super) fn has_words(lang: Lang, key: &str) -> bool {
    WORDS.try_lookup(&tag(lang), key).is_some()
}

/// What templates can do with a text.
#[expect(clippy::inline_always, clippy::unused_self, reason = "askama makes the filters so")]
pub(in crate::web) mod filters {
    use super::{Lang, words};

    fn lang(env: &dyn askama::Values) -> askama::Result<Lang> {
        askama::get_value::<Lang>(env, "lang").copied()
    }

    /// The words of a key.
    #[askama::filter_fn]
    pub fn t(key: impl std::fmt::Display, env: &dyn askama::Values) -> askama::Result<String> {
        Ok(words(lang(env)?, &key.to_string(), &[]))
    }

    /// The words of a key that takes one value, `{ $v }`.
    #[askama::filter_fn]
    pub fn tv(
        key: impl std::fmt::Display,
        env: &dyn askama::Values,
        v: &dyn std::fmt::Display,
    ) -> askama::Result<String> {
        Ok(words(lang(env)?, &key.to_string(), &[("v", &v.to_string())]))
    }
}

/// How somebody wants pages: language, colours, and whether they come anew by themselves.
#[derive(Clone, Debug)]
pub(super) struct Taste {
    pub(super) lang: Lang,
    /// `light` or `dark`; none follows the system.
    pub(super) theme: Option<&'static str>,
    /// The address of the page, to come back to.
    pub(super) here: String,
    /// The word that forms of this page carry; none if nobody is signed in.
    pub(super) form: Option<String>,
}

/// The value of a cookie.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter();
    all.filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(known, value)| (known == name).then_some(value))
}

impl Taste {
    /// From cookies first, then from what the browser prefers, then Chinese.
    pub(super) fn of(headers: &HeaderMap, here: &str) -> Self {
        let chosen = cookie(headers, "lang").and_then(Lang::parse);
        let theme = cookie(headers, "theme");
        Self {
            lang: chosen.or_else(|| preferred(headers)).unwrap_or(Lang::Zh),
            theme: ["light", "dark"].into_iter().find(|known| theme == Some(known)),
            form: form_token::word(headers, here.split('?').next().unwrap_or_default()),
            here: here.to_owned(),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Taste {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        let here = parts.uri.path_and_query().map_or("/", |here| here.as_str());
        Ok(Self::of(&parts.headers, here))
    }
}

/// An instant as a page shows it.
#[derive(Clone, Debug)]
pub(super) struct When {
    /// For machines: RFC 3339 with the zone's offset.
    pub(super) machine: String,
    /// For people: the time of day, with the date if it is another day.
    pub(super) people: String,
}

/// Shows instants in a region's zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Zone {
    pub(super) zone: chrono_tz::Tz,
    pub(super) now: Timestamp,
}

impl Zone {
    fn local(self, at: Timestamp) -> Option<DateTime<FixedOffset>> {
        let utc = DateTime::from_timestamp_millis(at.0)?;
        let offset = self.zone.offset_from_utc_datetime(&utc.naive_utc()).fix();
        Some(utc.with_timezone(&offset))
    }

    /// The instant in this zone.
    pub(super) fn when(self, at: Timestamp) -> When {
        let (Some(local), Some(now)) = (self.local(at), self.local(self.now)) else {
            return When { machine: String::new(), people: at.to_string() };
        };
        let same_day = local.date_naive() == now.date_naive();
        let form = if same_day { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
        When {
            machine: local.to_rfc3339_opts(chrono::SecondsFormat::Millis, false),
            people: local.format(form).to_string(),
        }
    }

    /// The instant as a form field of a local date and time has it.
    pub(super) fn field(self, at: Timestamp) -> String {
        self.local(at).map_or_else(String::new, |at| at.format("%Y-%m-%dT%H:%M").to_string())
    }

    /// The instant that such a field names; the earlier one where clocks are set back.
    pub(super) fn instant(self, field: &str) -> Option<Timestamp> {
        let local = chrono::NaiveDateTime::parse_from_str(field, "%Y-%m-%dT%H:%M")
            .or_else(|_| chrono::NaiveDateTime::parse_from_str(field, "%Y-%m-%dT%H:%M:%S"));
        let at = self.zone.from_local_datetime(&local.ok()?).earliest()?;
        Some(Timestamp(at.timestamp_millis()))
    }

    /// The zone with its offset: `Asia/Shanghai, +08:00`.
    pub(super) fn name(self) -> String {
        let offset = self.local(self.now).map(|now| now.format("%:z").to_string());
        format!("{}, {}", self.zone.name(), offset.unwrap_or_default())
    }
}

/// What every page carries around its own part.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) lang: &'static str,
    pub(super) other_lang: &'static str,
    pub(super) theme: Option<&'static str>,
    pub(super) here: String,
    pub(super) style: &'static str,
    pub(super) script: &'static str,
    /// Of a page that follows what happens.
    pub(super) live: Option<Mark>,
    /// The word that each form carries; none on pages for nobody in particular.
    pub(super) form: Option<String>,
    /// Name and role of whoever is signed in.
    pub(super) who: Option<(String, String)>,
    /// The regions that the page is about.
    pub(super) regions: String,
    /// Whether whoever is signed in may make tasks.
    pub(super) may_create: bool,
    /// The pages for keeping the desk: the address, and the key of the word.
    pub(super) places: Vec<(&'static str, &'static str)>,
    pub(super) demo: bool,
    /// When the page was true.
    pub(super) now: When,
    pub(super) zone: String,
}

impl Shell {
    pub(super) fn new(desk: &Desk, taste: &Taste, zone: Zone) -> Self {
        let other = if taste.lang == Lang::Zh { Lang::En } else { Lang::Zh };
        Self {
            lang: taste.lang.as_str(),
            other_lang: other.as_str(),
            theme: taste.theme,
            here: encode(&taste.here),
            style: files::style(),
            script: files::script(),
            live: None,
            form: taste.form.clone(),
            who: None,
            regions: String::new(),
            may_create: false,
            places: Vec::new(),
            demo: desk.is_demo(),
            now: zone.when(zone.now),
            zone: zone.name(),
        }
    }

    /// A page for nobody in particular, in the desk's own time.
    pub(super) fn bare(desk: &Desk, taste: &Taste) -> Self {
        Self::new(desk, taste, Zone { zone: chrono_tz::UTC, now: desk.now() })
    }
}

/// Whether an address is one of our own pages: a path, and nothing that browsers make another host of. They leave
/// out tabs and line ends, and take `\` for `/`.
pub(super) fn is_ours(address: &str) -> bool {
    address.starts_with('/')
        && !address.starts_with("//")
        && !address.contains(|c: char| c == '\\' || c.is_control())
}

/// A text as part of a query.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write;
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Renders a page in a language.
pub(super) fn render(page: &impl Template, lang: Lang, status: StatusCode) -> Response {
    let values: (&str, &dyn Any) = ("lang", &lang);
    match page.render_with_values(&values) {
        Ok(html) => {
            let mut response = (status, Html(html)).into_response();
            let headers = response.headers_mut();
            let vary = header::HeaderValue::from_static("accept-language, cookie");
            headers.insert(header::VARY, vary);
            response
        }
        Err(error) => {
            tracing::error!(%error, "a page can not be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_shown_and_read_in_the_regions_own_time() {
        // 2026-11-30T00:53:20.123Z
        let now = Timestamp(1_796_000_000_123);
        let shanghai = Zone { zone: chrono_tz::Asia::Shanghai, now };
        let when = shanghai.when(now);
        assert_eq!(when.people, "08:53:20");
        assert_eq!(when.machine, "2026-11-30T08:53:20.123+08:00");
        assert_eq!(shanghai.when(now.plus_ms(-86_400_000)).people, "2026-11-29 08:53:20");
        assert_eq!(shanghai.instant("2026-11-30T08:53"), Some(Timestamp(1_795_999_980_000)));
        assert_eq!(shanghai.instant("08:53"), None);
        assert_eq!(shanghai.name(), "Asia/Shanghai, +08:00");
    }

    #[test]
    fn only_our_own_pages_are_led_to() {
        for ours in ["/", "/tasks/T1?x=1", "/a//b"] {
            assert!(is_ours(ours), "{ours}");
        }
        for foreign in [
            "",
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "board",
            "/\t/evil.example",
            "/\r\n/x",
        ] {
            assert!(!is_ours(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn a_chosen_language_counts_more_than_a_preferred_one() {
        let mut headers = HeaderMap::new();
        assert_eq!(Taste::of(&headers, "/").lang, Lang::Zh);
        headers.insert(header::ACCEPT_LANGUAGE, header::HeaderValue::from_static("en"));
        assert_eq!(Taste::of(&headers, "/").lang, Lang::En);
        headers.insert(header::COOKIE, header::HeaderValue::from_static("a=b; lang=zh-CN"));
        assert_eq!(Taste::of(&headers, "/").lang, Lang::Zh);
    }
}
