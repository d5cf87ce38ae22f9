//! What came of it, for people.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, IsTerminal, Write},
    path::Path,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::plan::Plan;
use crate::{
    domain::command::Verb,
    engine::reconcile,
    simulate::{Latencies, Tally},
};

/// A row that could not be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Where it stands.
    pub spot: String,
    /// In which field the problem is.
    pub field: Option<String>,
    /// What it is.
    pub code: String,
    /// The same in words.
    pub why: String,
}

/// How the tasks stood at the end, as the desk says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Brought.
    pub delivered: u64,
    /// Owned, and not brought yet.
    pub on_the_way: u64,
    /// Waiting for a rider's answer.
    pub offered: u64,
    /// Nobody's.
    pub open: u64,
    /// Not wanted any more.
    pub cancelled: u64,
}

/// What came of a replay.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many rows the file has, as far as it was read.
    pub rows: u64,
    /// Rows that could not be played.
    pub refused: Vec<Refused>,
    /// What people did.
    pub tally: Tally,
    /// How long commands took.
    pub latencies: Latencies,
    /// How long all of it took.
    pub took: Duration,
    /// How the tasks stood at the end.
    pub left: Left,
    /// Of a file of positions: messages that brought something new, and others.
    pub positions: Option<(u64, u64)>,
    /// How the log and the rows compare.
    pub compared: Option<reconcile::Report>,
    pub(super) plan: Option<Plan>,
}

impl Report {
    pub(super) fn new(tally: Tally, latencies: Latencies) -> Self {
        Self {
            rows: 0,
            refused: Vec::new(),
            tally,
            latencies,
            took: Duration::ZERO,
            left: Left::default(),
            positions: None,
            compared: None,
            plan: None,
        }
    }

    /// Whether the log and the rows fit together.
    pub fn is_sound(&self) -> bool {
        self.compared.as_ref().is_some_and(|compared| compared.differences.is_empty())
    }

    /// Writes the refused rows to a CSV file.
    ///
    /// # Errors
    /// If it can not be written.
    pub fn write_refused(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut out = io::BufWriter::new(std::fs::File::create(path)?);
        writeln!(out, "row,field,code,why")?;
        for Refused { spot, field, code, why } in &self.refused {
            let field = field.as_deref().unwrap_or_default();
            writeln!(out, "{},{},{},{}", quoted(spot), quoted(field), quoted(code), quoted(why))?;
        }
        out.flush()
    }
}

/// One field of a CSV file. What a spreadsheet would take for a formula is kept from being one.
fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

/// Refused rows by reason.
pub(super) fn grouped(refused: &[Refused]) -> String {
    let mut groups: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for row in refused {
        let field = row.field.as_deref().unwrap_or_default();
        *groups.entry((&row.code, field)).or_default() += 1;
    }
    let words = groups.into_iter().map(|((code, field), count)| match field {
        "" => format!("{code} {count}"),
        field => format!("{code} ({field}) {count}"),
    });
    listed(words)
}

fn listed(words: impl Iterator<Item = String>) -> String {
    let words: Vec<_> = words.collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tally, left, .. } = self;
        let rows = self.rows;
        writeln!(f, "rows             {rows}, of which refused: {}", self.refused.len())?;
        writeln!(f, "refused rows     {}", grouped(&self.refused))?;
        if let Some((new, old)) = self.positions {
            let sent = tally.positions;
            writeln!(f, "positions        {sent} sent; messages with news: {new}, without: {old}")?;
        }
        if let Some(plan) = self.plan {
            let (squeeze, pace) = (plan.squeeze, plan.pace);
            writeln!(
                f,
                "time             {squeeze:.1} s of the file in one of the desk's; people {pace:.1} × life"
            )?;
            let done = |verb| tally.count(verb);
            writeln!(f, "tasks            {} created", done(Verb::Create))?;
            writeln!(
                f,
                "offers           {}: accepted {}, declined {}, expired {}",
                done(Verb::Offer),
                done(Verb::Accept),
                done(Verb::Decline),
                tally.in_log(Verb::Expire)
            )?;
            let lost = tally.refused_of(Verb::Grab);
            writeln!(f, "grabs            {} won, {lost} lost", done(Verb::Grab))?;
            writeln!(f, "handed back      {}", done(Verb::HandBack))?;
            let Left { delivered, on_the_way, offered, open, cancelled } = left;
            writeln!(
                f,
                "at the end       {delivered} delivered, {cancelled} cancelled, {on_the_way} on the way, \
                 {offered} offered, {open} open"
            )?;
            let codes = tally.refusals().into_iter().map(|(code, count)| format!("{code} {count}"));
            writeln!(f, "refusals         {}", listed(codes))?;
        }
        let failures = tally.failures().iter().map(|(code, count)| format!("{code} {count}"));
        writeln!(f, "without outcome  {}", listed(failures))?;
        let seconds = self.took.as_secs_f64();
        let commands = f64::from(u32::try_from(tally.commands).unwrap_or(u32::MAX));
        let rate = commands / seconds.max(0.001);
        writeln!(f, "commands         {} in {seconds:.1} s: {rate:.0} a second", tally.commands)?;
        let ms = |percent| self.latencies.percentile(percent).as_secs_f64() * 1_000.0;
        writeln!(f, "command latency  p50 {:.1} ms, p99 {:.1} ms", ms(50), ms(99))?;
        let Some(compared) = &self.compared else { return Ok(()) };
        for difference in &compared.differences {
            writeln!(f, "differs          {difference}")?;
        }
        let (tasks, events, offers) = (compared.tasks, compared.events, compared.offers);
        let verdict = match compared.differences.len() {
            0 => "all fit together".to_owned(),
            count => format!("{count} differences"),
        };
        writeln!(f, "reconcile        {tasks} tasks, {events} events, {offers} offers: {verdict}")
    }
}

/// How far it has come: a bar on a terminal, else a line now and then.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    total: usize,
    said: Instant,
}

const SAY_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    pub(super) fn new(total: usize) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX));
            let style = ProgressStyle::with_template(
                "[{elapsed_precise}] {wide_bar} {pos}/{len}  {msg}  {eta}",
            );
            if let Ok(style) = style {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, total, said: Instant::now() }
    }

    pub(super) fn show(&mut self, done: u64, more: u64) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                bar.set_message(more.to_string());
            }
            None if self.said.elapsed() >= SAY_EVERY => {
                self.said = Instant::now();
                eprintln!("{done} of {} rows played, {more} delivered or kept", self.total);
            }
            None => {}
        }
    }

    pub(super) fn end(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_row_is_one_line_of_csv_and_no_formula() {
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
    }
}
