//! Many want one task, and one wants many (C01, C02, C06), over HTTP.

use dispatch_desk::domain::{command::Act, id::RiderId, task::StateName};
use serde_json::json;

use crate::{
    harness::{node::back, race::Overlap, *},
    http::Face,
    short::{clear, count_done, is_done, rider_of},
};

for_each_database!(of_fifty_riders_who_grab_over_http_exactly_one_gets_the_task, |desk| {
    async move {
        let http = Face::of(desk).await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(4, 200) {
            let task = http.create().await;
            let grabs = (1..=50).map(|number| http.change(rider(number), task, 1, GRAB)).collect();
            let sent = http.contest(grabs).await;
            overlap.count(&sent);
            assert_eq!(count_done(&sent), 1, "so many got it");
            let winner = rider_of(sent.iter().find(|sent| is_done(sent)).expect("one of them"));
            for lost in sent.iter().filter(|sent| !is_done(sent)) {
                let returned = back(&lost.came);
                let answer = returned.answer();
                assert_eq!(returned.status, 409);
                let known = ["TAKEN_BY_OTHER", "STALE_REVISION"];
                assert!(known.contains(&answer.code.as_deref().unwrap_or_default()), "{answer:?}");
                assert_eq!(answer.seen_revision().map(|seen| seen.0), Some(2));
                let first = answer.beaten_by.expect("a loser learns what was first");
                assert_eq!(first.by, "another rider");
                assert_eq!(answer.task.and_then(|task| task.rider_id), None);
            }
            let seen = http.get(&D1, &format!("/api/v1/tasks/{}", task.0)).await.is(200);
            assert_eq!(seen.at("/task/rider_id"), winner);
            assert_eq!(
                (seen.at("/task/mode"), seen.at("/task/revision")),
                (json!("grabbed"), json!(2))
            );
            clear(&http, &[task]).await;
        }
        overlap.report("C01 over HTTP: 50 riders grab one task");
        http.check().await;
    }
});

for_each_database!(of_two_offers_over_http_one_is_made_and_only_its_rider_can_accept, |desk| {
    async move {
        let http = Face::of(desk).await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(10, 300) {
            let task = http.create().await;
            let offers =
                vec![http.change(D1, task, 1, offer(1)), http.change(D2, task, 1, offer(2))];
            let offers = http.contest(offers).await;
            overlap.count(&offers);
            assert_eq!(count_done(&offers), 1, "{offers:#?}");
            let invited = if is_done(&offers[0]) { 1 } else { 2 };

            let accepts = [1, 2].map(|number| http.change(rider(number), task, 2, Act::Accept));
            let accepts = http.contest(accepts.into()).await;
            overlap.count(&accepts);
            for accept in &accepts {
                let returned = back(&accept.came);
                if rider_of(accept) == invited {
                    assert_eq!((returned.status, is_done(accept)), (200, true), "{returned:?}");
                } else {
                    // Not 403: the rider may see the task, and learns how it stands.
                    let code = returned.answer().code.unwrap_or_default();
                    assert!(["NOT_INVITED", "STALE_REVISION"].contains(&code.as_str()), "{code}");
                    assert_eq!(returned.status, 409);
                    assert_eq!(returned.answer().task.and_then(|task| task.rider_id), None);
                }
            }
            let row = http.task(task).await;
            assert_eq!(row.state.name(), StateName::Assigned);
            assert_eq!((row.state.rider(), row.revision.0), (Some(RiderId(invited)), 3));
            clear(&http, &[task]).await;
        }
        overlap.report("C02 over HTTP: two offers at once, then two accepts");
        http.check().await;
    }
});

for_each_database!(a_rider_who_grabs_twenty_tasks_over_http_gets_what_there_is_room_for, |desk| {
    async move {
        let http = Face::of(desk).await;
        let mut overlap = Overlap::default();
        for _ in 0..rounds(4, 100) {
            let first = http.create().await;
            http.done(rider(1), first, 1, GRAB).await;
            let open = http.create_many(20).await;
            let grabs = |tasks: &[_]| {
                tasks.iter().map(|task| http.change(rider(1), *task, 1, GRAB)).collect::<Vec<_>>()
            };
            let sent = http.contest(grabs(&open)).await;
            overlap.count(&sent);
            let full = sent.iter().filter(|sent| sent.came.code() == "RIDER_AT_CAPACITY").count();
            assert_eq!((count_done(&sent), full, http.held(1).await), (1, 19, 2));

            // One is given up: exactly one more can be had. An offer of a third place is refused as well.
            http.done(D1, first, 2, CANCEL).await;
            let refused = sent.iter().filter(|sent| !is_done(sent));
            let left: Vec<_> = refused.filter_map(|sent| sent.command.what.task()).collect();
            let mut commands = grabs(&left);
            commands.push(http.change(D1, http.create().await, 1, offer(1)));
            let sent = http.contest(commands).await;
            overlap.count(&sent);
            assert_eq!((count_done(&sent), http.held(1).await), (1, 2));
            let more = sent.last().and_then(|sent| sent.command.what.task());
            let all: Vec<_> = open.into_iter().chain(more).collect();
            clear(&http, &all).await;
        }
        overlap.report("C06 over HTTP: one free place, 20 grabs");
        http.check().await;
    }
});
