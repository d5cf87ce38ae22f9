//! The client: what it sends, what it says came back, and what it does when nothing comes back.

use std::{sync::atomic::Ordering, time::Duration};

use dispatch_desk::{
    client::{Client, Error, EventItem, Fix, Retry},
    domain::{
        answer::Outcome,
        command::{Act, Actor, Verb},
        facts::Duty,
        id::{Revision, RiderId, TaskId},
        task::{Stage, StateName},
    },
};

use crate::{
    cut::line,
    scene::{CENTRE, NOON, Scene, key, order},
};

fn numbers(events: &[EventItem]) -> Vec<i64> {
    events.iter().map(|event| event.number).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_goes_from_order_to_door_and_each_answer_is_what_came_over_the_wire() {
    let scene = Scene::start(&[1, 1]).await;
    let (shop, desk) = (scene.shop().await, scene.dispatcher().await);
    let (one, other) = (scene.rider(1).await, scene.rider(2).await);
    let made = shop.create(&key("o-1"), &order()).await.unwrap();
    assert_eq!((made.status, made.attempts, made.replayed), (201, 1, false));
    let task = made.answer.task.as_ref().unwrap().id;
    assert_eq!(made.location.as_deref(), Some(format!("/api/v1/tasks/{}", task.0).as_str()));
    assert!(made.etag.is_some() && made.server_time.is_some() && made.request_id.is_some());
    let again = shop.create(&key("o-1"), &order()).await.unwrap();
    assert!(again.replayed);
    assert_eq!((&again.body, again.status), (&made.body, 201));

    let pool = one.pool(None).await.unwrap();
    assert_eq!(pool.items.len(), 1);
    let seen = &pool.items[0];
    assert_eq!((seen.task.state, seen.task.revision), (StateName::Open, Revision(1)));
    assert_eq!(seen.detail.as_ref().unwrap().pickup.phone, None, "not before it is theirs");

    let act = Act::Offer { rider: RiderId(1), seconds: Some(60), round: None };
    let offered = desk.act(&key("f-1"), task, Revision(1), &act).await.unwrap();
    assert_eq!(offered.answer.outcome, Outcome::Done);
    let revision = offered.answer.seen_revision().unwrap();
    // A refusal is an answer.
    let grab = Act::Grab { ticket: None };
    let lost = other.act(&key("g-1"), task, Revision(1), &grab).await.unwrap();
    assert_eq!((lost.status, lost.answer.outcome), (409, Outcome::Refused));
    assert!(lost.answer.beaten_by.is_some() && lost.answer.code.is_some());
    let mine = one.mine().await.unwrap();
    assert_eq!(mine.items.len(), 1);
    assert_eq!(mine.items[0].task.offer_until, Some(NOON.plus_ms(60_000)));

    let mut revision = one.act(&key("a-1"), task, revision, &Act::Accept).await.unwrap();
    for (step, act) in [Act::Arrive, Act::PickUp, Act::Deliver].iter().enumerate() {
        let seen = revision.answer.seen_revision().unwrap();
        revision = one.act(&key(&format!("s-{step}")), task, seen, act).await.unwrap();
    }
    assert_eq!(revision.answer.task.unwrap().stage, Some(Stage::Delivered));
    let events = desk.task_events(task).await.unwrap();
    let actions: Vec<_> = events.items.iter().map(|event| event.action.as_str()).collect();
    assert_eq!(actions, ["create", "offer", "accept", "arrive", "pick-up", "deliver"]);
    // The log of the whole region holds them, too.
    let all = desk.events(0, None).await.unwrap().items;
    let of_task = all.iter().filter(|event| event.task_id == Some(task));
    assert_eq!(of_task.map(|event| event.number).collect::<Vec<_>>(), numbers(&events.items));
    let page = desk.events(0, Some(2)).await.unwrap();
    assert_eq!((page.after, page.through, page.items.len()), (0, all[1].number, 2));
    let rest = desk.events(page.through, None).await.unwrap();
    assert_eq!(numbers(&rest.items), numbers(&all[2..]));
    assert_eq!(desk.time().await.unwrap(), NOON);
    let listed = desk.list(Some(StateName::Assigned), None, None).await.unwrap();
    assert_eq!(listed.items[0].task.id, task);
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn riders_customers_and_problems() {
    let scene = Scene::start(&[1]).await;
    let (shop, desk, rider) = (scene.shop().await, scene.dispatcher().await, scene.rider(1).await);
    let made = shop.create(&key("o-1"), &order()).await.unwrap();
    let task = made.answer.task.unwrap().id;
    rider.duty(Duty::Paused).await.unwrap();
    rider.duty(Duty::On).await.unwrap();
    let fix = |seq| Fix { seq, at: NOON, lat: CENTRE.lat, lng: CENTRE.lng };
    assert!(rider.locate(&[fix(2), fix(1)]).await.unwrap());
    assert!(!rider.locate(&[fix(1)]).await.unwrap(), "older than what is known");

    let tracking = shop.task(task).await.unwrap().tracking.unwrap();
    let token = tracking.strip_prefix("/t/").unwrap();
    let nobody = Client::new(&scene.origin, None).unwrap();
    let seen = nobody.track(token).await.unwrap();
    assert_eq!((seen.task.state, seen.legal), (StateName::Open, vec![Verb::Cancel]));
    let cancel = nobody.customer_cancel(&key("c"), token, seen.task.revision, None).await.unwrap();
    assert_eq!(cancel.answer.task.unwrap().state, StateName::Cancelled);

    let code = |result: Result<_, Error>| result.map(|(): ()| ()).unwrap_err().code().to_owned();
    let accept = |client: Client, task| async move {
        client.act(&key("x"), task, Revision(1), &Act::Accept).await.map(|_| ())
    };
    assert_eq!(code(accept(desk.clone(), task).await), "FORBIDDEN");
    assert_eq!(code(accept(rider.clone(), TaskId(999_999)).await), "NOT_FOUND");
    let stranger = nobody.speaking_for(Some("desk_0_0")).unwrap();
    assert_eq!(code(accept(stranger, task).await), "NOT_SIGNED_IN");
    let act = Act::Cancel { reason: None };
    shop.act(&key("k"), task, Revision(1), &act).await.unwrap();
    let reused = shop.act(&key("k"), task, Revision(2), &act).await.unwrap_err();
    assert_eq!((reused.code(), reused.is_unknown()), ("REQUEST_KEY_REUSED", false));
    assert!(matches!(nobody.track("../tasks").await, Err(Error::Request(_))));
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_reply_is_asked_for_again_under_the_same_key_and_there_is_one_effect() {
    let scene = Scene::start(&[1]).await;
    let (broken, connections) = line(&scene.origin, 2).await;
    let token = dispatch_desk::admin::token(&scene.db, &Actor::Intake("shop".to_owned()), "")
        .await
        .unwrap();
    let retry =
        Retry { attempts: 3, first: Duration::from_millis(1), longest: Duration::from_millis(2) };
    let shop = Client::new(&broken, Some(&token)).unwrap().with_retry(retry);
    let made = shop.create(&key("o-1"), &order()).await.unwrap();
    assert_eq!((made.status, made.attempts, made.replayed), (201, 3, true));
    assert_eq!(connections.load(Ordering::SeqCst), 3);
    let desk = scene.dispatcher().await;
    assert_eq!(desk.list(None, None, None).await.unwrap().items.len(), 1);
    let events = desk.events(0, None).await.unwrap().items;
    assert_eq!(events.iter().filter(|event| event.kind == "task").count(), 1);

    // Whoever asks once is told that nobody knows.
    let (broken, _) = line(&scene.origin, 1).await;
    let once = Client::new(&broken, Some(&token)).unwrap().with_retry(Retry::NEVER);
    let lost = once.create(&key("o-2"), &order()).await.unwrap_err();
    assert!(lost.is_unknown() && lost.code() == "LOST", "{lost}");
    let told = once.create(&key("o-2"), &order()).await.unwrap();
    assert!(told.replayed);
    assert_eq!(desk.list(None, None, None).await.unwrap().items.len(), 2);
    scene.end().await;
}

#[tokio::test]
async fn nobody_there_is_a_lost_reply_and_the_time_for_it_is_bounded() {
    // A port that was free a moment ago.
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let retry = Retry { attempts: 2, first: Duration::ZERO, longest: Duration::ZERO };
    let client = Client::new(&format!("http://{port}"), None).unwrap().with_retry(retry);
    let lost = client.time().await.unwrap_err();
    assert!(matches!(lost, Error::Lost { attempts: 2, .. }), "{lost}");
    // Somebody who takes the call and says nothing.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::new(&format!("http://{}", mute.local_addr().unwrap()), None).unwrap();
    let client = client.with_retry(Retry::NEVER).with_timeout(Duration::from_millis(20));
    assert_eq!(client.time().await.unwrap_err().code(), "LOST");
}
