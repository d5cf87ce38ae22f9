//! Rows at a real desk: created once, whatever is imported again.

use dispatch_desk::{
    domain::{
        command::{Actor, What},
        id::TaskId,
        refusal::Lang,
    },
    import::{Import, Line, Outcome, Report, Riders, SourceName, run},
    intake::{Flag, rows},
};

use crate::{
    harness::{Database, Desk, NORTH},
    scene::{given, named, plain, shape},
};

async fn import(
    desk: &Desk,
    mapping: &dispatch_desk::intake::Mapping,
    file: &[u8],
) -> (Report, Vec<Line>) {
    let import = Import {
        executor: &desk.executor,
        source: SourceName::parse("file").unwrap(),
        region: NORTH,
        riders: Riders::by_number(),
        lang: Lang::En,
    };
    let given = given();
    let rows = rows(file, mapping, &given).unwrap();
    let mut lines = Vec::new();
    let report = run(rows, &import, |line, summary| {
        assert_eq!(summary.rows, lines.len() as u64 + 1, "progress is told row by row");
        lines.push(line.clone());
    })
    .await
    .unwrap();
    (report, lines)
}

async fn tasks(desk: &Desk) -> usize {
    desk.read().await.tasks_after(TaskId(0), 10_000).await.unwrap().len()
}

