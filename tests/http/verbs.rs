//! The verbs, told as the story of a task.

use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{Ask, Face},
};

/// A verb on a task.
struct OnTask<'a>(&'a Face, i64);

impl<'a> OnTask<'a> {
    async fn new(http: &'a Face) -> Self {
        Self(http, http.create().await.0)
    }

    fn ask(
        &self,
        who: &dispatch_desk::domain::command::Actor,
        verb: &str,
        body: &Value,
    ) -> Ask<'a> {
        self.0.post(who, &format!("/api/v1/tasks/{}/{verb}", self.1), body)
    }
}

for_each_database!(a_task_is_offered_accepted_carried_and_delivered, |desk| async move {
    let http = Face::of(desk).await;
    let task = OnTask::new(&http).await;
    let offered = task.ask(&D1, "offer", &json!({ "revision": 1, "rider_id": 7 })).await.done();
    assert_eq!(offered.at("/task/rider_id"), 7);
    assert_eq!(offered.at("/task/offer_until"), "2026-11-30T04:00:30.000Z");
    assert_eq!(offered.at("/event/action"), "offer");
    assert_eq!(offered.at("/legal"), json!(["withdraw", "cancel", "edit"]));
    assert_eq!(offered.headers["etag"], "\"2\"");

    let one = json!({ "revision": 2 });
    let seen = http.get(&rider(7), &format!("/api/v1/tasks/{}", task.1)).await.is(200);
    assert_eq!(seen.at("/legal"), json!(["accept", "decline"]));
    task.ask(&rider(8), "accept", &one).await.refused("NOT_INVITED");
    task.ask(&rider(8), "grab", &one).await.refused("NOT_OPEN");
    task.ask(&D2, "offer", &json!({ "revision": 2, "rider_id": 8 })).await.refused("NOT_OPEN");
    let accepted = task.ask(&rider(7), "accept", &one).await.done();
    assert_eq!(accepted.at("/task/mode"), "confirmed");
    // Once more, under another key: it is theirs already.
    let again = task.ask(&rider(7), "accept", &one).await.is(200);
    assert_eq!(
        (again.at("/outcome"), again.at("/code")),
        (json!("already_done"), json!("ALREADY_YOURS"))
    );
    assert_eq!(again.at("/event"), Value::Null);

    let stale = task.ask(&D1, "cancel", &one).await.refused("STALE_REVISION");
    assert_eq!(stale.at("/beaten_by/action"), "accept");
    assert_eq!(stale.at("/beaten_by/by"), "R7");
    assert_eq!(stale.at("/beaten_by/to_revision"), 3);
    assert_eq!(stale.at("/task/revision"), 3);

    task.ask(&rider(7), "pick-up", &json!({ "revision": 3 })).await.refused("WRONG_STAGE");
    task.ask(&rider(8), "arrive", &json!({ "revision": 3 })).await.refused("NOT_OWNER");
    for (verb, revision, stage) in
        [("arrive", 3, "at_pickup"), ("pick-up", 4, "picked_up"), ("deliver", 5, "delivered")]
    {
        let got = task.ask(&rider(7), verb, &json!({ "revision": revision })).await.done();
        assert_eq!(got.at("/task/stage"), stage);
        if verb == "pick-up" {
            let late = json!({ "revision": 5, "reason": "changed_mind" });
            task.ask(&D1, "cancel", &late).await.refused("PICKED_UP");
        }
    }
    task.ask(&D1, "cancel", &json!({ "revision": 6 })).await.refused("DELIVERED");
    let events = http.get(&D1, &format!("/api/v1/tasks/{}/events", task.1)).await.is(200);
    let actions: Vec<_> = events.at("/items").as_array().expect("a list").clone();
    let actions: Vec<_> = actions.iter().map(|event| event["action"].clone()).collect();
    assert_eq!(actions, ["create", "offer", "accept", "arrive", "pick-up", "deliver"]);
});

