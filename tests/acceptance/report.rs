//! What is written of a run: the report in both languages, and the files for machines.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use dispatch_desk::{
    acceptance::{
        judge::{Did, Finding, Outcome, Rule, RunVerdict, StepVerdict, judge},
        record::{Break, Line, NotPlayed},
        report,
    },
    domain::refusal::Lang,
    stand::Kind,
};
use scraper::{Html, Selector};

use crate::scene::{self, Ran};

/// A normal one, a race, and one with a clock; one that ends badly, and one that is not played.
const SOME: [&str; 5] =
    ["normal-flow", "race-12-riders", "boundary-before", "late-accept", "wrong-role"];

const RULES: [Rule; 19] = [
    Rule::WrongAnswer,
    Rule::WrongState,
    Rule::TwoWinners,
    Rule::NoWinner,
    Rule::NoOrder,
    Rule::AnswerChanged,
    Rule::WrongEnd,
    Rule::EndsDisagree,
    Rule::History,
    Rule::WrongLog,
    Rule::WrongActor,
    Rule::AttemptMissing,
    Rule::Numbers,
    Rule::NoAnswer,
    Rule::NotAsWritten,
    Rule::TableSilent,
    Rule::RecordDiffers,
    Rule::NoOverlap,
    Rule::CutShort,
];

const MOMENTS: [(&str, &str, &str); 5] = [
    ("at the deadline", "期限那一刻", "at the deadline"),
    ("1 ms before the deadline", "期限前 1 毫秒", "1 ms before the deadline"),
    ("1 s before the deadline", "期限前 1 秒", "1 s before the deadline"),
    ("5 s after the deadline", "期限后 5 秒", "5 s after the deadline"),
    ("250 ms later", "250 毫秒之后", "250 ms later"),
];

fn select(selector: &str) -> Selector {
    Selector::parse(selector).expect("a selector")
}

