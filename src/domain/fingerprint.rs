//! What makes two requests the same: their content, not their bytes.

use std::fmt;

use sha2::{Digest, Sha256};

use super::command::{RequestKey, What};

/// SHA-256 of a parsed command in canonical form, in hexadecimal.
///
/// It is taken from the parsed command, field by field in the order of the declaration, so a
/// retry with other white space or another order of JSON members is still the same request. Every
/// field counts, the revision included.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// The fingerprint of what a command asks for.
    pub fn of(what: &What) -> Self {
        let canonical =
            serde_json::to_vec(what).expect("a command has only text keys and finite numbers");
        Self(hex(&Sha256::digest(canonical)))
    }

    /// The fingerprint of a request that is no command, from its canonical text.
    pub fn of_text(text: &str) -> Self {
        Self(hex(&Sha256::digest(text)))
    }

    /// Reads back a stored fingerprint.
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// The fingerprint as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The hash of a request key, as the log keeps it: who reads the log can not replay requests.
pub fn key_hash(principal: &str, key: &RequestKey) -> String {
    let mut hash = Sha256::new();
    hash.update(principal.as_bytes());
    hash.update([0]);
    hash.update(key.as_str().as_bytes());
    hex(&hash.finalize()[..16])
}

/// Bytes as lower-case hexadecimal text.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_order_do_not_count_and_every_field_does() {
        let parse =
            |text: &str| serde_json::from_str::<What>(text).map(|what| Fingerprint::of(&what));
        let one =
            parse(r#"{"change":{"task":1,"revision":1,"act":{"grab":{"ticket":null}}}}"#).ok();
        let two = parse(r#"{ "change": { "act": {"grab": {} }, "revision": 1, "task": 1 } }"#).ok();
        let other =
            parse(r#"{"change":{"task":1,"revision":2,"act":{"grab":{"ticket":null}}}}"#).ok();
        assert!(one.is_some() && one == two, "{one:?} {two:?}");
        assert_ne!(one, other);
    }
}
