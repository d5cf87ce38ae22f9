//! The keys of the seals. They are kept outside of the database.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::super::fingerprint::hex;

/// What a key's id is taken over, in front of the key.
const ID_OF: &[u8] = b"dispatch-desk audit key";

/// One key of 32 bytes, and the id by which seals name it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    bytes: [u8; 32],
    id: String,
}

impl fmt::Debug for Key {
    /// Without the key itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

impl Key {
    /// The key of these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        let mut hash = Sha256::new();
        hash.update(ID_OF);
        hash.update(bytes);
        let id = hex(&hash.finalize()[..8]);
        Self { bytes, id }
    }

    /// A short hash of it, which tells nothing about it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Bytes for another use, which tell nothing of the key and are told apart by `purpose`.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let message = format!("dispatch-desk derived key\n{purpose}");
        self.hmac().chain_update(message).finalize().into_bytes().into()
    }

    /// The line of a key file that holds it, without a line end.
    pub fn line(&self) -> String {
        hex(&self.bytes)
    }

    fn hmac(&self) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(&self.bytes).expect("HMAC takes keys of any length")
    }

    /// The HMAC-SHA-256 of `message`, in hexadecimal.
    pub(super) fn mac(&self, message: &[u8]) -> String {
        hex(&self.hmac().chain_update(message).finalize().into_bytes())
    }

    /// Whether `mac` is that of `message`, compared in constant time.
    pub(super) fn vouches(&self, message: &[u8], mac: &str) -> bool {
        bytes_of(mac)
            .is_some_and(|mac| self.hmac().chain_update(message).verify_slice(&mac).is_ok())
    }
}

/// 32 bytes from 64 lower-case hexadecimal digits.
pub(super) fn bytes_of(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let text: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// The keys of a file, the newest last: it seals, the others only vouch for what they have sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    older: Vec<Key>,
    newest: Key,
}

/// A file that holds no keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKeys {
    /// A line that is no key.
    #[error("line {0} is no key: a key is 64 hexadecimal digits")]
    Line(usize),
    /// No line with a key.
    #[error("there is no key in it: a key is 32 bytes, or a line of 64 hexadecimal digits")]
    Empty,
}

impl Keys {
    /// One key.
    pub const fn one(key: Key) -> Self {
        Self { older: Vec::new(), newest: key }
    }

    /// Reads a key file: exactly 32 bytes, or a line of 64 hexadecimal digits for each key, the newest last. Empty lines
    /// and lines that start with `#` do not count.
    ///
    /// # Errors
    /// Which line is no key.
    pub fn parse(file: &[u8]) -> Result<Self, NoKeys> {
        if let Ok(raw) = <[u8; 32]>::try_from(file) {
            return Ok(Self::one(Key::new(raw)));
        }
        let mut keys = Vec::new();
        for (number, line) in (1..).zip(file.split(|byte| *byte == b'\n')) {
            let line = std::str::from_utf8(line).map_err(|_| NoKeys::Line(number))?.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let bytes = bytes_of(&line.to_ascii_lowercase()).ok_or(NoKeys::Line(number))?;
                keys.push(Key::new(bytes));
            }
        }
        let newest = keys.pop().ok_or(NoKeys::Empty)?;
        Ok(Self { older: keys, newest })
    }

    /// The key that seals.
    pub const fn newest(&self) -> &Key {
        &self.newest
    }

    /// The key that stays the first of the file when new ones are added: what is derived from it outlives them.
    pub fn oldest(&self) -> &Key {
        self.older.first().unwrap_or(&self.newest)
    }

    /// The key of that id.
    pub fn find(&self, id: &str) -> Option<&Key> {
        self.older.iter().chain([&self.newest]).find(|key| key.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_is_read_line_by_line_or_raw() {
        let (one, two) = (Key::new([1; 32]), Key::new([0xab; 32]));
        let file = format!("# made in May\n{}\r\n\n{}", one.line(), two.line().to_uppercase());
        let keys = Keys::parse(file.as_bytes()).expect("two keys");
        assert_eq!(keys.newest(), &two);
        assert_eq!(keys.find(one.id()), Some(&one));
        assert_eq!(keys.find("0000000000000000"), None);
        assert_eq!(Keys::parse(&[1; 32]), Ok(Keys::one(one)));
    }

    #[test]
    fn what_is_no_key_is_named_by_its_line() {
        let good = "00".repeat(32);
        for (file, wrong) in [
            (String::new(), NoKeys::Empty),
            ("# nothing\n".to_owned(), NoKeys::Empty),
            (format!("{good}\n12345\n"), NoKeys::Line(2)),
            (format!("{good}0\n"), NoKeys::Line(1)),
            (good.replace('0', "g"), NoKeys::Line(1)),
        ] {
            assert_eq!(Keys::parse(file.as_bytes()), Err(wrong), "{file}");
        }
        assert_eq!(Keys::parse(&[0xff; 33]), Err(NoKeys::Line(1)));
    }

    #[test]
    fn a_key_is_not_shown() {
        let key = Key::new([0xab; 32]);
        assert!(!format!("{:?}", Keys::one(key.clone())).contains("abab"));
        assert_eq!(key.id().len(), 16);
    }

    /// The figure was computed by another program.
    #[test]
    fn the_mac_is_hmac_sha_256() {
        let mac = Key::new([0x0b; 32]).mac(b"Hi There");
        assert_eq!(mac, "198a607eb44bfbc69903a0f1cf2bbdc5ba0aa3f3d9ae3c1c7a3b1696a0b68cf7");
    }
}
