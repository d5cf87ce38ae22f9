//! An hour of simulated people, on a clock that nobody waits for.

use std::collections::HashMap;

use dispatch_desk::{
    domain::{
        command::Verb,
        id::{RiderId, TaskId, Timestamp},
        task::StateName,
    },
    engine::reconcile::reconcile,
    simulate::{Cast, Manners, Orders, Seat, Simulation, Tally},
};

use crate::scene::{CENTRE, NOON, Scene, order};

const CAPACITIES: [u32; 24] =
    [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3];

async fn simulation(scene: &Scene, seed: u64) -> Simulation {
    let mut riders = Vec::new();
    for (index, capacity) in CAPACITIES.iter().enumerate() {
        let number = i64::try_from(index).unwrap() + 1;
        riders.push(Seat {
            id: RiderId(number),
            client: scene.rider(number).await,
            capacity: usize::try_from(*capacity).unwrap(),
            place: CENTRE,
        });
    }
    let cast =
        Cast { riders, dispatchers: vec![scene.dispatcher().await], shop: scene.shop().await };
    let orders = Orders::new(|_, now| {
        let due_at = Some(now.plus_ms(2_400_000));
        dispatch_desk::domain::command::NewTask { due_at, ready_at: None, ..order() }
    });
    let manners = Manners {
        orders_per_hour: 90.0,
        browse_ms: Some(600_000),
        locate_ms: Some(300_000),
        // Slow dispatchers, who leave something for those who grab.
        dispatch_ms: 15_000,
        keep_open: 3,
        ..Manners::published(seed, "hour")
    };
    Simulation::new(manners, cast, Some(orders), NOON)
}

/// Lets `minutes` of the clock pass.
async fn pass(scene: &Scene, people: &mut Simulation, minutes: i64) -> Tally {
    let end = NOON.plus_ms(minutes * 60_000);
    while let Some(due) = people.next_due().filter(|due| *due < end) {
        scene.move_to(due).await;
        people.step(due).await;
    }
    scene.move_to(end).await;
    people.tally()
}

/// The most that each rider held at once, from the log.
async fn most_held(scene: &Scene) -> HashMap<i64, usize> {
    let mut holds: HashMap<TaskId, i64> = HashMap::new();
    let mut most: HashMap<i64, usize> = HashMap::new();
    let mut after = 0;
    loop {
        let mut tx = scene.db.read().await.unwrap();
        let events = tx.events_after(after, 1_000).await.unwrap();
        let Some(last) = events.last() else { return most };
        after = last.number;
        for event in &events {
            let (Some(task), Some(verb)) = (event.task_id, Verb::parse(&event.action)) else {
                continue;
            };
            match verb {
                Verb::Offer | Verb::Accept | Verb::Grab | Verb::Assign | Verb::Reassign => {
                    holds.insert(TaskId(task), event.rider_id.unwrap());
                }
                Verb::Decline
                | Verb::Withdraw
                | Verb::Expire
                | Verb::Cancel
                | Verb::HandBack
                | Verb::Deliver => {
                    holds.remove(&TaskId(task));
                }
                Verb::Create | Verb::Arrive | Verb::PickUp | Verb::Edit => {}
            }
            for rider in holds.values() {
                let held = holds.values().filter(|other| *other == rider).count();
                let most = most.entry(*rider).or_default();
                *most = held.max(*most);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_goes_as_published_and_all_of_it_fits_together() {
    let scene = Scene::start(&CAPACITIES).await;
    let mut people = simulation(&scene, 11).await;
    let tally = pass(&scene, &mut people, 60).await;
    assert!(tally.failures().is_empty(), "{tally:?}");

    let offers = tally.count(Verb::Offer);
    assert!(offers > 250, "{tally:?}");
    let near = |count: u64, percent: u64| {
        let (low, high) = (percent.saturating_sub(8), percent + 8);
        assert!((low * offers..high * offers).contains(&(100 * count)), "{percent}: {tally:?}");
    };
    near(tally.ignored, 55);
    near(tally.count(Verb::Decline), 25);
    near(tally.count(Verb::Accept), 20);
    for verb in [Verb::Create, Verb::Grab, Verb::Arrive, Verb::PickUp, Verb::Deliver] {
        assert!(tally.count(verb) > 10, "{verb}: {tally:?}");
    }
    assert!(tally.in_log(Verb::Expire) > 100 && tally.positions > 200, "{tally:?}");
    // Some were beaten, and some answered too late.
    assert!(tally.refused_of(Verb::Grab) > 0, "{tally:?}");
    assert!(tally.refusals().contains_key("OFFER_EXPIRED"), "{tally:?}");

    // The last offers lapse; then each task is somebody's, done, or nobody's.
    scene.move_to(NOON.plus_ms(63 * 60_000)).await;
    let desk = scene.dispatcher().await;
    let offered = desk.list(Some(StateName::Offered), None, None).await.unwrap();
    assert_eq!(offered.items, []);
    for (rider, most) in most_held(&scene).await {
        let capacity = CAPACITIES[usize::try_from(rider - 1).unwrap()];
        assert!(most <= usize::try_from(capacity).unwrap(), "R{rider} held {most} of {capacity}");
    }
    let report = reconcile(&scene.db, |_| {}).await.unwrap();
    assert_eq!(report.differences, []);
    assert_eq!(report.tasks, tally.count(Verb::Create));
    scene.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_seed_gives_the_same_counters_and_another_does_not() {
    let mut tallies = Vec::new();
    for seed in [5, 5, 6] {
        let scene = Scene::start(&CAPACITIES).await;
        let mut people = simulation(&scene, seed).await;
        tallies.push(pass(&scene, &mut people, 12).await);
        scene.end().await;
    }
    assert!(tallies[0].count(Verb::Offer) > 20, "{:?}", tallies[0]);
    assert_eq!(tallies[0], tallies[1]);
    assert_ne!(tallies[0], tallies[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_by_the_clock_stops_when_told_and_answers_everything_first() {
    let scene = Scene::start(&CAPACITIES).await;
    let mut people = simulation(&scene, 7).await;
    let clock = scene.db.clock();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(async move {
        people.run(&clock, stopped).await;
        people
    });
    for minute in 1..=3 {
        scene.move_to(Timestamp(NOON.0 + minute * 60_000)).await;
        tokio::task::yield_now().await;
    }
    stop.send_replace(true);
    let people = running.await.unwrap();
    assert!(people.next_due().is_some(), "they had more to do");
    assert_eq!(people.tally().failures().len(), 0);
    assert!(scene.db.clock().now() >= NOON);
    scene.end().await;
}
