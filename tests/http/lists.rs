//! Tasks and the log, page by page.

use dispatch_desk::domain::command::{Act, NewTask};
use serde_json::{Value, json};

use crate::{
    harness::*,
    http::{Face, Got},
};

fn ids(got: &Got) -> Vec<i64> {
    let items = got.at("/items");
    let items = items.as_array().expect("a list").iter();
    items.map(|item| item["task"]["id"].as_i64().expect("a number")).collect()
}

for_each_database!(tasks_are_listed_page_by_page_and_by_state, |desk| async move {
    let http = Face::of(desk).await;
    let tasks = http.create_many(9).await;
    http.done(D1, tasks[0], 1, offer(1)).await;
    http.done(rider(2), tasks[1], 1, GRAB).await;
    http.done(rider(3), tasks[2], 1, GRAB).await;
    http.done(rider(3), tasks[2], 2, Act::Arrive).await;
    http.done(D1, tasks[3], 1, CANCEL).await;
    let mut all: Vec<_> = tasks.iter().map(|task| task.0).collect();
    all.sort_unstable();
    let list = |query: String| http.get(&D1, &format!("/api/v1/tasks{query}"));
    let of = |some: &[usize]| {
        let mut of: Vec<_> = some.iter().map(|index| tasks[*index].0).collect();
        of.sort_unstable();
        of
    };

    let whole = list(String::new()).await.is(200);
    assert_eq!(ids(&whole), all);
    assert_eq!(whole.at("/next_cursor"), Value::Null);
    assert_eq!(whole.at("/head"), 14);
    for (state, some) in [
        ("open", &[4, 5, 6, 7, 8][..]),
        ("offered", &[0]),
        ("assigned", &[1, 2]),
        ("cancelled", &[3]),
    ] {
        assert_eq!(ids(&list(format!("?state={state}")).await.is(200)), of(some), "{state}");
    }
    // Pages of every length that there can be.
    for limit in [1, 2, 4, 8, 9, 100] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = list(format!("?limit={limit}{cursor}")).await.is(200);
            assert!(ids(&page).len() <= limit);
            seen.extend(ids(&page));
            match page.at("/next_cursor").as_i64() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, all, "by {limit}");
    }
    let page = list("?state=open&limit=2&region=1".to_owned()).await.is(200);
    assert_eq!(ids(&page), of(&[4, 5, 6, 7, 8])[..2]);
    // The other region's are not there, by whatever way one asks.
    for query in ["?region=2", "?region=-1", "?cursor=9223372036854775807", "?state=open&region=2"]
    {
        assert_eq!(ids(&list(query.to_owned()).await.is(200)), Vec::<i64>::new(), "{query}");
    }
    assert_eq!(ids(&list("?cursor=-9223372036854775808".to_owned()).await.is(200)), all);
    assert_eq!(
        ids(&http.get(&FOREIGN_DISPATCHER, "/api/v1/tasks").await.is(200)),
        Vec::<i64>::new()
    );
    for query in [
        "?limit=0",
        "?limit=101",
        "?limit=-1",
        "?limit=x",
        "?limit=",
        "?state=sleeping",
        "?state=OPEN",
        "?more=1",
        "?cursor=9223372036854775808",
        "?limit=1&limit=2",
        "?region=1.5",
        "?%ff=1",
        "?state=%00",
    ] {
        list(query.to_owned()).await.problem(400, "QUERY_INVALID");
    }
    for who in [rider(1), shop()] {
        http.get(&who, "/api/v1/tasks").await.problem(403, "FORBIDDEN");
    }
});

for_each_database!(the_log_is_read_from_where_one_was, |desk| async move {
    let http = Face::of(desk).await;
    let task = http.create().await;
    http.done(D1, task, 1, offer(1)).await;
    http.done(rider(1), task, 2, Act::Accept).await;
    let log = |query: &str| http.get(&D1, &format!("/api/v1/events{query}"));
    let whole = log("").await.is(200);
    let actions: Vec<_> = whole.at("/items").as_array().expect("a list").clone();
    let actions: Vec<_> = actions.iter().map(|item| item["action"].clone()).collect();
    assert_eq!(actions, ["create", "offer", "accept"]);
    assert_eq!((whole.at("/through"), whole.at("/head")), (json!(3), json!(3)));
    let second = whole.at("/items/1");
    assert_eq!((&second["from_revision"], &second["to_revision"]), (&json!(1), &json!(2)));
    assert_eq!(second["actor"], json!({ "kind": "staff", "id": "1" }));
    let one = log("?after=1&limit=1").await.is(200);
    assert_eq!((one.at("/items/0"), one.at("/through")), (second, json!(2)));
    // Beyond the end there is nothing yet, and one goes on from where one is.
    let beyond = log("?after=99").await.is(200);
    assert_eq!((beyond.at("/items"), beyond.at("/through")), (json!([]), json!(99)));
    for query in
        ["?after=-1", "?limit=0", "?limit=501", "?after=x", "?before=1", "?after=1&after=2"]
    {
        log(query).await.problem(400, "QUERY_INVALID");
    }
    log("?after=9223372036854775807").await.is(200);

    let of_task = http.get(&D1, &format!("/api/v1/tasks/{}/events", task.0)).await.is(200);
    assert_eq!(of_task.at("/items"), whole.at("/items"));
});

for_each_database!(the_pool_shows_what_can_be_grabbed_now, |desk| async move {
    let http = Face::of(desk).await;
    let tasks = http.create_many(2).await;
    let noon = dispatch_desk::clock::Clock::now(&*http.clock);
    let later = NewTask { release_at: Some(noon.plus_ms(60_000)), ..order() };
    let later = http.create_with(later).await;
    let vehicle = Some(dispatch_desk::domain::task::Vehicle::Van);
    let van = http.create_with(NewTask { vehicle, ..order() }).await;
    http.done(D1, tasks[1], 1, offer(2)).await;
    let pool = |who| http.get(&who, "/api/v1/rider/pool");
    let mine = ids(&pool(rider(1)).await.is(200));
    assert_eq!(mine, [tasks[0].0], "neither what is offered, nor what is not released, nor {van}");
    assert_eq!(ids(&pool(rider(FOREIGN_RIDER)).await.is(200)), Vec::<i64>::new());
    http.advance_ms(60_000).await;
    assert_eq!(ids(&pool(rider(1)).await.is(200)).last(), Some(&later.0));
    for who in [D1, ADMIN, shop()] {
        pool(who).await.problem(403, "FORBIDDEN");
    }

    // Fifty on a page.
    let mut all: Vec<_> = http.create_many(55).await.iter().map(|task| task.0).collect();
    all.sort_unstable();
    let first = pool(rider(1)).await.is(200);
    let cursor = first.at("/next_cursor").as_i64().expect("there is more");
    let second = http.get(&rider(1), &format!("/api/v1/rider/pool?cursor={cursor}")).await.is(200);
    assert_eq!((ids(&first).len(), second.at("/next_cursor")), (50, Value::Null));
    let seen: Vec<_> = ids(&first).into_iter().chain(ids(&second)).collect();
    assert!(seen.is_sorted() && all.iter().all(|task| seen.contains(task)));
    for query in ["?cursor=x", "?limit=5"] {
        let got = http.get(&rider(1), &format!("/api/v1/rider/pool{query}")).await;
        got.problem(400, "QUERY_INVALID");
    }
});
