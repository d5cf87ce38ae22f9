//! Whoever pages through the log while it grows misses nothing (C28), over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};

use dispatch_desk::domain::command::{Actor, What};
use futures_util::future::join_all;

use crate::{
    harness::{race::Overlap, record::Sent, *},
    http::Face,
    short::is_done,
};

/// Pages of seven, each beyond the `through` of the one before, until everything is written and read.
async fn read_all(http: &Face, who: Actor, written: &AtomicBool) -> (Vec<i64>, usize) {
    let (mut after, mut seen, mut while_writing) = (0, Vec::new(), 0);
    loop {
        // Asked before the page is read: what is not on it was not written then.
        let all = written.load(Ordering::Acquire);
        let page = http.get(&who, &format!("/api/v1/events?after={after}&limit=7")).await.is(200);
        let items = page.at("/items");
        let items = items.as_array().expect("a list");
        let numbers = items.iter().map(|item| item["number"].as_i64().expect("a number"));
        let numbers: Vec<_> = numbers.collect();
        let through = page.at("/through").as_i64().expect("a number");
        let head = page.at("/head").as_i64().expect("a number");
        assert_eq!(page.at("/after"), after, "no gap: it starts where the page before ended");
        assert!(numbers.len() <= 7 && through >= after && through <= head, "{page:#?}");
        assert!(numbers.is_sorted() && numbers.iter().all(|n| (after + 1..=through).contains(n)));
        while_writing += usize::from(!numbers.is_empty() && !all);
        seen.extend(numbers);
        if all && through == head {
            return (seen, while_writing);
        }
        after = through;
    }
}

/// Creates, grabs and cancels, again and again.
async fn write(http: &Face, number: i64, times: usize) -> Vec<Sent> {
    let mut all = Vec::new();
    for _ in 0..times {
        let create = http.tell(http.command(shop(), What::Create(Box::new(order())))).await;
        let task = create.came.answer().task.expect("a created task").id;
        all.push(create);
        all.push(http.tell(http.change(rider(number), task, 1, GRAB)).await);
        all.push(http.tell(http.change(D1, task, 2, CANCEL)).await);
    }
    all
}

for_each_database!(readers_of_pages_miss_nothing_while_four_write_over_http, |desk| async move {
    let http = Face::of(desk).await;
    let written = AtomicBool::new(false);
    let times = rounds(15, 1_000);
    let writes = async {
        let sent = join_all((1..=4).map(|number| write(&http, number, times))).await;
        written.store(true, Ordering::Release);
        sent
    };
    // Two who may see all of it, a rider who sees what concerns him or her, and the other region's dispatcher.
    let readers = [D1, AUDITOR, rider(1), FOREIGN_DISPATCHER];
    let reads = join_all(readers.into_iter().map(|who| read_all(&http, who, &written)));
    let (sent, read) = tokio::join!(writes, reads);

    let mut overlap = Overlap::default();
    for (number, writer) in sent.iter().enumerate() {
        assert!(writer.iter().all(is_done), "{writer:#?}");
        for one in writer {
            let others = sent.iter().enumerate().filter(|(other, _)| *other != number);
            let with: Vec<_> = others
                .filter_map(|(_, other)| {
                    let next = other.partition_point(|sent| sent.returned_ns < one.invoked_ns);
                    other.get(next).cloned()
                })
                .chain([one.clone()])
                .filter(|sent| sent.overlaps(one))
                .collect();
            overlap.count(&with);
        }
    }
    let all = http.read().await.events_after(0, 100_000).await.expect("the log can be read");
    let everything: Vec<_> = all.iter().map(|event| event.number).collect();
    assert_eq!(everything.len(), times * 4 * 3);
    let mine = all.iter().filter(|event| event.rider_id == Some(1)).map(|event| event.number);
    let [(one, busy), (two, _), (rider, _), (foreign, _)] = &read[..] else { panic!("four read") };
    assert_eq!((one, two), (&everything, &everything));
    assert_eq!(rider, &mine.collect::<Vec<_>>());
    assert_eq!(foreign, &Vec::<i64>::new());
    assert!(*busy > 5, "hardly anything was read while others wrote");
    overlap.report("C28 over HTTP: four writers, four readers");
    http.check().await;
});
