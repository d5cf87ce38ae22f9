//! Every page as it was last approved; and each as a file for those who check HTML and look at pictures.

use std::{collections::BTreeSet, fs, path::Path};

use dispatch_desk::domain::refusal::Lang;

use crate::{browser::Page, gallery};

/// What is different each time: keys, links, ids of requests, and the version of the style sheet.
fn stable(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut hex = String::new();
    let flush = |out: &mut String, hex: &mut String| {
        match hex.len() {
            // Keys and links; digests.
            32 | 64 => out.push_str("{random}"),
            12 if out.ends_with("/static/") => out.push_str("{version}"),
            _ => out.push_str(hex),
        }
        hex.clear();
    };
    for c in html.chars() {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            hex.push(c);
        } else {
            flush(&mut out, &mut hex);
            out.push(c);
        }
    }
    flush(&mut out, &mut hex);
    // A difference is easier to see in short lines.
    out.replace("><", ">\n<")
}

/// What no page may hold.
/// The one script that a page may have: a module of ours, by its address.
const OURS: &str = "<script type=\"module\" src=\"/static/";

fn faults(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let html = html.replace(OURS, "");
    for bad in [" style=", "<script", "<style", "javascript:", "Unknown localization key", "{ $"] {
        if html.contains(bad) {
            found.push(bad.to_owned());
        }
    }
    for (at, _) in html.match_indices(" on") {
        let name: String = html[at + 3..].chars().take_while(char::is_ascii_lowercase).collect();
        if !name.is_empty() && html[at + 3 + name.len()..].starts_with("=\"") {
            found.push(format!(" on{name}="));
        }
    }
    found
}

fn main_part(html: &str) -> &str {
    let start = html.find("<title>").unwrap();
    let end = html.find("</title>").unwrap();
    assert!(start < end);
    let main = html.find("<main").unwrap();
    let close = html.find("</main>").unwrap();
    &html[main..close]
}

/// Ids that stand twice, labels and links that lead nowhere.
fn dangling(page: &Page) -> Vec<String> {
    let document = page.document();
    let mut ids = BTreeSet::new();
    let mut found = Vec::new();
    for element in document.select(&crate::browser::select("[id]")) {
        let id = element.attr("id").unwrap_or_default();
        if !ids.insert(id.to_owned()) {
            found.push(format!("two of #{id}"));
        }
    }
    for name in ["for", "aria-labelledby", "aria-describedby"] {
        for element in document.select(&crate::browser::select(&format!("[{name}]"))) {
            for id in element.attr(name).unwrap_or_default().split(' ') {
                if !ids.contains(id) {
                    found.push(format!("{name}=\"{id}\""));
                }
            }
        }
    }
    found
}

/// What this node has counted and timed differs from run to run: its figures are left out.
fn uncounted(html: &str) -> String {
    let Some((before, rest)) = html.split_once("id=\"measures-of-node\"") else {
        return html.to_owned();
    };
    let (node, after) = rest.split_once("</section>").expect("a section has an end");
    let mut figures = node.split("<strong>");
    let mut node = figures.next().unwrap_or_default().to_owned();
    for figure in figures {
        let (_, words) = figure.split_once("</td> <td>").expect("words follow the figures");
        node.push_str("<strong>{measured}</strong></td> <td>");
        node.push_str(words);
    }
    format!("{before}id=\"measures-of-node\"{node}</section>{after}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_as_it_was_approved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pages");
    // What is left from before would be checked as if it were there.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut found = Vec::new();
    for lang in [Lang::Zh, Lang::En] {
        for (name, page) in gallery::all(lang).await {
            let file = format!("{name}.{lang}");
            fs::write(folder.join(format!("{file}.html")), &page.html).unwrap();
            found.extend(faults(&page.html).into_iter().map(|fault| format!("{file}: {fault}")));
            found.extend(dangling(&page).into_iter().map(|fault| format!("{file}: {fault}")));
            // What stands around it is the same on each kind of page.
            let whole = ["sign_in", "board_open", "rider_empty", "track_open"].contains(&&*name);
            let shown = if whole { &page.html } else { main_part(&page.html) };
            let shown = format!("{}\n{}", page.status, stable(&uncounted(shown)));
            settings.bind(|| insta::assert_snapshot!(file, shown));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn what_no_page_may_hold_would_be_found() {
    for bad in
        ["<p style=\"x\">", "<p onclick=\"x\">", "<script>", "Unknown localization key: \"x\""]
    {
        assert!(!faults(bad).is_empty(), "{bad}");
    }
    assert_eq!(faults("<p>only one=1 on its own</p>"), Vec::<String>::new());
    let key = "page-0123456789abcdef0123456789abcdef";
    assert_eq!(stable(&format!("<a>{key}</a>")), "<a>page-{random}</a>");
}
