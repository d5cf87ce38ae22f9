//! The sources, as far as the rules look at them.

use std::{fs, path::Path};

/// One file under `src/`.
#[derive(Debug)]
pub struct Source {
    /// Its path below `src/`, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A sample for a rule's own check.
    pub fn sample(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// The first part of the path: which room of the house it stands in.
    pub fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// The lines of production code: what stands before the tests of the file.
    pub fn production(&self) -> impl Iterator<Item = &str> {
        let mut lines = self.text.lines().peekable();
        std::iter::from_fn(move || {
            let line = lines.next()?;
            let tests =
                line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.starts_with("mod "));
            (!tests).then_some(line)
        })
        .fuse()
    }

    /// Production code without comments, and without what stands in quotes.
    pub fn code(&self) -> String {
        without_comments_and_texts(&self.production().collect::<Vec<_>>().join("\n"))
    }
}

/// All files under `src/`, sorted.
pub fn all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let below = path.strip_prefix(&root).expect("below the root");
                let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                let text = fs::read_to_string(&path).expect("a source");
                found.push(Source { path: parts.join("/"), text });
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(found.iter().any(|file| file.path == "domain/decide/mod.rs"), "the sources are there");
    found
}

/// Blanks out comments, and the insides of texts and of characters. Line breaks stay.
pub fn without_comments_and_texts(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let chars: Vec<char> = code.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        let raw = c == 'r'
            && matches!(next, Some('"' | '#'))
            && !out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if c == '/' && next == Some('/') {
            while chars.get(at).is_some_and(|c| *c != '\n') {
                at += 1;
            }
        } else if c == '/' && next == Some('*') {
            while at < chars.len() && !(chars[at] == '*' && chars.get(at + 1) == Some(&'/')) {
                at += 1;
            }
            at += 2;
        } else if raw && let Some(end) = end_of_raw(&chars, at) {
            out.push_str("\"\"");
            at = end;
        } else if c == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            out.push_str("\"\"");
            at += 1;
        } else if c == '\'' && is_character(&chars, at) {
            at += if next == Some('\\') { 3 } else { 2 };
            while chars.get(at).is_some_and(|c| *c != '\'') {
                at += 1;
            }
            out.push_str("' '");
            at += 1;
        } else {
            out.push(c);
            at += 1;
        }
    }
    out
}

/// Where the raw text ends that starts at `at`; `None` if none starts there (`r#type`).
fn end_of_raw(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let start = at + 1 + hashes;
    if chars.get(start) != Some(&'"') {
        return None;
    }
    let closes = |from: usize| {
        chars[from] == '"'
            && chars[from + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    (start + 1..chars.len()).find(|from| closes(*from)).map(|from| from + 1 + hashes)
}

/// Whether a character starts at `at`, and not a lifetime.
fn is_character(chars: &[char], at: usize) -> bool {
    chars.get(at + 1) == Some(&'\\') || chars.get(at + 2) == Some(&'\'')
}

#[test]
fn comments_and_texts_are_blanked_out_and_the_rest_is_kept() {
    let cases = [
        ("a // use b", "a "),
        ("a /* use b */ c", "a  c"),
        ("f(\"use b \\\" c\") d", "f(\"\") d"),
        ("f(r#\"use \"b\" c\"#) d", "f(\"\") d"),
        ("r#type b", "r#type b"),
        ("g('\"', '\\'', 'x') \"y\" z", "g(' ', ' ', ' ') \"\" z"),
        ("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}"),
    ];
    for (code, expected) in cases {
        assert_eq!(without_comments_and_texts(code), expected, "{code}");
    }
}

#[test]
fn production_code_ends_where_the_tests_begin() {
    let file = Source::sample(
        "clock.rs",
        "//! Doc.\n#[cfg(test)]\nfn helper() {}\n#[cfg(test)]\nmod tests {\n}\n",
    );
    assert_eq!(file.production().count(), 3);
    assert_eq!((file.room(), Source::sample("a/b.rs", "").room()), ("clock", "a"));
}
