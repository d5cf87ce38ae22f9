//! Times in the forms that other systems write. What a text does not say is never guessed.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};
use chrono_tz::Tz;

use super::{
    Fault,
    form::{Form, Pattern, Read, Says, duration_ms, epoch, instant},
    text,
};
use crate::{
    domain::id::Timestamp,
    intake::{
        Given,
        mapping::{Build, Need},
        problem::{Needed, Problem},
        source::{Row, Source},
        spec::{Part, TimeSpec},
        trouble::MappingError,
    },
};

/// Values that mean "no time", whatever the mapping says.
const NONE: [&str; 3] = ["0", "0000-00-00 00:00:00", "0000-00-00"];
/// The year 1 is how some systems write "never".
const NEVER: &str = "0001-01-01";

/// Where a time comes from, and how it is written.
#[derive(Debug)]
pub(in crate::intake) struct Time {
    from: Vec<Source>,
    date: Option<Source>,
    forms: Vec<Form>,
    optional: bool,
    zone: Option<Tz>,
    offset: Option<(Source, bool)>,
    split: Option<String>,
    part: Part,
    none: Vec<String>,
    asap: Vec<String>,
}

impl Time {
    pub(in crate::intake) fn new(
        name: &str,
        spec: &TimeSpec,
        build: &Build<'_>,
    ) -> Result<Self, MappingError> {
        let source = |text: &String| Source::parse(text, build.format);
        let zone = spec.zone.as_ref().or(build.spec.zone.as_ref()).map(|zone| {
            zone.parse().map_err(|_| MappingError::field(name, format!("no time zone {zone}")))
        });
        let form = |form: &String| match form.as_str() {
            "rfc3339" => Ok(Form::Rfc3339),
            "epoch" => Ok(Form::Epoch(None)),
            "epoch_s" => Ok(Form::Epoch(Some(1_000_000))),
            "epoch_ms" => Ok(Form::Epoch(Some(1_000))),
            "epoch_us" => Ok(Form::Epoch(Some(1))),
            "iso_duration" => Ok(Form::Duration),
            pattern if pattern.contains('%') => Ok(Form::Local(Pattern::new(pattern))),
            other => Err(MappingError::field(name, format!("no form of times: {other}"))),
        };
        let offset = spec.offset.as_ref();
        Ok(Self {
            from: spec.from.clone().list().iter().map(source).collect::<Result<_, _>>()?,
            date: spec.date.as_ref().map(source).transpose()?,
            forms: spec.formats.iter().map(form).collect::<Result<_, _>>()?,
            optional: spec.optional,
            zone: zone.transpose()?,
            offset: offset
                .map(|offset| Ok((source(&offset.from)?, offset.reversed)))
                .transpose()?,
            split: spec.split.clone(),
            part: spec.part,
            none: spec.none.clone(),
            asap: spec.asap.clone(),
        })
    }

