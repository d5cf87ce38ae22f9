//! What a file of another system means: a mapping, ready to be used.

use super::{
    source::{Header, Source, Template},
    spec::{Format, RuleKind, Spec, StopSpec, TextSpec},
    trouble::{FileError, MappingError},
    values::{
        money::Money,
        place::{Place, Stop},
        text::Text,
        time::Time,
    },
};

/// The mappings that come with the program, by name.
const BUILT_IN: &[(&str, &str)] = &[
    ("arabic", include_str!("mappings/arabic.toml")),
    ("bitrix", include_str!("mappings/bitrix.toml")),
    ("bus", include_str!("mappings/bus.toml")),
    ("chicago", include_str!("mappings/chicago.toml")),
    ("coopcycle-deliveries", include_str!("mappings/coopcycle-deliveries.toml")),
    ("coopcycle-tasks", include_str!("mappings/coopcycle-tasks.toml")),
    ("deliverect", include_str!("mappings/deliverect.toml")),
    ("eleme", include_str!("mappings/eleme.toml")),
    ("fhv", include_str!("mappings/fhv.toml")),
    ("gloriafood", include_str!("mappings/gloriafood.toml")),
    ("lade", include_str!("mappings/lade.toml")),
    ("meituan", include_str!("mappings/meituan.toml")),
    ("mover", include_str!("mappings/mover.toml")),
    ("ondc", include_str!("mappings/ondc.toml")),
    ("restia", include_str!("mappings/restia.toml")),
    ("shopify", include_str!("mappings/shopify.toml")),
    ("tookan", include_str!("mappings/tookan.toml")),
    ("woocommerce", include_str!("mappings/woocommerce.toml")),
];

/// How the rows of a file are read.
#[derive(Debug)]
pub struct Mapping {
    pub(super) about: String,
    pub(super) format: Format,
    pub(super) separator: Option<u8>,
    pub(super) form: bool,
    pub(super) rows: Option<Source>,
    pub(super) decode: Vec<Source>,
    pub(super) rules: Vec<Rule>,
    pub(super) what: What,
}

/// Tasks or positions.
#[derive(Debug)]
pub(super) enum What {
    Task(Box<TaskFields>),
    Position(Box<PositionFields>),
}

#[derive(Debug)]
pub(super) struct TaskFields {
    /// None: the key is made of the row's content.
    pub(super) key: Option<Template>,
    pub(super) pickup: Stop,
    pub(super) dropoff: Stop,
    pub(super) placed_at: Option<Time>,
    pub(super) release_at: Option<Time>,
    pub(super) ready_at: Option<Time>,
    pub(super) due_at: Option<Time>,
    pub(super) fee: Option<Money>,
    pub(super) vehicle: Option<Text>,
    pub(super) priority: Option<Text>,
    pub(super) note: Option<Text>,
}

#[derive(Debug)]
pub(super) struct PositionFields {
    pub(super) rider: Text,
    pub(super) seq: Text,
    pub(super) at: Time,
    pub(super) place: Place,
    pub(super) accuracy_m: Option<Text>,
}

/// Which rows are refused for what they say.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) when: Source,
    pub(super) is: Vec<String>,
    pub(super) is_not: Vec<String>,
    pub(super) kind: RuleKind,
    pub(super) order: Option<Source>,
}

impl Mapping {
    /// A mapping that comes with the program.
    ///
    /// # Errors
    /// [`MappingError::Unknown`].
    pub fn named(name: &str) -> Result<Self, MappingError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| MappingError::Unknown(name.to_owned()))?;
        Self::from_toml(text)
    }

    /// The names of the mappings that come with the program, each with a line of description.
    pub fn names() -> Vec<(&'static str, String)> {
        let about = |text| Self::from_toml(text).map(|mapping| mapping.about).unwrap_or_default();
        BUILT_IN.iter().map(|(name, text)| (*name, about(text))).collect()
    }

    /// The text of a mapping that comes with the program: a start for one's own.
    pub fn text(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Reads a mapping.
    ///
    /// # Errors
    /// [`MappingError`], with the field that means nothing.
    pub fn from_toml(text: &str) -> Result<Self, MappingError> {
        let spec: Spec =
            toml::from_str(text).map_err(|error| MappingError::Toml(error.to_string()))?;
        Build { format: spec.format, spec: &spec }.mapping()
    }

    /// What it maps, in one line.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// Whether its rows are positions of riders, and not tasks.
    pub const fn reads_positions(&self) -> bool {
        matches!(self.what, What::Position(_))
    }

    /// Whether the whole file is a header, and its columns are there.
    pub(super) fn fits(&self, header: &Header) -> Result<(), FileError> {
        let mut missing = Vec::new();
        for need in self.needs() {
            let mut found = false;
            for source in &need.sources {
                found |= header.find(source)?.is_some();
            }
            if !found && !need.optional {
                let names: Vec<_> = need.sources.iter().map(|source| source.label()).collect();
                missing.push(names.join(" | "));
            }
        }
        missing.sort();
        missing.dedup();
        if missing.is_empty() { Ok(()) } else { Err(FileError::MissingColumns(missing)) }
    }

    /// Every source that it names, in groups of which one must be there.
    pub(super) fn needs(&self) -> Vec<Need<'_>> {
        let mut needs: Vec<Need<'_>> = Vec::new();
        for rule in &self.rules {
            needs.push(Need { sources: vec![&rule.when], optional: false });
            needs.extend(
                rule.order.iter().map(|order| Need { sources: vec![order], optional: true }),
            );
        }
        match &self.what {
            What::Task(task) => {
                let TaskFields { key, pickup, dropoff, fee, vehicle, priority, note, .. } = &**task;
                let sources = key.iter().flat_map(Template::sources);
                needs.extend(sources.map(|source| Need { sources: vec![source], optional: false }));
                pickup.needs(&mut needs);
                dropoff.needs(&mut needs);
                let times = [&task.placed_at, &task.release_at, &task.ready_at, &task.due_at];
                times.into_iter().flatten().for_each(|time| time.needs(&mut needs));
                needs.extend(fee.iter().map(Money::need));
                needs
                    .extend([vehicle, priority, note].into_iter().flatten().filter_map(Text::need));
            }
            What::Position(position) => {
                needs.extend([&position.rider, &position.seq].into_iter().filter_map(Text::need));
                needs.extend(position.accuracy_m.iter().filter_map(Text::need));
                position.at.needs(&mut needs);
                position.place.needs(&mut needs);
            }
        }
        needs
    }
}

