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
