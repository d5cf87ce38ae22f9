//! Request keys: the same row has the same key, whenever it is imported.

use std::{collections::HashMap, fmt::Write};

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use super::Fault;
use crate::{
    domain::{actor::RequestKey, fingerprint::hex},
    intake::{
        json::Json,
        problem::{Needed, Problem},
        source::{Row, Source, Template},
    },
};

/// The key of a template. Every source in it must say something.
pub(in crate::intake) fn of_template(
    template: &Template,
    row: Row<'_>,
) -> Result<RequestKey, Fault> {
    for source in template.sources() {
        match row.text(source) {
            None => return Err(Fault::at(source.label(), Problem::Missing(Needed::Key))),
            Some(text) if is_damaged(&text, matches!(row.node(source), Some(Json::Number(_)))) => {
                return Err(Fault::at(source.label(), Problem::DamagedId(text.into_owned())));
            }
            Some(_) => {}
        }
    }
    let label = template.sources().next().map(Source::label).unwrap_or_default();
    let text = template.fill(row).unwrap_or_default();
    encode(&text).ok_or_else(|| Fault::at(label, Problem::Missing(Needed::Key)))
}

/// A number that went through a spreadsheet or a floating-point number: `4.60E+03`, `1001.0`. A short code such as
/// `12e4` is an id; bare in JSON it is a number, and damaged.
fn is_damaged(text: &str, bare: bool) -> bool {
    let number = text.parse::<f64>().is_ok() && text.starts_with(|c: char| c.is_ascii_digit());
    let exponent = text.contains(['e', 'E']) && (bare || text.contains(['+', '.']));
    let fraction =
        text.split_once('.').is_some_and(|(_, rest)| bare || rest.bytes().all(|byte| byte == b'0'));
    number && (exponent || fraction)
}

/// Any text as a key. Visible ASCII stays as it is, but for `%`; all else is written as the `%XX` of its UTF-8, in
/// the composed form (NFC), so that one id has one key. What would be too long ends in its SHA-256 instead.
pub(in crate::intake) fn encode(text: &str) -> Option<RequestKey> {
    const KEPT: usize = RequestKey::MAX_LEN - 65;
    let mut key = String::new();
    for byte in text.nfc().collect::<String>().bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            key.push(char::from(byte));
        } else {
            // Writing into a String can not fail.
            let _ = write!(key, "%{byte:02X}");
        }
    }
    if key.len() > RequestKey::MAX_LEN {
        let hash = hex(&Sha256::digest(key.as_bytes()));
        key.truncate(KEPT);
        key = format!("{key}~{hash}");
    }
    RequestKey::parse(&key)
}

/// Keys of rows that have no id: the hash of what the row says, and which of its twins it is.
///
/// So the same file gets the same keys, in any order of its rows, and files that overlap share the keys of what they
/// share. It remembers 16 bytes per different row.
#[derive(Debug, Default)]
pub(in crate::intake) struct ContentKeys {
    seen: HashMap<u64, u32>,
}

impl ContentKeys {
    pub(in crate::intake) fn key<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a [u8]>,
    ) -> Option<RequestKey> {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
            hash.update([0x1f]);
        }
        let hash = hash.finalize();
        let short = hash.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)).unwrap_or_default();
        let twin = self.seen.entry(short).and_modify(|count| *count += 1).or_insert(1);
        RequestKey::parse(&format!("row-{}-{twin}", hex(&hash[..16])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_has_one_key_of_its_own() {
        for (id, key) in [
            ("820982911946154508", "820982911946154508"),
            ("0925", "0925"),
            ("A-١٢٣", "A-%D9%A1%D9%A2%D9%A3"),
            ("a b%", "a%20b%25"),
            ("e\u{301}", "%C3%A9"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(encode(id).as_ref().map(RequestKey::as_str), Some(key), "{id}");
        }
        assert_eq!(encode(""), None);
        let (one, other) = (encode(&"é".repeat(200)), encode(&"é".repeat(201)));
        assert!(one.is_some() && one != other);
        assert_eq!(one, encode(&"é".repeat(200)));
    }

    #[test]
    fn a_rounded_number_is_no_id() {
        for damaged in ["4.60E+03", "1e+5", "1001.0", "8.2E17"] {
            assert!(is_damaged(damaged, false), "{damaged}");
        }
        for bare in ["1e5", "1001.5"] {
            assert!(is_damaged(bare, true) && !is_damaged(bare, false), "{bare}");
        }
        for fine in ["460", "0925", "E12", "1e", "v1.2", "INV-1527", "12.3.4"] {
            assert!(!is_damaged(fine, false), "{fine}");
        }
    }
}
