//! The head of the seals, as it is noted elsewhere: in a log, in an export, on paper.

use std::fmt;

/// Number and digest of a seal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head {
    /// The number of the seal.
    pub number: i64,
    /// Its digest, in hexadecimal.
    pub digest: String,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, self.digest)
    }
}

/// How long a digest is, in characters.
const DIGEST: usize = 64;

impl Head {
    /// Reads `NUMBER:DIGEST`; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, digest) = text.trim().split_once(':')?;
        let number = number.parse().ok().filter(|number| *number > 0)?;
        let digest = digest.to_ascii_lowercase();
        let fits = digest.len() == DIGEST && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        fits.then_some(Self { number, digest })
    }

    /// All heads that stand in a text, such as a log or an export, each of them once, in the order of their numbers.
    pub fn all_in(text: &str) -> Vec<Self> {
        let mut found: Vec<_> = text
            .match_indices(':')
            .filter_map(|(colon, _)| {
                let number = text[..colon].bytes().rev().take_while(u8::is_ascii_digit).count();
                let digest = text[colon + 1..].bytes().take_while(u8::is_ascii_hexdigit).count();
                Self::parse(&text[colon - number..colon + 1 + digest])
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_a_number_and_a_digest() {
        let digest = "0f".repeat(32);
        let head = Head { number: 12, digest: digest.clone() };
        assert_eq!(Head::parse(&head.to_string()), Some(head.clone()));
        assert_eq!(Head::parse(&format!(" 12:{} \n", digest.to_uppercase())), Some(head));
        for wrong in ["", "12", "12:", ":", "12:0f", "0:0f", "x:y"] {
            assert_eq!(Head::parse(wrong), None, "{wrong}");
        }
        for wrong in [format!("0:{digest}"), format!("-1:{digest}"), format!("1:{digest}0")] {
            assert_eq!(Head::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn heads_are_found_wherever_they_were_noted() {
        let (one, two) = ("0a".repeat(32), "0b".repeat(32));
        let text = format!(
            "2026-11-30T22:55:19Z  INFO \u{1b}[2m=\u{1b}[0m9:{one} mac={two}\n\
             {{\"record\":\"head\",\"head\":\"10:{two}\"}}\nhead=9:{one}\n好:{one}"
        );
        let found: Vec<_> = Head::all_in(&text).iter().map(ToString::to_string).collect();
        assert_eq!(found, [format!("9:{one}"), format!("10:{two}")]);
    }
}
