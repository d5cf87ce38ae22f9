//! Whoever reads the log page by page while it grows misses no number.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use dispatch_desk::{domain::command::What, store::Db};

use super::short::is_done;
use crate::harness::{race::Overlap, record::Sent, *};

/// What a reader has seen.
#[derive(Debug, Default)]
struct Read {
    last: i64,
    pages: usize,
    while_writing: usize,
}

/// Reads pages of seven until everything is written and read. Every number is the one after the last.
async fn read_all(db: Db, written: Arc<AtomicBool>) -> Read {
    let mut read = Read::default();
    loop {
        // Asked before the page is read: what is not on it was not written then.
        let all = written.load(Ordering::Acquire);
        let mut tx = db.read().await.expect("the log can be read");
        let page = tx.events_after(read.last, 7).await.expect("the log can be read");
        tx.rollback().await.expect("nothing to undo");
        for event in &page {
            assert_eq!(event.number, read.last + 1, "a number is missing or came late");
            read.last = event.number;
        }
        read.pages += usize::from(!page.is_empty());
        read.while_writing += usize::from(!page.is_empty() && !all);
        if page.is_empty() {
            if all {
                return read;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Creates, grabs and cancels, again and again.
async fn write(desk: &Desk, node: &node::Node, number: i64, times: usize) -> Vec<[Sent; 3]> {
    let mut all = Vec::new();
    for _ in 0..times {
        let create = desk.command(shop(), What::Create(Box::new(order())));
        let create = desk.send_to(node, create).await;
        let task = create.came.answer().task.expect("a created task").id;
        let grab = desk.send_to(node, desk.change(rider(number), task, 1, GRAB)).await;
        let cancel = desk.send_to(node, desk.change(D1, task, 2, CANCEL)).await;
        all.push([create, grab, cancel]);
    }
    all
}

for_each_database!(a_reader_of_pages_misses_no_number_while_four_write, |desk| async move {
    let nodes = desk.nodes().await;
    let written = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> =
        (0..3).map(|_| tokio::spawn(read_all(desk.db.clone(), Arc::clone(&written)))).collect();
    let times = rounds(60, 1_000);
    let writers = (1..=4).map(|number| {
        let node = usize::try_from(number).expect("small") % nodes.len();
        write(&desk, &nodes[node], number, times)
    });
    let sent = futures_util::future::join_all(writers).await;
    written.store(true, Ordering::Release);

    let mut overlap = Overlap::default();
    let sent: Vec<Vec<Sent>> = sent.into_iter().map(|steps| steps.concat()).collect();
    for (number, writer) in sent.iter().enumerate() {
        assert!(writer.iter().all(is_done), "{writer:#?}");
        let others = || sent.iter().enumerate().filter(|(other, _)| *other != number);
        for one in writer {
            // A writer's own commands follow one another; only those of others can be under way with it.
            let with: Vec<_> = others()
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
    let all = i64::try_from(times * 4 * 3).expect("a small number");
    for reader in readers {
        let read = reader.await.expect("a reader returns");
        println!(
            "a reader saw {} pages, {} of them while others wrote",
            read.pages, read.while_writing
        );
        assert_eq!(read.last, all, "everything was read");
        assert!(read.while_writing > 10, "hardly anything was read while others wrote");
    }
    overlap.report("four writers, two readers");
    desk.check().await;
});
