//! Many want one task, and many want a task each.

use std::collections::BTreeMap;

use dispatch_desk::domain::{
    command::{Act, Verb},
    id::{Revision, RiderId},
    refusal::Code,
    task::{Mode, StateName},
};

use super::short::{clear, count_done, is_done, rider_of};
use crate::harness::{race::Overlap, record::Came, *};

for_each_database!(of_fifty_riders_who_grab_a_task_exactly_one_gets_it, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    for _ in 0..rounds(10, 200) {
        let task = desk.create().await;
        let grabs = (1..=50).map(|number| desk.change(rider(number), task, 1, GRAB)).collect();
        let sent = desk.race(&nodes, grabs).await;
        overlap.count(&sent);

        let won: Vec<_> = sent.iter().filter(|sent| is_done(sent)).collect();
        assert_eq!(won.len(), 1, "so many got it: {won:#?}");
        let winner = rider_of(won[0]);
        let row = desk.task(task).await;
        assert_eq!(row.state.rider(), Some(RiderId(winner)));
        assert_eq!((row.state.mode(), row.revision), (Some(Mode::Grabbed), Revision(2)));

        let mut told = BTreeMap::from([(winner.to_string(), "done".to_owned())]);
        for lost in sent.iter().filter(|sent| !is_done(sent)) {
            let answer = lost.came.answer();
            let code = answer.code.clone().expect("a refusal has a code");
            let known = [Code::TakenByOther.as_str(), Code::StaleRevision.as_str()];
            assert!(known.contains(&code.as_str()), "{answer:?}");
            assert_eq!(answer.seen_revision(), Some(Revision(2)), "{answer:?}");
            let first = answer.beaten_by.expect("a loser learns what was first");
            assert_eq!((first.action, first.by.as_str()), (Verb::Grab, "another rider"));
            assert_eq!(answer.task.and_then(|task| task.rider_id), None, "nor who it was");
            told.insert(rider_of(lost).to_string(), code);
        }
        // What each one was told is what was kept of the attempt.
        let attempts = desk.read().await.attempts_of(task).await.expect("attempts can be read");
        let kept: BTreeMap<_, _> = attempts
            .into_iter()
            .filter(|attempt| attempt.verb == "grab")
            .map(|attempt| (attempt.actor_id.expect("a rider has a number"), attempt.code))
            .collect();
        assert_eq!(kept, told);
        clear(&desk, &[task]).await;
    }
    overlap.report("50 riders grab one task");
    desk.check().await;
});

for_each_database!(of_two_offers_at_once_one_is_made_and_only_its_rider_can_accept, |desk| {
    async move {
        let nodes = desk.nodes().await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(20, 300) {
            let task = desk.create().await;
            let offers =
                vec![desk.change(D1, task, 1, offer(1)), desk.change(D2, task, 1, offer(2))];
            let offers = desk.race(&nodes, offers).await;
            overlap.count(&offers);
            assert_eq!(count_done(&offers), 1, "{offers:#?}");
            let invited = if is_done(&offers[0]) { 1 } else { 2 };
            assert_eq!(desk.task(task).await.state.rider(), Some(RiderId(invited)));

            let accepts = [1, 2].map(|number| desk.change(rider(number), task, 2, Act::Accept));
            let accepts = desk.race(&nodes, accepts.into()).await;
            overlap.count(&accepts);
            for accept in &accepts {
                let answer = accept.came.answer();
                if rider_of(accept) == invited {
                    assert!(answer.event.is_some(), "the invited rider was refused: {answer:?}");
                } else {
                    // As it stood when they asked: still reserved for the other, or already theirs.
                    let known = [Code::NotInvited.as_str(), Code::StaleRevision.as_str()];
                    let code = answer.code.as_deref().expect("a refusal has a code");
                    assert!(known.contains(&code), "{answer:?}");
                }
            }
            let row = desk.task(task).await;
            assert_eq!(row.state.name(), StateName::Assigned);
            assert_eq!((row.state.rider(), row.revision), (Some(RiderId(invited)), Revision(3)));
            clear(&desk, &[task]).await;
        }
        overlap.report("two offers at once, then two accepts");
        desk.check().await;
    }
});

for_each_database!(fifty_commands_on_fifty_tasks_do_not_disturb_each_other, |desk| async move {
    let nodes = desk.nodes().await;
    let mut overlap = Overlap::default();
    for _ in 0..rounds(10, 100) {
        let tasks = desk.create_many(50).await;
        let pairs = || (1..).zip(tasks.iter().copied());
        // Each of them takes numbers from the same counters; nobody may notice that.
        for (revision, grabs) in [(1, true), (2, false)] {
            let commands = pairs().map(|(number, task)| {
                let (actor, act) = if grabs { (rider(number), GRAB) } else { (D1, CANCEL) };
                desk.change(actor, task, revision, act)
            });
            let sent = desk.race(&nodes, commands.collect()).await;
            overlap.count(&sent);
            let others: Vec<_> = sent.iter().filter(|sent| !is_done(sent)).collect();
            assert!(others.is_empty(), "not all were done: {others:#?}");
            assert!(sent.iter().all(|sent| matches!(&sent.came, Came::Back(_))));
        }
    }
    overlap.report("50 commands on 50 tasks");
    desk.check().await;
});
