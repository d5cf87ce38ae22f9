//! What keeps a whole file from being read, and a mapping from being used.

use std::io;

use super::problem::Cut;
use crate::domain::refusal::Lang;

/// Why a file can not be read, or not any further.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The disk or the network failed.
    #[error("{}", self.sentence(Lang::En))]
    Io(#[from] io::Error),
    /// An Excel workbook (or another ZIP) under a wrong name.
    #[error("{}", self.sentence(Lang::En))]
    Workbook,
    /// Not UTF-8.
    #[error("{}", self.sentence(Lang::En))]
    NotUtf8,
    /// Nothing in it.
    #[error("{}", self.sentence(Lang::En))]
    Empty,
    /// A header and no row.
    #[error("{}", self.sentence(Lang::En))]
    HeaderOnly,
    /// Columns that the mapping names and the header lacks.
    #[error("{}", self.sentence(Lang::En))]
    MissingColumns(Vec<String>),
    /// A column that the mapping names stands in the header more than once.
    #[error("{}", self.sentence(Lang::En))]
    AmbiguousColumn {
        /// Its name.
        name: String,
        /// How often it stands there.
        times: usize,
    },
    /// Keys without quotation marks: program text, not JSON.
    #[error("{}", self.sentence(Lang::En))]
    UnquotedKeys,
    /// Not JSON where a value should start or end. Holds the number of values before it.
    #[error("{}", self.sentence(Lang::En))]
    NotJson {
        /// How many values were read before.
        after: u64,
    },
    /// A form body (`a=1&b=2`) where the mapping reads something else.
    #[error("{}", self.sentence(Lang::En))]
    FormBody,
    /// JSON where the mapping reads CSV.
    #[error("{}", self.sentence(Lang::En))]
    JsonNotCsv,
    /// The mapping's rows are not where it says.
    #[error("{}", self.sentence(Lang::En))]
    NoRows {
        /// The JSON pointer.
        pointer: String,
    },
    /// One row or value is larger than can be held at once.
    #[error("{}", self.sentence(Lang::En))]
    TooLarge {
        /// Physical line in CSV, number of the value in JSON.
        line: u64,
        /// The most bytes.
        limit: usize,
    },
}

impl FileError {
    /// The code that scripts see.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "FILE_UNREADABLE",
            Self::Workbook => "FILE_IS_WORKBOOK",
            Self::NotUtf8 => "FILE_NOT_UTF8",
            Self::Empty => "FILE_EMPTY",
            Self::HeaderOnly => "FILE_HEADER_ONLY",
            Self::MissingColumns(_) => "COLUMN_MISSING",
            Self::AmbiguousColumn { .. } => "COLUMN_AMBIGUOUS",
            Self::UnquotedKeys => "FILE_UNQUOTED_KEYS",
            Self::NotJson { .. } => "FILE_NOT_JSON",
            Self::FormBody => "FILE_IS_FORM",
            Self::JsonNotCsv => "FILE_IS_JSON",
            Self::NoRows { .. } => "ROWS_NOT_FOUND",
            Self::TooLarge { .. } => "ROW_TOO_LARGE",
        }
    }

    /// One sentence that helps.
    pub fn sentence(&self, lang: Lang) -> String {
        match lang {
            Lang::Zh => self.zh(),
            Lang::En => self.en(),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Io(error) => format!("无法读取文件：{error}。"),
            Self::Workbook => {
                "这是 Excel 工作簿（或其他压缩文件），请在 Excel 中另存为“CSV UTF-8”。".to_owned()
            }
            Self::NotUtf8 => "文件不是 UTF-8 编码，请另存为 UTF-8。".to_owned(),
            Self::Empty => "文件是空的。".to_owned(),
            Self::HeaderOnly => "文件只有表头，没有数据行。".to_owned(),
            Self::MissingColumns(names) => {
                format!("文件缺少映射所需的列：{}。", names.join("、"))
            }
            Self::AmbiguousColumn { name, times } => format!(
                "列“{}”在表头中出现 {times} 次，请在映射中写明第几个，例如“{}#1”。",
                Cut(name),
                Cut(name)
            ),
            Self::UnquotedKeys => "字段名没有加双引号，这是程序代码，不是 JSON。".to_owned(),
            Self::NotJson { after } => format!("第 {after} 项之后不是有效的 JSON。"),
            Self::FormBody => "这是表单内容（a=1&b=2），所选映射不读取表单。".to_owned(),
            Self::JsonNotCsv => "这是 JSON 文件，所选映射读取 CSV。".to_owned(),
            Self::NoRows { pointer } => format!("在 {} 处没有找到数据数组。", Cut(pointer)),
            Self::TooLarge { line, limit } => {
                format!("第 {line} 行（项）超过 {limit} 字节；如为 CSV，请检查引号是否成对。")
            }
        }
    }

    fn en(&self) -> String {
        match self {
            Self::Io(error) => format!("The file can not be read: {error}."),
            Self::Workbook => {
                "This is an Excel workbook (or another ZIP); save it as \"CSV UTF-8\" in Excel."
                    .to_owned()
            }
            Self::NotUtf8 => "The file is not UTF-8; save it as UTF-8.".to_owned(),
            Self::Empty => "The file is empty.".to_owned(),
            Self::HeaderOnly => "The file has a header and no row.".to_owned(),
            Self::MissingColumns(names) => {
                format!("The file lacks columns that the mapping needs: {}.", names.join(", "))
            }
            Self::AmbiguousColumn { name, times } => format!(
                "The header has \"{}\" {times} times; say in the mapping which one, as in \"{}#1\".",
                Cut(name),
                Cut(name)
            ),
            Self::UnquotedKeys => {
                "The keys have no quotation marks: this is program text, not JSON.".to_owned()
            }
            Self::NotJson { after } => format!("After {after} values the file is not JSON."),
            Self::FormBody => {
                "This is a form body (a=1&b=2), and the mapping does not read forms.".to_owned()
            }
            Self::JsonNotCsv => "This is JSON, and the mapping reads CSV.".to_owned(),
            Self::NoRows { pointer } => format!("There is no array of rows at {}.", Cut(pointer)),
            Self::TooLarge { line, limit } => format!(
                "Row {line} has more than {limit} bytes; in CSV, look for a quotation mark without its twin."
            ),
        }
    }
}

/// Why a mapping can not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// Not TOML, or not the fields of a mapping.
    #[error("the mapping can not be read: {0}")]
    Toml(String),
    /// No built-in mapping has this name.
    #[error("there is no mapping named {0}")]
    Unknown(String),
    /// A field holds something that means nothing.
    #[error("{field}: {why}")]
    Field {
        /// Which one.
        field: String,
        /// What is wrong with it.
        why: String,
    },
}

impl MappingError {
    pub(super) fn field(field: &str, why: impl Into<String>) -> Self {
        Self::Field { field: field.to_owned(), why: why.into() }
    }
}
