//! Every pair of entrances at once, on a task in every state that it can be in.

use std::collections::HashSet;

use dispatch_desk::domain::{
    command::{Act, Actor, Command, Verb},
    id::{Revision, TaskId},
};
use futures_util::future::join_all;

use super::short::{clear, expire, is_done};
use crate::harness::{node::Node, race::Overlap, record::Sent, *};

/// Everything that can change a task.
const ENTRANCES: [Verb; 14] = [
    Verb::Grab,
    Verb::Offer,
    Verb::Assign,
    Verb::Accept,
    Verb::Decline,
    Verb::Withdraw,
    Verb::Expire,
    Verb::Cancel,
    Verb::Reassign,
    Verb::HandBack,
    Verb::Arrive,
    Verb::PickUp,
    Verb::Deliver,
    Verb::Edit,
];

/// What the two of a pair meet.
#[derive(Clone, Copy, Debug)]
enum Start {
    Open,
    Offered,
    Lapsed,
    Waiting,
    PickedUp,
}

/// One pair with its task and three riders, who are never short of room.
#[derive(Clone, Copy, Debug)]
struct Seat {
    task: TaskId,
    revision: i64,
    holder: i64,
    pair: (Verb, Verb),
}

/// How many pairs run at once. Three riders each, of whom every one has room for two pairs.
const SEATS: usize = 40;

async fn set_up(desk: &Desk, start: Start, index: usize, pair: (Verb, Verb)) -> Seat {
    let task = desk.create().await;
    let holder = i64::try_from(index % (SEATS / 2) * 3 + 1).expect("a small number");
    let brief = Act::Offer {
        rider: dispatch_desk::domain::id::RiderId(holder),
        seconds: Some(5),
        round: None,
    };
    let steps: &[(Actor, Act)] = match start {
        Start::Open => &[],
        Start::Offered => &[(D1, offer(holder))],
        Start::Lapsed => &[(D1, brief)],
        Start::Waiting => &[(rider(holder), GRAB)],
        Start::PickedUp => {
            &[(rider(holder), GRAB), (rider(holder), Act::Arrive), (rider(holder), Act::PickUp)]
        }
    };
    let mut revision = 1;
    for (actor, act) in steps {
        desk.done(actor.clone(), task, revision, act.clone()).await;
        revision += 1;
    }
    Seat { task, revision, holder, pair }
}

/// The command of one side of a pair: by whoever has the best chance with it.
fn entrance(desk: &Desk, verb: Verb, seat: &Seat, side: i64) -> Command {
    let Seat { task, revision, holder, .. } = *seat;
    let other = holder + 1 + side;
    let dispatcher = if side == 0 { D1 } else { D2 };
    let (actor, act) = match verb {
        Verb::Grab => (rider(other), GRAB),
        Verb::Offer => (dispatcher, offer(other)),
        Verb::Assign => (SUPERVISOR, assign(other)),
        Verb::Accept => (rider(holder), Act::Accept),
        Verb::Decline => (rider(holder), DECLINE),
        Verb::Withdraw => (dispatcher, WITHDRAW),
        Verb::Expire => return expire(task, revision),
        Verb::Cancel => (dispatcher, CANCEL),
        Verb::Reassign => (dispatcher, reassign(other)),
        Verb::HandBack => (rider(holder), HAND_BACK),
        Verb::Arrive => (rider(holder), Act::Arrive),
        Verb::PickUp => (rider(holder), Act::PickUp),
        Verb::Deliver => (rider(holder), Act::Deliver),
        Verb::Edit => return desk.note(dispatcher, task, 1, "ring twice"),
        Verb::Create => panic!("a creation meets no task"),
    };
    desk.change(actor, task, revision, act)
}

/// No two successes with one revision, and a log that is a line up to the row.
async fn judge(desk: &Desk, start: Start, seats: &[Seat], sent: &[Sent]) {
    let mut tx = desk.read().await;
    for (seat, two) in seats.iter().zip(sent.chunks(2)) {
        let events = tx.events_of(seat.task).await.expect("the log can be read");
        let mut made = HashSet::new();
        for event in two.iter().filter_map(|sent| sent.came.answer().event) {
            // An edit has a line of revisions of its own.
            let edits = event.action == Verb::Edit;
            assert!(made.insert((edits, event.to_revision)), "{start:?} {seat:?}: {two:#?}");
            let logged = events.iter().find(|logged| logged.number == event.number);
            let logged = logged.expect("what was done is in the log");
            assert_eq!(logged.action, event.action.as_str());
            assert_eq!(logged.to_revision, (!edits).then_some(event.to_revision.0));
        }
        let row = tx.task(seat.task).await.expect("tasks can be read").expect("it exists");
        let line: Vec<_> = events.iter().filter_map(|event| event.to_revision).collect();
        let whole: Vec<_> = (1..=row.revision.0).collect();
        assert_eq!(line, whole, "{start:?} {seat:?}: {events:#?}");
        let edits = events.iter().filter(|event| event.kind == "detail").count();
        let details = tx.detail_revision(seat.task).await.expect("details can be read");
        assert_eq!(details, Some(Revision(1 + i64::try_from(edits).expect("few"))));
    }
}

/// Runs every pair `times` from one start, and says how often two, one or none of them were done.
async fn every_pair(
    desk: &Desk,
    nodes: &[Node],
    start: Start,
    times: usize,
    overlap: &mut Overlap,
) -> [usize; 3] {
    let both =
        |first: usize| ENTRANCES[first..].iter().map(move |second| (ENTRANCES[first], *second));
    let pairs = (0..ENTRANCES.len()).flat_map(both);
    // Each takes its turn at going through the first node.
    let turns = |time: usize| {
        move |(a, b): (Verb, Verb)| if time.is_multiple_of(2) { (a, b) } else { (b, a) }
    };
    let pairs: Vec<_> = (0..times).flat_map(|time| pairs.clone().map(turns(time))).collect();
    let mut tally = [0; 3];
    for group in pairs.chunks(SEATS) {
        let seats = group.iter().enumerate().map(|(index, pair)| set_up(desk, start, index, *pair));
        let seats = join_all(seats).await;
        if let Start::Lapsed = start {
            desk.advance_ms(5_000).await;
        }
        let commands = seats.iter().flat_map(|seat| {
            [entrance(desk, seat.pair.0, seat, 0), entrance(desk, seat.pair.1, seat, 1)]
        });
        let sent = desk.race(nodes, commands.collect()).await;
        judge(desk, start, &seats, &sent).await;
        for two in sent.chunks(2) {
            overlap.count(two);
            tally[two.iter().filter(|sent| is_done(sent)).count()] += 1;
        }
        clear(desk, &seats.iter().map(|seat| seat.task).collect::<Vec<_>>()).await;
        // A rider hands back three times a day and no more.
        desk.advance_ms(24 * 60 * 60 * 1_000).await;
    }
    tally
}

for_each_database!(no_two_entrances_make_the_same_revision, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    for start in [Start::Open, Start::Offered, Start::Lapsed, Start::Waiting, Start::PickedUp] {
        let [none, one, two] = every_pair(&desk, &nodes, start, rounds(2, 30), &mut overlap).await;
        println!("{start:?}: of each pair {two} × both, {one} × one, {none} × neither were done");
        assert!(one > 0, "{start:?}: no pair had a winner and a loser");
    }
    overlap.report("every pair of entrances");
    desk.check().await;
});
