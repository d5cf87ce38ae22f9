//! A mapping as it is written down, in TOML. Data, not code.

use serde::Deserialize;

/// The whole mapping.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    /// One line for people who choose.
    pub about: String,
    pub format: Format,
    /// CSV: the mark between fields; found out if not given.
    pub separator: Option<char>,
    /// JSON: whether a form body is read as one flat map, one form per line.
    #[serde(default)]
    pub form: bool,
    /// JSON: where the array of rows lies within each value.
    pub rows: Option<String>,
    /// JSON: texts that are JSON themselves and are opened before anything is read.
    #[serde(default)]
    pub decode: Vec<String>,
    /// What the coordinates of the source are measured in.
    #[serde(default)]
    pub datum: Datum,
    /// The zone of times without one, by IANA name; the region's if not given.
    pub zone: Option<String>,
    /// Rows that are no order.
    #[serde(default)]
    pub refuse: Vec<RuleSpec>,
    /// The template of the request key, or `content`.
    pub key: Option<String>,
    pub pickup: Option<StopSpec>,
    pub dropoff: Option<StopSpec>,
    pub placed_at: Option<TimeSpec>,
    pub release_at: Option<TimeSpec>,
    pub ready_at: Option<TimeSpec>,
    pub due_at: Option<TimeSpec>,
    pub fee: Option<MoneySpec>,
    pub vehicle: Option<TextSpec>,
    pub priority: Option<TextSpec>,
    pub note: Option<TextSpec>,
    /// The rows are positions of riders, and not tasks.
    pub position: Option<PositionSpec>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    Csv,
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Datum {
    #[default]
    Wgs84,
    Gcj02,
}

/// Which rows are refused for what they say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleSpec {
    pub when: String,
    /// Refused if it holds one of these …
    #[serde(default)]
    pub is: Vec<String>,
    /// … or, if there are any, none of these.
    #[serde(default)]
    pub is_not: Vec<String>,
    #[serde(rename = "as")]
    pub kind: RuleKind,
    /// For a cancel: the number of the order that it cancels.
    pub order: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RuleKind {
    Cancel,
    StatusMessage,
    NotADelivery,
}

/// A text: one source, several of which the first that says something counts, or a table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "AnyText")]
pub(super) struct TextSpec {
    pub from: Vec<String>,
    pub default: Option<String>,
    pub optional: bool,
    pub none: Vec<String>,
    pub replace: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a source, a list of sources, or a table of from, constant, default, optional, none, replace"
)]
enum AnyText {
    One(String),
    Many(Vec<String>),
    Table(TextTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextTable {
    #[serde(default)]
    from: Sources,
    constant: Option<String>,
    default: Option<String>,
    /// CSV: the file may lack the column.
    #[serde(default)]
    optional: bool,
    /// Values that mean none.
    #[serde(default)]
    none: Vec<String>,
    #[serde(default)]
    replace: Vec<(String, String)>,
}

/// One source or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a source or a list of sources")]
pub(super) enum Sources {
    One(String),
    Many(Vec<String>),
}

impl Default for Sources {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Sources {
    pub(super) fn list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

impl From<AnyText> for TextSpec {
    fn from(any: AnyText) -> Self {
        match any {
            AnyText::One(one) => Self { from: vec![one], ..Self::default() },
            AnyText::Many(from) => Self { from, ..Self::default() },
            AnyText::Table(table) => Self {
                from: table.from.list(),
                default: table.constant.or(table.default),
                optional: table.optional,
                none: table.none,
                replace: table.replace,
            },
        }
    }
}

/// A stop: a place, and who is there.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StopSpec {
    /// The place comes from whoever runs the import: a shop's own files do not name the shop's address.
    #[serde(default)]
    pub given: bool,
    pub lat: Option<TextSpec>,
    pub lng: Option<TextSpec>,
    /// Both in one: a text `a,b` or an array `[a, b]`.
    pub point: Option<TextSpec>,
    #[serde(default)]
    pub order: Order,
    /// What the numbers are divided by, such as 1000000.
    pub scale: Option<f64>,
    pub address: Option<TextSpec>,
    pub name: Option<TextSpec>,
    pub phone: Option<TextSpec>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    #[default]
    LatLng,
    LngLat,
}

/// A time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeSpec {
    pub from: Sources,
    /// Its date, if that stands elsewhere.
    pub date: Option<String>,
    pub formats: Vec<String>,
    #[serde(default)]
    pub optional: bool,
    pub zone: Option<String>,
    /// A row's own offset in minutes.
    pub offset: Option<OffsetSpec>,
    /// The text is a span, parted by this mark …
    pub split: Option<String>,
    /// … of which this part counts.
    #[serde(default)]
    pub part: Part,
    /// Values that mean none, beside those that always do.
    #[serde(default)]
    pub none: Vec<String>,
    /// Words in the text that mean "as soon as possible": no time.
    #[serde(default)]
    pub asap: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OffsetSpec {
    pub from: String,
    /// Minutes to add to local time to get UTC, instead of the other way round.
    #[serde(default)]
    pub reversed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    #[default]
    Start,
    End,
}

/// An amount of money.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoneySpec {
    pub from: Sources,
    /// How many decimals the currency has; 0 if the amount is in its smallest unit.
    pub decimals: u32,
    #[serde(default)]
    pub optional: bool,
    /// The mark before the decimals is a comma.
    #[serde(default)]
    pub decimal_comma: bool,
}

/// A position of a rider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PositionSpec {
    pub rider: TextSpec,
    /// Rises with each position of a rider.
    pub seq: TextSpec,
    pub at: TimeSpec,
    pub lat: Option<TextSpec>,
    pub lng: Option<TextSpec>,
    pub point: Option<TextSpec>,
    #[serde(default)]
    pub order: Order,
    pub scale: Option<f64>,
    pub accuracy_m: Option<TextSpec>,
}
