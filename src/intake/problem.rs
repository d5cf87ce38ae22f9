//! What keeps a row from becoming a task: a code for scripts, a sentence for people.

use std::fmt;

use crate::domain::refusal::Lang;

/// Why one row is refused. The file goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is needed, and the row has nothing there.
    Missing(Needed),
    /// The file does not know where goods are fetched, and nobody has said it for the whole import.
    PickupNotGiven,
    /// The row has another number of fields than the header.
    Ragged {
        /// Columns of the header.
        expected: usize,
        /// Fields of the row.
        found: usize,
    },
    /// A quotation mark opens here and never closes: the rest of the file is in it.
    UnclosedQuote,
    /// The row is not UTF-8.
    NotUtf8,
    /// The element is not JSON, or a text within it that should be JSON is not.
    NotJson(String),
    /// A time in none of the forms that the mapping names.
    BadTime(String),
    /// A time without its date, or without its year, and no base date was given.
    NeedsBaseDate(String),
    /// The clocks of the zone skip this time.
    NoSuchTime(String),
    /// The clocks of the zone show this time twice.
    AmbiguousTime(String),
    /// A time outside of the years 1970 to 9999.
    TimeOutOfRange(String),
    /// Not a number.
    BadNumber(String),
    /// A latitude beyond ±90 or a longitude beyond ±180.
    NotOnEarth(String),
    /// Latitude and longitude are both about zero: nobody filled them in.
    NullIsland,
    /// Not an amount with as many decimals as the currency has.
    BadMoney(String),
    /// A number that a spreadsheet has rounded: what the id was can not be told any more.
    DamagedId(String),
    /// A text holds U+0000, which can not be stored.
    NulInText,
    /// A text of more characters than a task takes.
    TooLong {
        /// The most characters.
        limit: usize,
    },
    /// A word that the desk does not know, such as a vehicle of another system.
    UnknownWord(String),
    /// A message about a delivery, not an order. Holds whose it is.
    StatusMessage(String),
    /// It cancels the order of this number. A file creates tasks and never cancels them.
    Cancels(String),
    /// An order, but nobody is to bring it: it is eaten in, fetched, or half of a delivery.
    NotADelivery(String),
}