fn text_of(document: &Html, selector: &str) -> Vec<String> {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    document.select(&select(selector)).map(|it| words(it.text().collect())).collect()
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Both languages: Chinese first, as it was asked for.
fn pages(folder: &Path) -> [String; 2] {
    ["report.html", "report.en.html"].map(|file| read(folder, file))
}

async fn ran() -> Ran {
    let ran = scene::run(Kind::Sqlite, &SOME, 3).await;
    assert_eq!(ran.verdict.outcome, Outcome::Passed);
    report::write(ran.folder.path(), &ran.verdict, None, Lang::Zh).expect("it is written");
    ran
}

/// A verdict on a run whose product failed: a late accept was told something else, a customer was shown an old state,
/// and one scenario was not played.
fn failed(ran: &Ran) -> RunVerdict {
    let mut lines = ran.lines();
    for line in &mut lines {
        let Line::Exchange(exchange) = line else { continue };
        let is_late = exchange.scenario == "late-accept";
        let Some(reply) = exchange.reply.as_mut().filter(|_| is_late) else { continue };
        reply.body = reply.body.replace("OFFER_EXPIRED", "NOT_INVITED");
    }
    let mut verdict = judge(&lines).expect("it can be judged");
    assert_eq!(verdict.outcome, Outcome::Failed);
    for scenario in verdict.scenarios.iter_mut().filter(|scenario| scenario.id == "wrong-role") {
        scenario.outcome = Outcome::NotPlayed;
        scenario.not_played = Some(NotPlayed::NoRiders);
        scenario.rounds.clear();
    }
    verdict
}

fn changed() -> Break {
    let why = "it was changed, or a line before it is missing or was moved".to_owned();
    Break { line: 42, why }
}

/// What no page may hold, and ids that stand twice or lead nowhere.
fn faults(html: &str) -> Vec<String> {
    let bad = ["Unknown localization key", "{ $", "<script", " style=", "http://", "https://"];
    let mut found: Vec<String> =
        bad.iter().filter(|bad| html.contains(**bad)).map(|bad| (*bad).to_owned()).collect();
    let document = Html::parse_document(html);
    let mut ids = BTreeSet::new();
    for element in document.select(&select("[id]")) {
        let id = element.attr("id").unwrap_or_default();
        if !ids.insert(id.to_owned()) {
            found.push(format!("two of #{id}"));
        }
    }
    let targets = |selector: &str, name: &'static str| -> Vec<String> {
        let selector = select(selector);
        let elements = document.select(&selector);
        elements
            .filter_map(|it| it.attr(name))
            .map(|it| it.trim_start_matches('#').to_owned())
            .collect()
    };
    let links = targets("a[href^='#']", "href");
    for id in [links, targets("[aria-labelledby]", "aria-labelledby")].concat() {
        if !ids.contains(&id) {
            found.push(format!("nothing is #{id}"));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_report_says_what_was_asked_what_came_back_and_who_owned_it() {
    let ran = ran().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/report-pages");
    // What is left from before would be checked as if it were there.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let failed = failed(&ran);
    let changed = changed();
    for (name, verdict, broken) in [
        ("passed", &ran.verdict, None),
        ("failed", &failed, None),
        ("broken", &ran.verdict, Some(&changed)),
    ] {
        let out = tempfile::tempdir().expect("a temporary folder");
        report::write(out.path(), verdict, broken, Lang::Zh).expect("it is written");
        for (html, lang) in pages(out.path()).iter().zip(["zh-CN", "en"]) {
            assert_eq!(faults(html), Vec::<String>::new(), "{name} {lang}");
            sections(html, name, verdict, lang);
            fs::write(folder.join(format!("acceptance-{name}.{lang}.html")), html)
                .expect("written");
        }
    }
    accessible(&folder);
}

fn sections(html: &str, name: &str, verdict: &RunVerdict, lang: &str) {
    let document = Html::parse_document(html);
    let root = document.root_element();
    assert_eq!(root.attr("lang"), Some(lang));
    let [heading] = text_of(&document, "h1").try_into().expect("one h1");
    let word = match (name, lang) {
        ("passed", "en") => "Passed",
        ("passed", _) => "通过",
        ("failed", "en") => "Failed",
        ("failed", _) => "未通过",
        (_, "en") => "Void",
        _ => "无效",
    };
    assert!(heading.contains(word), "{heading}");
    assert_eq!(text_of(&document, ".broken").len(), usize::from(name == "broken"));
    if name == "broken" {
        assert!(text_of(&document, ".broken")[0].contains("42"));
    }
    for id in ["facts", "failed", "grid", "untested", "scenarios", "evidence"] {
        assert_eq!(text_of(&document, &format!("h2#{id}")).len(), 1, "{id}");
    }
    for scenario in &verdict.scenarios {
        let article = format!("article#s-{}", scenario.id);
        let title = if lang == "en" { &scenario.title.en } else { &scenario.title.zh };
        let heads = text_of(&document, &format!("{article} h3"));
        assert!(heads.len() == 1 && heads[0].contains(title.as_str()), "{heads:?}");
        let steps = text_of(&document, &format!("{article} .steps tbody tr"));
        let first = scenario.rounds.first().map_or(0, |round| round.steps.len());
        let in_full = scenario.rounds.iter().enumerate();
        let in_full = in_full.filter(|(at, round)| *at == 0 || !round.findings.is_empty()).count();
        assert_eq!(steps.len(), first * in_full, "{}", scenario.id);
    }
    let links = text_of(&document, ".contents tbody th a");
    assert_eq!(links.len(), verdict.scenarios.len());
    // Eleven riders who see nothing stand in one row.
    let ends = text_of(&document, "#s-race-12-riders .round:first-of-type .ends tbody tr");
    assert_eq!(ends.len(), 4, "{ends:?}");
    let all = text_of(&document, "main").concat();
    for words in if lang == "en" {
        ["R1 accepts T1", "naming revision 2", "1 ms before the deadline", "11 × refused"]
    } else {
        ["R1接受 T1 的邀请", "依据版本 2", "期限前 1 毫秒", "11 × 拒绝"]
    } {
        assert!(all.contains(words), "{name} {lang}: {words}");
    }
    let wrong = text_of(&document, "#failed ~ .scroll .findings tbody tr");
    assert_eq!(!wrong.is_empty(), name == "failed");
    if name == "failed" {
        let left =
            if lang == "en" { "not enough riders" } else { "没有足够的符合条件的骑手" };
        assert!(text_of(&document, "#untested ~ ul").concat().contains(left));
    }
}

/// axe-core in a browser on every report, light and dark, on a desk and on a telephone. `npm ci` in `tests/web` installs
/// it.
fn accessible(folder: &Path) {
    let axe =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web/node_modules/axe-core/axe.min.js");
    let required = std::env::var("CI_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
    let browser = Command::new("chromium").arg("--version").output();
    let (Ok(axe), Ok(_)) = (fs::read_to_string(axe), browser) else {
        assert!(!required, "chromium or axe-core is missing");
        eprintln!(
            "axe-core SKIPPED: install chromium, and run npm ci --ignore-scripts in tests/web"
        );
        return;
    };
    let axe = axe.replace("</script", "<\\/script");
    let tell = "<script>
        const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
        axe.run(document).then(r => {
          const found = r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html));
          if (wide > 0) found.push('scrolls sideways by ' + wide);
          document.title = 'judged ' + found.length;
          document.body.innerHTML = '<pre></pre>';
          document.querySelector('pre').textContent = found.join('\\n');
        })</script></body>";
    let work = tempfile::tempdir().expect("a temporary folder");
    for file in fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let html = fs::read_to_string(&path).expect("a page");
        let page = html.replace("</body>", &format!("<script>{axe}</script>{tell}"));
        let judged = work.path().join("page.html");
        fs::write(&judged, page).expect("it is written");
        // 0 is dark, 1 is light; narrower than 500 px this browser has no window.
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ways = [(1, 1440), (0, 1440), (1, 500)];
        // Colours and widths do not depend on the words, and English is the longer.
        let is_example = name.ends_with(".en.html") && !name.contains("passed");
        for (colours, width) in &ways[..if is_example { 3 } else { 1 }] {
            let out = Command::new("chromium")
                .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
                .arg(format!("--user-data-dir={}", work.path().join("profile").display()))
                .arg(format!("--blink-settings=preferredColorScheme={colours}"))
                .arg(format!("--window-size={width},900"))
                .args(["--virtual-time-budget=60000", "--dump-dom"])
                .arg(format!("file://{}", judged.display()))
                .output()
                .expect("chromium runs");
            let out = String::from_utf8_lossy(&out.stdout);
            let found = Html::parse_document(&out);
            let title = text_of(&found, "title").concat();
            let what = text_of(&found, "pre").join("\n");
            assert_eq!(title, "judged 0", "{name}, {width} px, colours {colours}: {what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_term_has_words_in_both_languages() {
    let ran = scene::run(Kind::Sqlite, &["normal-flow", "decline", "withdraw"], 1).await;
    let mut verdict = ran.verdict.clone();
    let why = [NotPlayed::NoSuchCommand, NotPlayed::NeedsClock, NotPlayed::NoRiders];
    for (scenario, why) in verdict.scenarios.iter_mut().zip(why) {
        scenario.not_played = Some(why);
    }
    let normal = verdict.scenarios.iter_mut().find(|scenario| scenario.id == "normal-flow");
    let round = &mut normal.expect("it was played").rounds[0];
    round.findings = RULES
        .into_iter()
        .map(|rule| Finding {
            rule,
            step: Some(1),
            about: "R1 accept".to_owned(),
            expected: "assigned to R1, picked up, revision 4".to_owned(),
            found: "refused SOMETHING_NEW".to_owned(),
        })
        .collect();
    let first = round.steps[0].clone();
    round.steps = MOMENTS
        .iter()
        .map(|(moment, _, _)| StepVerdict {
            did: Did::Clock { moment: (*moment).to_owned(), racing: false },
            expected: Vec::new(),
            returned: Vec::new(),
            ..first.clone()
        })
        .collect();
    let out = tempfile::tempdir().expect("a temporary folder");
    report::write(out.path(), &verdict, None, Lang::Zh).expect("it is written");
    for (html, is_zh) in pages(out.path()).iter().zip([true, false]) {
        assert_eq!(faults(html), Vec::<String>::new());
        let document = Html::parse_document(html);
        let of_round = "#s-normal-flow .findings tbody";
        let rules = text_of(&document, &format!("{of_round} th"));
        assert_eq!(rules.len(), RULES.len());
        assert_eq!(rules.iter().collect::<BTreeSet<_>>().len(), RULES.len(), "{rules:?}");
        let is_chinese =
            |text: &String| text.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
        assert!(rules.iter().all(|rule| is_chinese(rule) == is_zh), "{rules:?}");
        let row = text_of(&document, &format!("{of_round} tr:first-child td")).join(" / ");
        let expected = if is_zh {
            "1 / R1：接受邀请 / 归R1，已取货，版本 4 / 拒绝 SOMETHING_NEW"
        } else {
            "1 / R1: Accept / assigned to R1, picked up, revision 4 / refused SOMETHING_NEW"
        };
        assert_eq!(row, expected);
        let steps = text_of(&document, "#s-normal-flow .steps tbody tr td:nth-child(2)");
        for (step, (_, zh, en)) in steps.iter().zip(MOMENTS) {
            assert!(step.contains(if is_zh { zh } else { en }), "{step}");
        }
        let reasons = text_of(&document, ".contents tbody td .mut");
        assert_eq!(reasons.iter().collect::<BTreeSet<_>>().len(), 3, "{reasons:?}");
        assert!(reasons.iter().all(|reason| is_chinese(reason) == is_zh), "{reasons:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn machines_can_read_their_files() {
    let ran = ran().await;
    let failed = failed(&ran);
    let rows = |verdict: &RunVerdict| -> usize {
        let rounds = verdict.scenarios.iter().flat_map(|scenario| &scenario.rounds);
        rounds.map(|round| round.steps.len()).sum()
    };
    let changed = changed();
    for (verdict, broken, failures) in
        [(&ran.verdict, None, 0), (&failed, None, 1), (&failed, Some(&changed), 2)]
    {
        let out = tempfile::tempdir().expect("a temporary folder");
        report::write(out.path(), verdict, broken, Lang::En).expect("it is written");
        let junit = read(out.path(), "junit.xml");
        well_formed(&junit);
        let skipped = verdict.count(Outcome::NotPlayed);
        let tests = verdict.scenarios.len() + 2;
        let counts =
            format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"");
        assert_eq!(junit.matches(&counts).count(), 2, "{junit}");
        assert_eq!(junit.matches("<testcase ").count(), tests);
        assert_eq!(junit.matches("<failure ").count(), failures);
        assert_eq!(junit.matches("<skipped ").count(), skipped);

        let csv = read(out.path(), "outcomes.csv");
        let mut lines = csv::Reader::from_reader(csv.as_bytes());
        assert_eq!(lines.headers().expect("a head").len(), 20);
        let lines: Vec<_> = lines.records().map(|line| line.expect("a line")).collect();
        assert_eq!(lines.len(), rows(verdict));
        let starts = ['=', '+', '-', '@', '\t', '\r'];
        assert!(lines.iter().flatten().all(|field| !field.starts_with(starts)));
        assert!(csv.ends_with("\r\n"));

        let json: serde_json::Value =
            serde_json::from_str(&read(out.path(), "report.json")).expect("JSON");
        assert_eq!(json["scenarios"].as_array().map(Vec::len), Some(verdict.scenarios.len()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_in_another_language_leaves_no_old_one_behind() {
    let ran = scene::run(Kind::Sqlite, &["normal-flow"], 1).await;
    let folder = ran.folder.path();
    for (lang, there, gone) in [
        (Lang::Zh, "report.en.html", "report.zh-CN.html"),
        (Lang::En, "report.zh-CN.html", "report.en.html"),
    ] {
        report::write(folder, &ran.verdict, None, lang).expect("it is written");
        assert!(read(folder, "report.html").contains(&format!("href=\"{there}\"")));
        assert!(read(folder, there).contains("href=\"report.html\""));
        assert!(!folder.join(gone).exists());
    }
}

/// That tags are closed in order, and nothing stands in the text that may not.
fn well_formed(xml: &str) {
    let mut rest = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a head");
    let mut open: Vec<&str> = Vec::new();
    while let Some((text, after)) = rest.split_once('<') {
        entities(text);
        let (tag, after) = after.split_once('>').expect("a tag is closed");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        entities(tag);
        if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap_or_default());
        }
    }
    assert_eq!((open, rest.trim()), (Vec::new(), ""));
}

fn entities(text: &str) {
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"];
        assert!(known.iter().any(|entity| text[at..].starts_with(entity)), "{text}");
    }
}
