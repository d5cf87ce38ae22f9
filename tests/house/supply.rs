//! What goes into the program besides our own sources, and what templates may not do.

use std::{fs, path::Path, process::Command};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_bill_of_materials_names_exactly_what_is_locked() {
    let output = Command::new(root().join("scripts/sbom")).arg("--check").output();
    let output = output.expect("the script runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("packages, as locked"), "{said}");
}

/// A value of a line `name = "value"`.
fn values<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("{name} = \"");
    text.lines().filter_map(|line| line.strip_prefix(&*start)?.strip_suffix('"')).collect()
}

#[test]
fn what_was_taken_from_elsewhere_is_as_it_was_published() {
    let folder = root().join("static/vendor");
    let list = fs::read_to_string(folder.join("VENDOR.toml")).expect("a list");
    let (paths, digests) = (values(&list, "path"), values(&list, "sha256"));
    assert!(!paths.is_empty() && paths.len() == digests.len(), "{list}");
    for (path, digest) in paths.iter().zip(digests) {
        let output = Command::new("sha256sum").arg(folder.join(path)).output().expect("it runs");
        let found = String::from_utf8_lossy(&output.stdout);
        assert!(found.starts_with(digest), "{path}: {found}");
    }
    let files = fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(files, paths.len() + 1, "each file is in the list");
}

/// Ways by which a template writes a text as it stands, as markup.
fn unescaped(template: &str) -> Vec<&'static str> {
    let text: String = template.split_whitespace().collect();
    ["|safe", "|escape(", "|e(", "autoescape", "escape=\"none\""]
        .into_iter()
        .filter(|way| text.contains(way))
        .collect()
}

fn templates(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of templates") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            templates(&path, found);
        } else {
            let text = fs::read_to_string(&path).expect("a template");
            found.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn no_template_writes_a_text_as_markup() {
    let mut all = Vec::new();
    templates(&root().join("templates"), &mut all);
    assert!(all.len() > 10, "{}", all.len());
    for (path, text) in all {
        // The style sheet of a report that is one file: a constant of the program.
        let text = text.replacen("<style>\n{{ style|safe }}</style>", "", 1);
        assert_eq!(unescaped(&text), Vec::<&str>::new(), "{path}");
    }
    for bad in [
        "{{ note|safe }}",
        "{{ note | safe }}",
        "{% autoescape false %}",
        "{{ note|escape(\"none\") }}",
    ] {
        assert!(!unescaped(bad).is_empty(), "{bad}");
    }
}

/// The page of what is promised at the edge names tests that are there.
#[test]
fn every_test_that_the_page_of_promises_names_is_there() {
    let page = fs::read_to_string(root().join("SECURITY.md")).expect("the page");
    let mut folders = vec![root().join("tests"), root().join("src")];
    let mut sources = String::new();
    while let Some(path) = folders.pop() {
        if path.ends_with("node_modules") || path.ends_with("snapshots") {
            continue;
        }
        if path.is_dir() {
            folders.extend(
                fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            sources += &fs::read_to_string(&path).expect("a source");
        }
    }
    let rows = page.lines().filter(|line| line.starts_with("| S"));
    let mut named = 0;
    for row in rows {
        let held = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let tests: Vec<_> = held.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty() || row.contains("none yet"), "no test: {row}");
        for test in tests {
            let there = sources.contains(&format!("fn {test}("))
                || sources.contains(&format!("for_each_database!({test}"))
                || sources.contains(&format!("    {test},"));
            assert!(there, "{test} is not there");
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}
