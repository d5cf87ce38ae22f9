//! One key is one request: one effect and one answer, through whichever node it comes.

use dispatch_desk::domain::{
    command::{Act, Command, What},
    id::TaskId,
    refusal::{Code, Lang},
};

use super::short::{actions, clear, count_done, is_done};
use crate::harness::{
    node::{Node, back},
    race::Overlap,
    record::{Came, Sent},
    *,
};

/// Sends one command ten times at once and ten times in a row, by turns through the nodes.
async fn twenty_times(
    desk: &Desk,
    nodes: &[Node],
    command: &Command,
    overlap: &mut Overlap,
) -> Vec<Sent> {
    let mut sent = desk.race(nodes, vec![command.clone(); 10]).await;
    overlap.count(&sent);
    for turn in 0..10 {
        sent.push(desk.send_to(&nodes[turn % nodes.len()], command.clone()).await);
    }
    sent
}

/// All answers are the same, byte for byte, and all but one say that they are repeated.
#[track_caller]
fn one_answer(sent: &[Sent]) {
    let first = back(&sent[0].came);
    for sent in sent {
        let this = back(&sent.came);
        assert_eq!((&this.body, this.status), (&first.body, first.status));
        assert_eq!((&this.location, &this.etag), (&first.location, &first.etag));
    }
    let fresh = sent.iter().filter(|sent| !back(&sent.came).replayed).count();
    assert_eq!(fresh, 1, "one of them was decided, the others are its echo");
}

for_each_database!(one_key_sent_twenty_times_has_one_effect_and_one_answer, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    for _ in 0..rounds(6, 60) {
        let tasks = desk.create_many(3).await;
        let [offered, grabbed, refused] = tasks[..] else { panic!("three were created") };

        let invite = desk.change(D1, offered, 1, offer(1));
        let sent = twenty_times(&desk, &nodes, &invite, &mut overlap).await;
        one_answer(&sent);
        assert_eq!(actions(&desk, offered).await, ["create", "offer"]);

        let grab = desk.change(rider(2), grabbed, 1, GRAB);
        let sent = twenty_times(&desk, &nodes, &grab, &mut overlap).await;
        one_answer(&sent);
        assert_eq!(actions(&desk, grabbed).await, ["create", "grab"]);

        // A refusal is kept like a success, and stays when its cause has gone.
        let early = desk.change(rider(3), refused, 2, GRAB);
        let mut sent = twenty_times(&desk, &nodes, &early, &mut overlap).await;
        desk.done(D1, refused, 1, offer(4)).await;
        desk.done(D1, refused, 2, WITHDRAW).await;
        sent.push(desk.send(early).await);
        one_answer(&sent);
        assert_eq!(sent[0].came.code(), Code::StaleRevision.as_str());
        assert_eq!(actions(&desk, refused).await, ["create", "offer", "withdraw"]);
        clear(&desk, &tasks).await;
    }
    overlap.report("one key, twenty times");
    desk.check().await;
});

for_each_database!(a_create_sent_twenty_times_makes_one_task, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    for round in 0..rounds(6, 60) {
        let creator = if round % 2 == 0 { shop() } else { D1 };
        let create = desk.command(creator, What::Create(Box::new(order())));
        let sent = twenty_times(&desk, &nodes, &create, &mut overlap).await;
        one_answer(&sent);
        assert_eq!(back(&sent[0].came).status, 201);
        let made =
            desk.read().await.tasks_after(TaskId(0), 1_000).await.expect("tasks can be read");
        assert_eq!(made.len(), round + 1, "one task for each key");
    }
    overlap.report("one create, twenty times");
    desk.check().await;
});

for_each_database!(a_used_key_is_refused_to_any_other_request, |desk| async move {
    let nodes = desk.nodes().await;
    let tasks = desk.create_many(2).await;
    let [one, two] = tasks[..] else { panic!("two were created") };
    let key = Some(Desk::key("from-the-riders-phone"));
    let grab = Command { key: key.clone(), ..desk.change(rider(1), one, 1, GRAB) };
    let first = desk.send_to(&nodes[0], grab.clone()).await;
    assert!(is_done(&first), "{first:#?}");

    let others = [
        desk.change(rider(1), two, 1, GRAB),
        desk.change(rider(1), one, 1, Act::Arrive),
        desk.change(rider(1), one, 1, Act::Accept),
        desk.change(rider(1), one, 2, GRAB),
    ];
    for node in &nodes {
        for other in &others {
            let reused = Command { key: key.clone(), ..other.clone() };
            let sent = desk.send_to(node, reused).await;
            assert_eq!(sent.came, Came::Error("REQUEST_KEY_REUSED".to_owned()));
        }
        // The same request again, and in the other language: the first answer as it was.
        for lang in [Lang::En, Lang::Zh] {
            let again = desk.send_to(node, Command { lang, ..grab.clone() }).await;
            let (again, first) = (back(&again.came), back(&first.came));
            assert!(again.replayed);
            assert_eq!((&again.body, again.status), (&first.body, first.status));
        }
    }
    // Another rider's key of the same text is another key.
    let own = Command { key, ..desk.change(rider(2), one, 1, GRAB) };
    let own = desk.send_to(&nodes[nodes.len() - 1], own).await;
    assert!(!back(&own.came).replayed);
    assert_eq!(own.came.code(), Code::TakenByOther.as_str());

    assert_eq!(actions(&desk, one).await, ["create", "grab"]);
    assert_eq!(actions(&desk, two).await, ["create"]);
    desk.check().await;
});

for_each_database!(of_two_requests_that_race_for_one_key_one_is_decided, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    for _ in 0..rounds(20, 200) {
        let tasks = desk.create_many(4).await;
        // Different tasks, so that nothing but the key is between them.
        let key = Some(desk.recorder.fresh_key());
        let grabs = tasks
            .iter()
            .map(|task| Command { key: key.clone(), ..desk.change(rider(1), *task, 1, GRAB) });
        let sent = desk.race(&nodes, grabs.collect()).await;
        overlap.count(&sent);
        assert_eq!(count_done(&sent), 1, "{sent:#?}");
        for other in sent.iter().filter(|sent| !is_done(sent)) {
            assert_eq!(other.came, Came::Error("REQUEST_KEY_REUSED".to_owned()));
        }
        assert_eq!(desk.held(1).await, 1);
        clear(&desk, &tasks).await;
    }
    overlap.report("four requests under one key");
    desk.check().await;
});
