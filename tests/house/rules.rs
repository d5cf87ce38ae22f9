//! Size, documentation, time, and what may become a statement.

use crate::source::{self, Source};

/// A file is read in one sitting.
const MOST_LINES: usize = 300;

/// What is too long to be read in one sitting.
fn too_long(file: &Source) -> Option<String> {
    let lines = file.production().count();
    (lines > MOST_LINES).then(|| format!("{}: {lines} lines, at most {MOST_LINES}", file.path))
}

/// Every file starts by saying what it is.
fn undocumented(file: &Source) -> Option<String> {
    let says =
        file.text.lines().next().is_some_and(|first| first.len() > 8 && first.starts_with("//! "));
    (!says).then(|| format!("{}: starts without a //! line", file.path))
}

/// What no file may hold, tests aside, with the one place that may.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    // Lints are expected with a reason, never switched off.
    ("#[allow(", "", "use #[expect(…, reason = …)]"),
    ("#![allow(", "", "use #[expect(…, reason = …)]"),
    // Time and randomness are inputs.
    ("SystemTime::now", "clock.rs", "take the time from the injected clock or from the store"),
    ("Utc::now", "clock.rs", "take the time from the injected clock or from the store"),
    ("Local::now", "", "take the time from the injected clock or from the store"),
    ("getrandom::", "clock.rs", "take randomness from the injected entropy"),
    // A statement is a constant.
    // A database's name can not be a parameter.
    ("AssertSqlSafe", "store/scratch.rs", "a statement is a constant text with parameters"),
    ("QueryBuilder", "", "a statement is a constant text with parameters"),
];

fn forbidden(file: &Source) -> Vec<String> {
    let code: String = file.code().split_whitespace().collect();
    FORBIDDEN
        .iter()
        .filter(|(text, place, _)| file.path != *place && code.contains(text))
        .map(|(text, _, instead)| format!("{}: {text} – {instead}", file.path))
        .collect()
}

/// Words that statements start with.
const STATEMENTS: [&str; 9] =
    ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "CREATE ", "DROP ", "ALTER ", "PRAGMA ", "BEGIN"];

/// Statements that are put together at run time: `format!`, `push_str`, `+` and the like on SQL.
fn put_together(file: &Source) -> Vec<String> {
    // A database's name can not be a parameter; it is checked to be letters, digits and underscores.
    if file.path == "store/scratch.rs" {
        return Vec::new();
    }
    let text: String = file.production().collect::<Vec<_>>().join("\n");
    let makers = ["format!(", "write!(", "writeln!(", "push_str(", "String::from(", "concat("];
    let mut found = Vec::new();
    for maker in makers {
        for (at, _) in text.match_indices(maker) {
            let inside: String = text[at + maker.len()..].chars().take(200).collect();
            let mut quoted = inside.split('"').skip(1).step_by(2);
            let first = quoted.next().unwrap_or_default().trim_start();
            if STATEMENTS.iter().any(|word| first.starts_with(word)) {
                found.push(format!("{}: {maker}\"{first}\"", file.path));
            }
        }
    }
    // What is run is a constant, never a text that was made.
    let code = file.code();
    for run in
        ["sqlx::query(", "sqlx::query_as(", "sqlx::query_scalar(", "sqlx::raw_sql(", "Sql::same("]
    {
        for (at, _) in code.match_indices(run) {
            let argument = code[at + run.len()..].trim_start();
            if argument.starts_with('&') || argument.starts_with("format!") {
                found.push(format!(
                    "{}: {run}{}",
                    file.path,
                    argument.lines().next().unwrap_or_default()
                ));
            }
        }
    }
    found
}

fn everywhere(rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    source::all().iter().flat_map(rule).collect()
}

#[test]
fn every_file_is_read_in_one_sitting() {
    let found = everywhere(|file| too_long(file).into_iter().collect());
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn every_file_says_what_it_is() {
    let found = everywhere(|file| undocumented(file).into_iter().collect());
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn nothing_forbidden_is_used() {
    assert_eq!(everywhere(forbidden), Vec::<String>::new());
}

#[test]
fn no_statement_is_put_together_at_run_time() {
    assert_eq!(everywhere(put_together), Vec::<String>::new());
}

#[test]
fn a_file_that_is_too_long_or_says_nothing_would_be_found() {
    let long = "//! A long file.\n".to_owned() + &"fn f() {}\n".repeat(MOST_LINES);
    assert!(too_long(&Source::sample("web/mod.rs", &long)).is_some());
    let fits = long.replacen("fn f() {}\n", "", 1);
    assert_eq!(too_long(&Source::sample("web/mod.rs", &fits)), None);
    let tests = format!("{fits}#[cfg(test)]\nmod tests {{\n{}}}\n", "// More.\n".repeat(500));
    assert_eq!(too_long(&Source::sample("web/mod.rs", &tests)), None, "tests aside");
    for nothing in ["", "use x;\n//! Late.\n", "//!\n", "// A comment.\n", "//! \n"] {
        assert!(undocumented(&Source::sample("web/mod.rs", nothing)).is_some(), "{nothing:?}");
    }
}

#[test]
fn what_is_forbidden_would_be_found() {
    for bad in [
        "#[allow(dead_code)]\nfn f() {}",
        "#![allow(dead_code)]",
        "#[ allow (dead_code)]",
        "let now = std::time::SystemTime::now();",
        "let now = chrono::Utc\n    ::now();",
        "getrandom::fill(&mut bytes)",
        "sqlx::query(AssertSqlSafe(text))",
    ] {
        assert_eq!(forbidden(&Source::sample("store/db.rs", bad)).len(), 1, "{bad}");
    }
    let fine = "// #[allow(x)]\n#[expect(x, reason = \"SystemTime::now\")]\nlet now = clock.now();";
    assert_eq!(forbidden(&Source::sample("store/db.rs", fine)), Vec::<String>::new());
    assert_eq!(forbidden(&Source::sample("clock.rs", "chrono::Utc::now()")), Vec::<String>::new());
}

#[test]
fn a_statement_that_is_put_together_would_be_found() {
    for bad in [
        "let sql = format!(\"SELECT * FROM task WHERE id = {id}\");",
        "sql.push_str(\"DELETE FROM task\");",
        "write!(sql, \"UPDATE task SET x = {x}\")",
        "sqlx::query(&sql)",
        "sqlx::query_as(format!(\"{head}{tail}\"))",
    ] {
        assert!(!put_together(&Source::sample("store/db.rs", bad)).is_empty(), "{bad}");
    }
    for fine in [
        "const ONE: Sql = Sql::same(\"SELECT 1\");",
        "sqlx::query(text).bind(id)",
        "format!(\"{moved} rows, SELECT is only a word\")",
        "concat!(\"SELECT a \", $tail)",
    ] {
        assert_eq!(
            put_together(&Source::sample("store/db.rs", fine)),
            Vec::<String>::new(),
            "{fine}"
        );
    }
}
