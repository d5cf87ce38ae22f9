//! How a scenario is written: the form of the TOML file, and what it means.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Asked, BadScenario, End, Moment, Named, Race, Racer, Scenario, Step, What, Wins,
    time::length_ms,
};
use crate::{
    acceptance::{
        table::{Ask, RiderFacts, Text},
        words::{Returns, RiderSees, Standing, Who},
    },
    domain::{command::Verb, task::Vehicle},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: Text,
    purpose: Text,
    source: String,
    #[serde(default)]
    riders: BTreeMap<String, RiderFacts>,
    #[serde(rename = "step")]
    steps: Vec<RawStep>,
    #[serde(rename = "end")]
    ends: Vec<RawEnd>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEnd {
    #[serde(default = "first_task")]
    task: String,
    dispatcher: Standing,
    customer: Standing,
    riders: BTreeMap<String, RiderSees>,
}

fn first_task() -> String {
    "T1".to_owned()
}

/// One text or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    fn list(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::More(more) => more,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    who: Option<String>,
    does: Option<String>,
    task: Option<String>,
    rider: Option<String>,
    seconds: Option<u32>,
    revision: Option<RawRevision>,
    key: Option<String>,
    confirmed: Option<bool>,
    release: Option<String>,
    vehicle: Option<Vehicle>,
    answer: Option<String>,
    clock: Option<Moment>,
    bulk: Option<Vec<RawStep>>,
    race: Option<Vec<RawStep>>,
    wins: Option<String>,
    returns: Option<OneOrMore<Returns>>,
    then: Option<OneOrMore<String>>,
    note: Option<Text>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawRevision {
    Number(i64),
    Word(String),
}

/// Reads the scenario `id` from `text`.
pub(super) fn parse(id: &str, text: &str) -> Result<Scenario, BadScenario> {
    let bad = |why: String| BadScenario { file: id.to_owned(), why };
    let file: File = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
    let mut steps = Vec::new();
    for (index, step) in file.steps.into_iter().enumerate() {
        let read = step.read().map_err(|why| bad(format!("step {}: {why}", index + 1)))?;
        steps.push(read);
    }
    let end =
        |RawEnd { task, dispatcher, customer, riders }| End { task, dispatcher, customer, riders };
    let scenario = Scenario {
        id: id.to_owned(),
        title: file.title,
        purpose: file.purpose,
        source: file.source,
        riders: file.riders,
        steps,
        ends: file.ends.into_iter().map(end).collect(),
        text: text.to_owned(),
    };
    let tasks = scenario.tasks();
    for task in &tasks {
        if !scenario.ends.iter().any(|end| end.task == *task) {
            return Err(bad(format!("nothing is said about how {task} ends")));
        }
    }
    let known = |task: &String| tasks.contains(task);
    let asked = scenario.commands().map(|asked| &asked.ask.task);
    if let Some(stranger) =
        asked.chain(scenario.ends.iter().map(|end| &end.task)).find(|task| !known(task))
    {
        return Err(bad(format!("{stranger} is never created")));
    }
    Ok(scenario)
}

/// Reads `T1: open` or, for the first task, `open`.
fn standing(text: &str) -> Result<(String, Standing), String> {
    let (task, text) = text.split_once(": ").unwrap_or(("T1", text));
    let standing =
        Standing::parse(text).ok_or_else(|| format!("{text:?} is no state of a task"))?;
    Ok((task.to_owned(), standing))
}

impl RawStep {
    fn read(mut self) -> Result<Step, String> {
        let note = self.note.take();
        let then = self.then.take().map_or_else(Vec::new, OneOrMore::list);
        let then = then.iter().map(|text| standing(text)).collect::<Result<Vec<_>, _>>()?;
        let step = |what, then| Ok(Step { what, then, note });
        if let Some(moment) = self.clock.take() {
            self.is_used_up(false)?;
            return step(What::Clock(moment), then);
        }
        if let Some(racers) = self.race.take() {
            let wins = match self.wins.take().as_deref() {
                Some("exactly one") => Wins::ExactlyOne,
                Some("at most one") => Wins::AtMostOne,
                Some("all") => Wins::All,
                other => return Err(format!("wins: {other:?} is no number of winners")),
            };
            self.is_used_up(false)?;
            let mut all = Vec::new();
            for racer in racers {
                all.extend(racer.racers()?);
            }
            if then.is_empty() {
                return Err("a race says where it may end".to_owned());
            }
            return step(What::Race(Race { racers: all, wins, ends: then }), Vec::new());
        }
        if let Some(items) = self.bulk.take() {
            let (who, does) = (self.who.take(), self.does.take());
            self.is_used_up(false)?;
            let read = |mut item: Self| {
                item.who.clone_from(&who);
                item.does.clone_from(&does);
                item.asked()
            };
            let items = items.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
            return step(What::Bulk(items), then);
        }
        if self.does.as_deref() == Some("look") {
            let who = self.who()?;
            let task = self.task.take().unwrap_or_else(first_task);
            self.does = None;
            self.is_used_up(true)?;
            return step(What::Look { who, task }, then);
        }
        step(What::Ask(self.asked()?), then)
    }

    /// Refuses what would be read and not be used.
    fn is_used_up(&self, by_somebody: bool) -> Result<(), String> {
        let left = [
            ("who", self.who.is_some() && !by_somebody),
            ("does", self.does.is_some()),
            ("task", self.task.is_some()),
            ("rider", self.rider.is_some()),
            ("seconds", self.seconds.is_some()),
            ("revision", self.revision.is_some()),
            ("key", self.key.is_some()),
            ("confirmed", self.confirmed.is_some()),
            ("release", self.release.is_some()),
            ("vehicle", self.vehicle.is_some()),
            ("answer", self.answer.is_some()),
            ("clock", self.clock.is_some()),
            ("bulk", self.bulk.is_some()),
            ("race", self.race.is_some()),
            ("wins", self.wins.is_some()),
            ("returns", self.returns.is_some()),
        ];
        let left = left.into_iter().find(|(_, there)| *there);
        left.map_or(Ok(()), |(name, _)| Err(format!("{name} means nothing here")))
    }

    fn who(&self) -> Result<Who, String> {
        let who = self.who.as_deref().ok_or("who is missing")?;
        let known = Who::parse(who).filter(|known| *known != Who::System);
        known.ok_or_else(|| format!("{who:?} is nobody who acts"))
    }

    /// One racer, or as many riders as `12 riders` says.
    fn racers(mut self) -> Result<Vec<Racer>, String> {
        if let Some(moment) = self.clock.take() {
            self.is_used_up(false)?;
            return Ok(vec![Racer::Clock(moment)]);
        }
        let count = self.who.as_deref().and_then(|who| who.strip_suffix(" riders"));
        let Some(count) = count else { return Ok(vec![Racer::Asks(self.asked()?)]) };
        let count: u32 = count.parse().map_err(|_| "so many riders are no number".to_owned())?;
        self.who = Some("R1".to_owned());
        let asked = self.asked()?;
        let racer = |number: u32| {
            let ask = Ask { who: Who::Rider(format!("R{number}")), ..asked.ask.clone() };
            Racer::Asks(Asked { ask, ..asked.clone() })
        };
        Ok((1..=count).map(racer).collect())
    }

    fn asked(mut self) -> Result<Asked, String> {
        let who = self.who()?;
        let does = self.does.take().ok_or("does is missing")?;
        let command = Verb::parse(&does).filter(|verb| *verb != Verb::Edit);
        let command = command.ok_or_else(|| format!("{does:?} is no command"))?;
        let named = match self.revision.take() {
            None if command == Verb::Create => Named::Missing,
            None => Named::Present,
            Some(RawRevision::Number(revision)) => Named::Revision(revision),
            Some(RawRevision::Word(word)) if word == "missing" => Named::Missing,
            Some(RawRevision::Word(word)) => return Err(format!("{word:?} is no revision")),
        };
        let release = self.release.take();
        let release_in_ms = match release.as_deref() {
            None => None,
            Some(text) => {
                let length = text.strip_suffix(" later").and_then(length_ms);
                Some(length.ok_or_else(|| format!("{text:?} is no moment"))?)
            }
        };
        let lost = match self.answer.take().as_deref() {
            None => false,
            Some("lost") => true,
            Some(other) => return Err(format!("{other:?} is nothing that happens to an answer")),
        };
        let key = self.key.take();
        let has_key = key.as_deref() != Some("missing");
        let ask = Ask {
            who,
            command,
            task: self.task.take().unwrap_or_else(first_task),
            rider: self.rider.take(),
            seconds: self.seconds.take(),
            revision: None,
            key: key.filter(|_| has_key),
            has_key,
            confirmed: self.confirmed.take().unwrap_or(true),
            release_in_ms,
            vehicle: self.vehicle.take(),
        };
        let returns = self.returns.take().map_or_else(Vec::new, OneOrMore::list);
        if returns.is_empty() {
            return Err("nothing is said about what it returns".to_owned());
        }
        self.is_used_up(true)?;
        Ok(Asked { ask, returns, named, lost })
    }
}
