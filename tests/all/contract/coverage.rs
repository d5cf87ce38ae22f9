//! The suite is complete: every public method of `Tx` and `Db`, and so every statement, has a case.

use std::{collections::BTreeSet, fs, path::Path};

/// A statement with the function that uses it, or a function with the ones that it calls.
#[derive(Debug, Default)]
struct Store {
    /// Public methods of `Tx` and of `Db`.
    methods: BTreeSet<String>,
    /// Names of statements.
    statements: BTreeSet<String>,
    /// Which function mentions what: (function, word).
    mentions: BTreeSet<(String, String)>,
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The word after `marker` in a line that has it.
fn after<'a>(line: &'a str, marker: &str) -> Option<&'a str> {
    line.split_once(marker).and_then(|(_, rest)| words(rest).next())
}

/// Reads one file of the store, line by line: rustfmt makes that safe.
fn read(store: &mut Store, source: &str) {
    let (mut of, mut function) = (String::new(), String::new());
    for line in source.lines().take_while(|line| *line != "#[cfg(test)]") {
        let text = line.trim_start();
        if text.starts_with("//") {
            continue;
        }
        if line.starts_with("impl ") {
            after(line, "impl ").unwrap_or_default().clone_into(&mut of);
        }
        if let Some(name) = after(line, "fn ").filter(|_| text.contains("fn ")) {
            name.clone_into(&mut function);
            let public = text.starts_with("pub async fn ") || text.starts_with("pub const fn ");
            if (public || text.starts_with("pub fn ")) && (of == "Tx" || of == "Db") {
                store.methods.insert(name.to_owned());
            }
        }
        if text.contains(": Sql =")
            && let Some(name) = after(line, "const ")
        {
            store.statements.insert(name.to_owned());
            if line.starts_with("const") {
                function.clear();
            }
            continue;
        }
        if line == "}" {
            function.clear();
            of.clear();
        }
        for word in words(line).filter(|_| !function.is_empty()) {
            store.mentions.insert((function.clone(), word.to_owned()));
        }
    }
}

/// What has no case in `cases`: methods that are not called, statements that no called function reaches.
fn missing(store: &Store, cases: &str) -> Vec<String> {
    let called = |name: &str| {
        cases.contains(&format!(".{name}(")) || cases.contains(&format!("Db::{name}("))
    };
    let mut reached: BTreeSet<&str> =
        store.methods.iter().map(String::as_str).filter(|name| called(name)).collect();
    loop {
        let more: Vec<_> = store
            .mentions
            .iter()
            .filter(|(function, word)| {
                reached.contains(function.as_str()) && !reached.contains(word.as_str())
            })
            .map(|(_, word)| word.as_str())
            .collect();
        if more.is_empty() {
            break;
        }
        reached.extend(more);
    }
    let methods =
        store.methods.iter().filter(|name| !called(name)).map(|name| format!("method {name}"));
    let statements = store.statements.iter().filter(|name| !reached.contains(name.as_str()));
    methods.chain(statements.map(|name| format!("statement {name}"))).collect()
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files.map(|path| fs::read_to_string(path).expect("a source")).collect()
}

#[test]
fn every_statement_has_a_case_on_both_databases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut store = Store::default();
    for source in files(&root.join("src/store")) {
        read(&mut store, &source);
    }
    assert!(store.methods.contains("apply") && store.methods.contains("open"), "{store:?}");
    assert!(store.statements.contains("EDIT_DETAIL") && store.statements.len() > 50, "{store:?}");
    let cases = files(&root.join("tests/all/contract")).concat();
    assert_eq!(missing(&store, &cases), Vec::<String>::new(), "write a case in tests/all/contract");
}

#[test]
fn a_statement_without_a_case_would_be_found() {
    const SOURCE: &str = r#"
const ONE: Sql = Sql::same("SELECT 1");
const TWO: Sql = Sql::same("SELECT 2");
const THREE: Sql = Sql::same("SELECT 3");

impl Tx {
    /// Not ONE.
    pub async fn one(&mut self) -> Result<()> {
        self.inner(ONE).await
    }

    pub async fn two(
        &mut self,
    ) -> Result<()> {
        execute!(self, TWO);
    }

    async fn inner(&mut self, sql: Sql) {
        execute!(self, sql, THREE);
    }
}
"#;
    let mut store = Store::default();
    read(&mut store, SOURCE);
    assert_eq!(missing(&store, "tx.one().await; tx.two().await"), Vec::<String>::new());
    assert_eq!(missing(&store, "tx.one().await"), ["method two", "statement TWO"]);
    assert_eq!(
        missing(&store, "tx.two().await"),
        ["method one", "statement ONE", "statement THREE"]
    );
}