/// Orders of which the 7th is broken and the 9th is blank.
fn orders(count: usize) -> String {
    let row = |row| match row {
        7 => "7,,121.5,there\n".to_owned(),
        9 => ",,,\n".to_owned(),
        row => format!("{row},31.2{row:03},121.5,there {row}\n"),
    };
    std::iter::once("id,lat,lng,to\n".to_owned()).chain((1..=count).map(row)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn importing_again_creates_nothing_twice() {
    let desk = Desk::open(Database::Sqlite).await;
    let (first, lines) = import(&desk, &plain(""), orders(600).as_bytes()).await;
    let summary = first.summary;
    assert_eq!((summary.rows, summary.created, summary.unread, summary.blank), (600, 598, 1, 1));
    assert_eq!(summary.to_string(), "600 rows: 598 created, 1 could not be read, 1 blank.");
    assert_eq!(summary.sentence(Lang::Zh), "共 600 行：新建 598，无法读取 1，空行 1。");
    let order: Vec<_> = lines.iter().map(|line| line.spot.line).collect();
    assert_eq!(order, (2..=601).collect::<Vec<_>>(), "in the order of the file");
    assert_eq!(tasks(&desk).await, 598);

    let (again, repeated) = import(&desk, &plain(""), orders(600).as_bytes()).await;
    assert_eq!((again.summary.created, again.summary.existing), (0, 598));
    assert_eq!(tasks(&desk).await, 598);
    for (one, other) in lines.iter().zip(&repeated) {
        if let (Outcome::Created(one), Outcome::Existing(other)) = (&one.outcome, &other.outcome) {
            assert_eq!(one, other);
        }
    }
    // A longer file: only what is new is created.
    let (longer, _) = import(&desk, &plain(""), orders(610).as_bytes()).await;
    assert_eq!((longer.summary.created, longer.summary.existing), (10, 598));
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_changed_under_its_key_is_told_and_changes_nothing() {
    let desk = Desk::open(Database::Sqlite).await;
    import(&desk, &plain(""), orders(3).as_bytes()).await;
    let changed = orders(3).replace("there 2", "elsewhere");
    let (report, lines) = import(&desk, &plain(""), changed.as_bytes()).await;
    assert_eq!((report.summary.existing, report.summary.keys_reused), (2, 1));
    assert_eq!(lines[1].outcome, Outcome::KeyReused);
    assert_eq!(lines[1].outcome.code().as_deref(), Some("REQUEST_KEY_REUSED"));
    assert_eq!(report.summary.refusals(), 1);
    // The same twice within one file is there already; other content under one key is not.
    let twins = "id,lat,lng,to\n8,31.2,121.5,x\n8,31.2,121.5,x\n8,31.2,121.5,y\n";
    let (report, _) = import(&desk, &plain(""), twins.as_bytes()).await;
    let summary = report.summary;
    assert_eq!((summary.created, summary.existing, summary.keys_reused), (1, 1, 1));
    assert_eq!(tasks(&desk).await, 4);
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_desk_refuses_is_told_with_its_own_words() {
    let desk = Desk::open(Database::Sqlite).await;
    // Fetched in Bangalore, and the region is Shanghai.
    let (report, lines) = import(&desk, &named("ondc"), &shape("13_ondc_on_confirm.json")).await;
    assert_eq!((report.summary.refused, report.summary.created), (1, 0));
    assert_eq!(report.summary.codes.get("OUTSIDE_REGION"), Some(&1));
    assert_eq!(lines[0].outcome.sentence(Lang::En), "The pickup lies outside the region.");
    assert_eq!(tasks(&desk).await, 0);
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_among_orders_never_makes_a_task() {
    let desk = Desk::open(Database::Sqlite).await;
    let file = "07_deliverect_cancel_is_a_new_order.json";
    let (report, _) = import(&desk, &named("deliverect"), &shape(file)).await;
    assert_eq!((report.summary.rows, report.summary.unread), (2, 2));
    assert_eq!(tasks(&desk).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orders_belong_to_their_source_and_keep_what_they_said() {
    let desk = Desk::open(Database::Sqlite).await;
    let file = shape("02_woocommerce_order.json");
    let (report, lines) = import(&desk, &named("woocommerce"), &file).await;
    let Outcome::Created(id) = lines[0].outcome else { panic!("{lines:?}") };
    assert_eq!(lines[0].flags, [Flag::DueBeforePlaced], "flagged and created");
    assert_eq!(report.summary.flags.get(&Flag::DueBeforePlaced), Some(&1));
    assert_eq!(desk.task(id).await.source, "file");
    let note = desk.read().await.note(id).await.unwrap();
    assert_eq!(note.as_deref(), Some("Ring twice\r\nDog is friendly 🐶 — gate code *#0000"));
    // The source may cancel what is its own.
    let cancel = desk.command(
        Actor::Intake("file".to_owned()),
        What::Change {
            task: id,
            revision: dispatch_desk::domain::id::Revision(1),
            act: crate::harness::CANCEL,
        },
    );
    let answer = desk.executor.execute(cancel).await.unwrap().answer().unwrap();
    assert!(answer.is_success());
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_breaks_off_keeps_what_it_had_and_says_so() {
    let desk = Desk::open(Database::Sqlite).await;
    let order = |id| format!("{{\"id\":{id},\"lat\":31.2,\"lng\":121.5,\"to\":\"x\"}}");
    let file = format!("[{}, {{\"id\"", [1, 2, 3].map(order).join(","));
    let (report, _) = import(&desk, &crate::scene::plain_json(""), file.as_bytes()).await;
    assert_eq!(report.summary.created, 3);
    assert_eq!(report.broken.map(|error| error.code()), Some("FILE_NOT_JSON"));
}

#[test]
fn a_source_has_a_short_plain_name() {
    for good in ["shop", "a", "shop-2_x", &"a".repeat(40)] {
        assert!(SourceName::parse(good).is_some(), "{good}");
    }
    for bad in ["", "Shop", "2shop", "a:b", "店", "a b", "-a", &"a".repeat(41)] {
        assert!(SourceName::parse(bad).is_none(), "{bad}");
    }
}

/// The console imports in a task of its own, from bytes that came with a form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_can_run_on_any_thread() {
    let desk = Desk::open(Database::Sqlite).await;
    let executor = desk.executor.clone();
    let created = tokio::spawn(async move {
        let source = SourceName::parse("upload").unwrap();
        let riders = Riders::by_number();
        let import = Import { executor: &executor, source, region: NORTH, riders, lang: Lang::Zh };
        let (mapping, given, bytes) = (plain(""), given(), orders(20).into_bytes());
        let rows = rows(&bytes[..], &mapping, &given).unwrap();
        run(rows, &import, |_, _| {}).await.unwrap().summary.created
    });
    assert_eq!(created.await.unwrap(), 18);
}