impl Problem {
    /// The code that scripts see.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "FIELD_MISSING",
            Self::PickupNotGiven => "PICKUP_NOT_GIVEN",
            Self::Ragged { .. } => "FIELD_COUNT",
            Self::UnclosedQuote => "UNCLOSED_QUOTE",
            Self::NotUtf8 => "NOT_UTF8",
            Self::NotJson(_) => "NOT_JSON",
            Self::BadTime(_) => "BAD_TIME",
            Self::NeedsBaseDate(_) => "NEEDS_BASE_DATE",
            Self::NoSuchTime(_) => "NO_SUCH_TIME",
            Self::AmbiguousTime(_) => "AMBIGUOUS_TIME",
            Self::TimeOutOfRange(_) => "TIME_OUT_OF_RANGE",
            Self::BadNumber(_) => "BAD_NUMBER",
            Self::NotOnEarth(_) => "NOT_ON_EARTH",
            Self::NullIsland => "NULL_ISLAND",
            Self::BadMoney(_) => "BAD_MONEY",
            Self::DamagedId(_) => "DAMAGED_ID",
            Self::NulInText => "NUL_IN_TEXT",
            Self::TooLong { .. } => "TEXT_TOO_LONG",
            Self::UnknownWord(_) => "UNKNOWN_WORD",
            Self::StatusMessage(_) => "STATUS_MESSAGE",
            Self::Cancels(_) => "CANCELS_AN_ORDER",
            Self::NotADelivery(_) => "NOT_A_DELIVERY",
        }
    }

    /// One sentence for the person who brought the file.
    pub fn sentence(&self, lang: Lang) -> String {
        match lang {
            Lang::Zh => self.zh(),
            Lang::En => self.en(),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Missing(what) => format!("需要{}，此行没有。", what.words(Lang::Zh)),
            Self::PickupNotGiven => "文件中没有取货点，请为本次导入指定取货点。".to_owned(),
            Self::Ragged { expected, found } => {
                format!("表头有 {expected} 列，此行有 {found} 列。")
            }
            Self::UnclosedQuote => "引号从此行开始，直到文件末尾都没有结束。".to_owned(),
            Self::NotUtf8 => "此行不是 UTF-8 编码，请另存为 UTF-8。".to_owned(),
            Self::NotJson(why) => format!("此项不是有效的 JSON：{why}。"),
            Self::BadTime(text) => format!("无法识别时间“{}”。", Cut(text)),
            Self::NeedsBaseDate(text) => {
                format!("时间“{}”缺少年份或日期，请指定基准日期。", Cut(text))
            }
            Self::NoSuchTime(text) => format!("该时区调快时钟，没有“{}”这一时刻。", Cut(text)),
            Self::AmbiguousTime(text) => {
                format!("该时区调慢时钟，“{}”出现两次，无法确定是哪一次。", Cut(text))
            }
            Self::TimeOutOfRange(text) => {
                format!("时间“{}”不在 1970 年至 9999 年之间。", Cut(text))
            }
            Self::BadNumber(text) => format!("“{}”不是数字。", Cut(text)),
            Self::NotOnEarth(text) => format!("“{}”不是有效的经纬度。", Cut(text)),
            Self::NullIsland => "经纬度均接近 0，位置没有填写。".to_owned(),
            Self::BadMoney(text) => format!("“{}”不是有效的金额。", Cut(text)),
            Self::DamagedId(text) => {
                format!("单号“{}”已被表格软件改成科学计数法或小数，原单号无法还原。", Cut(text))
            }
            Self::NulInText => "文字中有空字符（U+0000），无法保存。".to_owned(),
            Self::TooLong { limit } => format!("文字超过 {limit} 个字符。"),
            Self::UnknownWord(text) => format!("无法识别“{}”。", Cut(text)),
            Self::StatusMessage(whose) => format!("这是状态消息，不是订单（{}）。", Cut(whose)),
            Self::Cancels(order) => {
                format!("此项取消订单 {}；导入只新建任务，请在派单台取消。", Cut(order))
            }
            Self::NotADelivery(text) => format!("此项不是完整的配送（{}）。", Cut(text)),
        }
    }

    fn en(&self) -> String {
        match self {
            Self::Missing(what) => format!("{} is needed; the row has none.", what.words(Lang::En)),
            Self::PickupNotGiven => {
                "The file does not say where goods are fetched; name the pickup for the whole import."
                    .to_owned()
            }
            Self::Ragged { expected, found } => {
                format!("The header has {expected} columns, this row has {found} fields.")
            }
            Self::UnclosedQuote => {
                "A quotation mark opens in this row and does not close before the file ends."
                    .to_owned()
            }
            Self::NotUtf8 => "The row is not UTF-8; save the file as UTF-8.".to_owned(),
            Self::NotJson(why) => format!("This is not valid JSON: {why}."),
            Self::BadTime(text) => format!("\"{}\" is no time that the mapping knows.", Cut(text)),
            Self::NeedsBaseDate(text) => {
                format!("\"{}\" lacks its year or its date; give a base date.", Cut(text))
            }
            Self::NoSuchTime(text) => {
                format!("The clocks of the zone skip \"{}\"; there is no such time.", Cut(text))
            }
            Self::AmbiguousTime(text) => format!(
                "The clocks of the zone show \"{}\" twice; which one is meant can not be told.",
                Cut(text)
            ),
            Self::TimeOutOfRange(text) => {
                format!("\"{}\" lies outside of the years 1970 to 9999.", Cut(text))
            }
            Self::BadNumber(text) => format!("\"{}\" is not a number.", Cut(text)),
            Self::NotOnEarth(text) => {
                format!("\"{}\" is no latitude and longitude in degrees.", Cut(text))
            }
            Self::NullIsland => {
                "Latitude and longitude are about zero: the place was not filled in.".to_owned()
            }
            Self::BadMoney(text) => format!("\"{}\" is not an amount of money.", Cut(text)),
            Self::DamagedId(text) => format!(
                "A spreadsheet has rounded the id to \"{}\"; what it was can not be told any more.",
                Cut(text)
            ),
            Self::NulInText => "A text holds U+0000, which can not be stored.".to_owned(),
            Self::TooLong { limit } => format!("The text has more than {limit} characters."),
            Self::UnknownWord(text) => {
                format!("\"{}\" is no word that the desk knows here.", Cut(text))
            }
            Self::StatusMessage(whose) => {
                format!("This is a status message, not an order ({}).", Cut(whose))
            }
            Self::Cancels(order) => format!(
                "This cancels order {}; an import only creates tasks, so cancel it at the desk.",
                Cut(order)
            ),
            Self::NotADelivery(text) => {
                format!("This is not a whole delivery ({}).", Cut(text))
            }
        }
    }
}

/// What a task or a position can not be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// What the request key is made of.
    Key,
    /// Where to fetch, on the map.
    PickupPlace,
    /// Where to fetch, in words.
    PickupAddress,
    /// Where to bring, on the map.
    DropoffPlace,
    /// Where to bring, in words.
    DropoffAddress,
    /// When it was ordered, where another time counts from there.
    PlacedAt,
    /// The date of a time that stands without one.
    Date,
    /// Whose position it is.
    Rider,
    /// Which position of the rider it is.
    Seq,
    /// When the rider was there.
    PositionTime,
    /// Where the rider was.
    RiderPlace,
}

impl Needed {
    const fn words(self, lang: Lang) -> &'static str {
        let (zh, en) = match self {
            Self::Key => ("单号", "The order's id"),
            Self::PickupPlace => ("取货点的经纬度", "The pickup's place on the map"),
            Self::PickupAddress => ("取货地址", "The pickup's address"),
            Self::DropoffPlace => ("送达点的经纬度", "The dropoff's place on the map"),
            Self::DropoffAddress => ("送达地址", "The dropoff's address"),
            Self::PlacedAt => ("下单时间", "The time of the order"),
            Self::Date => ("日期", "The date"),
            Self::Rider => ("骑手", "The rider"),
            Self::Seq => ("位置序号", "The number of the position"),
            Self::PositionTime => ("定位时间", "The time of the position"),
            Self::RiderPlace => ("骑手的经纬度", "The rider's place on the map"),
        };
        match lang {
            Lang::Zh => zh,
            Lang::En => en,
        }
    }
}

/// A text of a file as a sentence quotes it: the first characters on one line.
pub(super) struct Cut<'a>(pub(super) &'a str);

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 60;
        for c in self.0.chars().take(MOST) {
            write!(f, "{}", if c.is_control() { ' ' } else { c })?;
        }
        if self.0.chars().nth(MOST).is_some() { f.write_str("…") } else { Ok(()) }
    }
}
