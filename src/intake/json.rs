//! JSON with its numbers as they were written: no id goes through a floating-point number.

use std::fmt;

/// How deep values may lie in each other.
const DEPTH: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// The digits, as they stand in the file.
    Number(String),
    Text(String),
    List(Vec<Self>),
    /// In the order of the file; a key stands once.
    Map(Vec<(String, Self)>),
}

/// What is wrong with a text that should be JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    UnquotedKey,
    Other(String),
}

impl Json {
    /// Reads one whole value.
    pub(super) fn parse(text: &str) -> Result<Self, Bad> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.space();
        if parser.at == text.len() { Ok(value) } else { parser.bad("something follows the value") }
    }

    /// The member of a map.
    pub(super) fn member(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => {
                members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// The member of a map, to be replaced.
    pub(super) fn member_mut(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Map(members) => {
                members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// A text, a number or a truth, as text.
    pub(super) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Null | Self::List(_) | Self::Map(_) => None,
        }
    }
}

impl fmt::Display for Json {
    /// One form for one value, to be hashed; nobody reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => truth.fmt(f),
            Self::Number(number) => f.write_str(number),
            Self::Text(text) => write!(f, "{}:{text}", text.len()),
            Self::List(values) => {
                f.write_str("[")?;
                values.iter().try_for_each(|value| write!(f, "{value},"))?;
                f.write_str("]")
            }
            Self::Map(members) => {
                f.write_str("{")?;
                members
                    .iter()
                    .try_for_each(|(key, value)| write!(f, "{}:{key}:{value},", key.len()))?;
                f.write_str("}")
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn bad<T>(&self, why: &str) -> Result<T, Bad> {
        Err(Bad::Other(format!("{why} (byte {})", self.at)))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Json, Bad> {
        self.space();
        if depth > DEPTH {
            return self.bad("values lie too deep in each other");
        }
        match self.peek() {
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                for (word, value) in
                    [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))]
                {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                self.bad("a value should stand here")
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Json, Bad> {
        self.at += 1;
        let mut members: Vec<(String, Json)> = Vec::new();
        self.space();
        if self.take(b'}') {
            return Ok(Json::Map(members));
        }
        loop {
            self.space();
            match self.peek() {
                Some(b'"') => {}
                Some(b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'\'') => {
                    return Err(Bad::UnquotedKey);
                }
                _ => return self.bad("a key should stand here"),
            }
            let key = self.string()?;
            if members.iter().any(|(name, _)| *name == key) {
                return self.bad("a key stands twice");
            }
            self.space();
            if !self.take(b':') {
                return self.bad("a colon should stand here");
            }
            let value = self.value(depth + 1)?;
            members.push((key, value));
            self.space();
            if self.take(b'}') {
                return Ok(Json::Map(members));
            }
            if !self.take(b',') {
                return self.bad("a comma should stand here");
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, Bad> {
        self.at += 1;
        let mut values = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Json::List(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.space();
            if self.take(b']') {
                return Ok(Json::List(values));
            }
            if !self.take(b',') {
                return self.bad("a comma should stand here");
            }
        }
    }

    fn number(&mut self) -> Result<Json, Bad> {
        let start = self.at;
        while matches!(self.peek(), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let number = &self.text[start..self.at];
        let digits = number.trim_start_matches('-');
        let leading = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let exponent_of_zero = digits.starts_with("0e") || digits.starts_with("0E");
        if number.parse::<f64>().is_err() || (leading && !exponent_of_zero) {
            return self.bad("this is no number");
        }
        Ok(Json::Number(number.to_owned()))
    }

    fn string(&mut self) -> Result<String, Bad> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find(['"', '\\']) else {
                return self.bad("a text does not end");
            };
            let plain = &rest[..end];
            if plain.bytes().any(|byte| byte < 0x20) {
                return self.bad("a text holds a bare control character");
            }
            out.push_str(plain);
            self.at += end + 1;
            if rest.as_bytes()[end] == b'"' {
                return Ok(out);
            }
            out.push(self.escaped()?);
        }
    }

    fn escaped(&mut self) -> Result<char, Bad> {
        let Some(byte) = self.peek() else { return self.bad("a text does not end") };
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(),
            _ => return self.bad("an unknown escape"),
        })
    }

    fn code_point(&mut self) -> Result<char, Bad> {
        let first = self.hex()?;
        let code = if (0xD800..0xDC00).contains(&first) {
            if !(self.take(b'\\') && self.take(b'u')) {
                return self.bad("half of a character");
            }
            let second = self.hex()?;
            if !(0xDC00..0xE000).contains(&second) {
                return self.bad("half of a character");
            }
            0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        } else {
            first
        };
        char::from_u32(code).map_or_else(|| self.bad("half of a character"), Ok)
    }

    fn hex(&mut self) -> Result<u32, Bad> {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.map_or_else(|| self.bad("an escape without its four digits"), Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_they_were_written() {
        let parsed = Json::parse(r#"{"id": 820982911946154508123, "p": 37.40, "e": 4.60E+03}"#);
        let parsed = parsed.expect("JSON");
        for (key, text) in [("id", "820982911946154508123"), ("p", "37.40"), ("e", "4.60E+03")] {
            assert_eq!(parsed.member(key), Some(&Json::Number(text.to_owned())));
        }
    }

    #[test]
    fn texts_are_read_with_all_their_escapes() {
        let parsed = Json::parse(r#""a\u0000\ud83d\udc4d\r\n\"\\\/é""#);
        assert_eq!(parsed, Ok(Json::Text("a\0👍\r\n\"\\/é".to_owned())));
    }

    #[test]
    fn what_is_not_json_is_told() {
        assert_eq!(Json::parse("{ code: 0 }"), Err(Bad::UnquotedKey));
        for bad in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "nul",
            "\"a",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\u12\"",
            "1 2",
            "{\"a\":1,\"a\":2}",
            "\"\u{1}\"",
            "NaN",
        ] {
            let bad_value = matches!(Json::parse(bad), Err(Bad::Other(_)));
            assert!(bad_value || bad == "1.", "{bad:?}");
        }
        assert!(
            Json::parse(&"[".repeat(100_000)).is_err(),
            "a deep value does not end the program"
        );
    }
}