/// Sources of which one must be in the header.
#[derive(Debug)]
pub(super) struct Need<'a> {
    pub(super) sources: Vec<&'a Source>,
    pub(super) optional: bool,
}

/// Makes a mapping of what is written down.
pub(super) struct Build<'a> {
    pub(super) format: Format,
    pub(super) spec: &'a Spec,
}

impl Build<'_> {
    fn mapping(&self) -> Result<Mapping, MappingError> {
        let spec = self.spec;
        let source = |text: &String| Source::parse(text, self.format);
        let separator = match spec.separator {
            None => None,
            Some(mark) if mark.is_ascii() => u8::try_from(mark).ok(),
            Some(_) => return Err(MappingError::field("separator", "one ASCII character")),
        };
        let rules = spec.refuse.iter().map(|rule| {
            Ok(Rule {
                when: source(&rule.when)?,
                is: rule.is.clone(),
                is_not: rule.is_not.clone(),
                kind: rule.kind,
                order: rule.order.as_ref().map(source).transpose()?,
            })
        });
        Ok(Mapping {
            about: spec.about.clone(),
            format: self.format,
            separator,
            form: spec.form,
            rows: spec.rows.as_ref().map(source).transpose()?,
            decode: spec.decode.iter().map(source).collect::<Result<_, _>>()?,
            rules: rules.collect::<Result<_, MappingError>>()?,
            what: self.what()?,
        })
    }

    fn what(&self) -> Result<What, MappingError> {
        let spec = self.spec;
        if let Some(position) = &spec.position {
            return Ok(What::Position(Box::new(PositionFields {
                rider: Text::new(&position.rider, self.format)?,
                seq: Text::new(&position.seq, self.format)?,
                at: Time::new("position.at", &position.at, self)?,
                place: Place::of_position(position, self)?,
                accuracy_m: self.text(position.accuracy_m.as_ref())?,
            })));
        }
        let time = |name, time: &Option<_>| {
            time.as_ref().map(|time| Time::new(name, time, self)).transpose()
        };
        let stop = |name: &'static str, stop: &Option<StopSpec>| {
            let stop = stop.as_ref().ok_or_else(|| MappingError::field(name, "a task needs it"))?;
            Stop::new(name, stop, self)
        };
        let key = spec.key.as_ref().ok_or_else(|| MappingError::field("key", "a task needs it"))?;
        let key = (key != "content").then(|| Template::parse(key, self.format)).transpose()?;
        Ok(What::Task(Box::new(TaskFields {
            key,
            pickup: stop("pickup", &spec.pickup)?,
            dropoff: stop("dropoff", &spec.dropoff)?,
            placed_at: time("placed_at", &spec.placed_at)?,
            release_at: time("release_at", &spec.release_at)?,
            ready_at: time("ready_at", &spec.ready_at)?,
            due_at: time("due_at", &spec.due_at)?,
            fee: spec.fee.as_ref().map(|fee| Money::new(fee, self.format)).transpose()?,
            vehicle: self.text(spec.vehicle.as_ref())?,
            priority: self.text(spec.priority.as_ref())?,
            note: self.text(spec.note.as_ref())?,
        })))
    }

    pub(super) fn text(&self, spec: Option<&TextSpec>) -> Result<Option<Text>, MappingError> {
        spec.map(|spec| Text::new(spec, self.format)).transpose()
    }
}