    pub(in crate::intake) fn needs<'a>(&'a self, needs: &mut Vec<Need<'a>>) {
        needs.push(Need { sources: self.from.iter().collect(), optional: self.optional });
        let others = self.date.iter().chain(self.offset.iter().map(|(source, _)| source));
        needs.extend(others.map(|other| Need { sources: vec![other], optional: self.optional }));
    }

    /// The time of a row; none if the row has none. `placed` is where a duration starts.
    pub(in crate::intake) fn read(
        &self,
        row: Row<'_>,
        given: &Given,
        placed: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, Fault> {
        let Some((source, raw)) =
            self.from.iter().find_map(|source| Some((source, row.text(source)?)))
        else {
            return Ok(None);
        };
        let mut text = text::ascii_digits(&raw);
        if self.means_none(&text) {
            return Ok(None);
        }
        if let Some(mark) = &self.split
            && let Some((start, end)) = text.split_once(mark.as_str())
        {
            text = if self.part == Part::Start { start } else { end }.trim().to_owned();
        }
        if let Some(date) = &self.date {
            let date = row
                .text(date)
                .ok_or_else(|| Fault::at(date.label(), Problem::Missing(Needed::Date)))?;
            text = format!("{date} {text}");
        }
        let offset = self.offset(row)?;
        let at = self.parse(&text, given, offset, placed);
        at.map(Some).map_err(|problem| Fault::at(source.label(), problem))
    }

    fn means_none(&self, text: &str) -> bool {
        text::means_none(text)
            || NONE.contains(&text)
            || text.starts_with(NEVER)
            || self.none.iter().any(|none| none == text)
            || self.asap.iter().any(|word| text.contains(word.as_str()))
    }

    fn offset(&self, row: Row<'_>) -> Result<Option<FixedOffset>, Fault> {
        let Some((source, reversed)) = &self.offset else { return Ok(None) };
        let Some(text) = row.text(source) else { return Ok(None) };
        let minutes = text.parse::<i32>().ok().filter(|minutes| minutes.abs() < 24 * 60);
        let east = minutes.map(|minutes| if *reversed { -minutes } else { minutes });
        let offset = east.and_then(|east| FixedOffset::east_opt(east * 60));
        let bad = || Fault::at(source.label(), Problem::BadNumber(text.clone().into_owned()));
        offset.ok_or_else(bad).map(Some)
    }

    fn parse(
        &self,
        text: &str,
        given: &Given,
        offset: Option<FixedOffset>,
        placed: Option<Timestamp>,
    ) -> Result<Timestamp, Problem> {
        let mut refused = None;
        for form in &self.forms {
            let read = match form {
                Form::Rfc3339 => DateTime::parse_from_rfc3339(text)
                    .map_or(Read::Other, |at| Read::At(Timestamp(at.timestamp_millis()))),
                Form::Epoch(unit) => epoch(text, *unit),
                Form::Duration => match (duration_ms(text), placed) {
                    (Some(ms), Some(placed)) => Read::At(placed.plus_ms(ms)),
                    (Some(_), None) => Read::Refused(Problem::Missing(Needed::PlacedAt)),
                    (None, _) => Read::Other,
                },
                Form::Local(pattern) => self.local(pattern, text, given, offset),
            };
            match read {
                Read::At(at) if at.is_writable() => return Ok(at),
                Read::At(_) => return Err(Problem::TimeOutOfRange(text.to_owned())),
                Read::Refused(problem) => {
                    refused.get_or_insert(problem);
                }
                Read::Other => {}
            }
        }
        Err(refused.unwrap_or_else(|| Problem::BadTime(text.to_owned())))
    }

    fn local(
        &self,
        pattern: &Pattern,
        text: &str,
        given: &Given,
        offset: Option<FixedOffset>,
    ) -> Read {
        let (mut words, mut format) = (text.to_owned(), pattern.text.clone());
        if !pattern.minutes {
            words.push_str(" 00");
            format.push_str(" %M");
        }
        // A leap year, to see whether the form fits before a base date is asked for.
        let base = given.base_date.or_else(|| NaiveDate::from_ymd_opt(2000, 1, 1));
        let Some(base) = base else { return Read::Other };
        let local = match pattern.says {
            Says::Instant => {
                let at = DateTime::parse_from_str(&words, &format);
                return at.map_or(Read::Other, |at| Read::At(Timestamp(at.timestamp_millis())));
            }
            Says::DateAndTime => NaiveDateTime::parse_from_str(&words, &format).ok(),
            Says::DayAndTime => {
                let (words, format) = (format!("{} {words}", base.year()), format!("%Y {format}"));
                NaiveDateTime::parse_from_str(&words, &format).ok()
            }
            Says::Time => {
                NaiveTime::parse_from_str(&words, &format).ok().map(|time| base.and_time(time))
            }
        };
        let Some(local) = local else { return Read::Other };
        if given.base_date.is_none() && pattern.says != Says::DateAndTime {
            return Read::Refused(Problem::NeedsBaseDate(text.to_owned()));
        }
        match offset {
            Some(offset) => instant(&offset, local, text),
            None => instant(&self.zone.unwrap_or(given.zone), local, text),
        }
    }
}