for_each_database!(a_task_comes_back_and_goes_to_somebody_else, |desk| async move {
    let http = Face::of(desk).await;
    let task = OnTask::new(&http).await;
    let offer = |revision, rider: i64| json!({ "revision": revision, "rider_id": rider });
    task.ask(&D1, "offer", &offer(1, 1)).await.done();
    let declined = json!({ "revision": 2, "reason": "too_far" });
    task.ask(&rider(1), "decline", &declined).await.done();
    task.ask(&D1, "offer", &json!({ "revision": 3, "rider_id": 2, "seconds": 60 })).await.done();
    let reason = json!({ "revision": 4, "reason": "wrong_rider" });
    task.ask(&D2, "withdraw", &reason).await.done();
    let told = task.ask(&rider(2), "accept", &json!({ "revision": 4 })).await;
    told.refused("OFFER_WITHDRAWN");
    task.ask(&rider(3), "grab", &json!({ "revision": 5 })).await.done();
    task.ask(&rider(3), "hand-back", &json!({ "revision": 6, "reason": "flat_tyre" })).await.done();
    // The region asks riders first; a supervisor may assign at once.
    task.ask(&D1, "assign", &offer(7, 4)).await.refused("IMMEDIATE_MODE_OFF");
    let direct = task.ask(&SUPERVISOR, "assign", &offer(7, 4)).await.done();
    assert_eq!(direct.at("/task/mode"), "direct");
    let to_five =
        |confirmed| json!({ "revision": 8, "rider_id": 5, "handover_confirmed": confirmed });
    task.ask(&D1, "reassign", &to_five(false)).await.refused("HANDOVER_NOT_CONFIRMED");
    let moved = task.ask(&D1, "reassign", &to_five(true)).await.done();
    assert_eq!((moved.at("/task/state"), moved.at("/task/rider_id")), (json!("offered"), json!(5)));
    http.advance_ms(30_000).await;
    task.ask(&rider(5), "accept", &json!({ "revision": 9 })).await.refused("OFFER_EXPIRED");
    let open =
        task.ask(&D1, "cancel", &json!({ "revision": 10, "reason": "no_rider" })).await.done();
    assert_eq!(open.at("/task/state"), "cancelled");
    assert_eq!(open.at("/legal"), json!([]));
    task.ask(&D1, "cancel", &json!({ "revision": 11 })).await.is(200);
    task.ask(&rider(6), "grab", &json!({ "revision": 11 })).await.refused("CANCELLED");
});

for_each_database!(refusals_are_told_in_the_language_that_was_asked_for, |desk| async move {
    let http = Face::of(desk).await;
    let task = OnTask::new(&http).await;
    http.done(rider(1), dispatch_desk::domain::id::TaskId(task.1), 1, GRAB).await;
    let late = json!({ "revision": 1 });
    let zh = task.ask(&rider(2), "grab", &late).in_chinese().await.refused("TAKEN_BY_OTHER");
    let en = task.ask(&rider(2), "grab", &late).await.refused("TAKEN_BY_OTHER");
    assert_eq!(zh.at("/message"), "任务已被其他骑手接走。");
    assert_eq!(en.at("/message"), "Another rider has taken the task.");
});

for_each_database!(what_a_rider_can_not_take_is_said_with_the_reason, |desk| async move {
    let http = Face::of(desk).await;
    let task = OnTask::new(&http).await;
    http.post(&rider(1), "/api/v1/rider/duty", &json!({ "duty": "paused" })).await.is(200);
    let got = task.ask(&rider(1), "grab", &json!({ "revision": 1 })).await;
    assert_eq!(got.refused("RIDER_NOT_ELIGIBLE").at("/reason"), "paused");
    let offer =
        |rider: i64, seconds| json!({ "revision": 1, "rider_id": rider, "seconds": seconds });
    let got = task.ask(&D1, "offer", &offer(FOREIGN_RIDER, 30)).await;
    assert_eq!(got.refused("RIDER_NOT_ELIGIBLE").at("/reason"), "other_region");
    for nobody in [0, -1, 5_000, i64::MAX, i64::MIN] {
        let got = task.ask(&D1, "offer", &offer(nobody, 30)).await;
        assert_eq!(got.refused("RIDER_NOT_ELIGIBLE").at("/reason"), "other_region");
    }
    for seconds in [0_u32, 1, 100_000, u32::MAX] {
        let got = task.ask(&D1, "offer", &offer(2, seconds)).await.problem(422, "OFFER_SECONDS");
        assert_eq!(got.at("/pointer"), "/seconds");
    }
    let later = dispatch_desk::clock::Clock::now(&*http.clock).plus_ms(60_000);
    let later = dispatch_desk::domain::command::NewTask { release_at: Some(later), ..order() };
    let later = OnTask(&http, http.create_with(later).await.0);
    later.ask(&rider(2), "grab", &json!({ "revision": 1 })).await.refused("NOT_RELEASED");
});
