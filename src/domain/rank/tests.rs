//! Orders that can be checked by hand, and a reason for everybody who is left out.

use super::*;
use crate::domain::{
    actor::Actor,
    facts::Duty,
    geo::{Area, Place},
    id::{RegionId, Revision, TaskId},
    policy::Policy,
    task::State,
};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn region() -> Region {
    let centre = Place { lat: 31.0, lng: 121.0 };
    Region {
        id: RegionId(1),
        time_zone: chrono_tz::UTC,
        area: Area::Circle { centre, radius_m: 30_000.0 },
        policy: Policy::default(),
    }
}

fn task() -> Task {
    Task {
        id: TaskId(10_001),
        region: RegionId(1),
        source: "shop".to_owned(),
        revision: Revision(1),
        state: State::Open,
        release_at: NOW,
        vehicle: None,
        priority: 0,
        changed_at: NOW,
        changed_by: Actor::System,
    }
}

fn seen(id: i64, distance_m: u32) -> Seen {
    Seen {
        rider: Rider {
            id: RiderId(id),
            region: RegionId(1),
            capacity: 2,
            held: Vec::new(),
            duty: Duty::On,
            disabled: false,
            vehicle: None,
            risk_rejected: false,
            last_fix_at: Some(NOW),
        },
        distance_m: Some(distance_m),
        last_work_at: Some(NOW),
        asked: 0,
        answered: 0,
        hand_backs: 0,
        before: None,
    }
}

fn ranked(seen: &[Seen], batch: u32) -> Ranking {
    let (task, region) = (task(), region());
    rank(&Search { task: &task, region: &region, radius_m: Some(2_000), batch, now: NOW }, seen)
}

fn order(ranking: &Ranking) -> Vec<i64> {
    ranking.candidates.iter().map(|candidate| candidate.rider.0).collect()
}

#[test]
fn the_nearest_comes_first_and_equal_ones_by_their_number() {
    let all = [seen(3, 500), seen(2, 500), seen(1, 900)];
    assert_eq!(order(&ranked(&all, 10)), [2, 3, 1]);
}

#[test]
fn what_is_in_hand_counts_as_way() {
    let busy = Seen { rider: Rider { held: vec![0], ..seen(1, 500).rider }, ..seen(1, 500) };
    assert_eq!(order(&ranked(&[busy.clone(), seen(2, 899)], 10)), [2, 1]);
    assert_eq!(order(&ranked(&[busy, seen(2, 901)], 10)), [1, 2]);
}

#[test]
fn silence_giving_back_and_waiting_count() {
    let silent = Seen { asked: 10, answered: 0, ..seen(1, 500) };
    let new = Seen { asked: 3, answered: 0, ..seen(2, 600) };
    let gave_back = Seen { hand_backs: 2, ..seen(3, 450) };
    let waits = Seen { last_work_at: None, ..seen(4, 1_100) };
    let ranking = ranked(&[silent, new, gave_back, waits], 10);
    assert_eq!(order(&ranking), [4, 2, 3, 1]);
    let totals: Vec<_> = ranking.candidates.iter().map(|c| c.factors.total_m).collect();
    assert_eq!(totals, [500, 600, 1_050, 1_100]);
}

#[test]
fn everybody_else_is_told_why() {
    let of = |id, change: &dyn Fn(&mut Seen)| {
        let mut seen = seen(id, 100);
        change(&mut seen);
        seen
    };
    let all = [
        of(1, &|seen| seen.rider.duty = Duty::Off),
        of(2, &|seen| seen.rider.duty = Duty::Paused),
        of(3, &|seen| seen.rider.disabled = true),
        of(4, &|seen| seen.rider.region = RegionId(2)),
        of(5, &|seen| seen.rider.held = vec![0, 1]),
        of(6, &|seen| seen.before = Some(Before::Declined)),
        of(7, &|seen| seen.before = Some(Before::HandedBack)),
        of(8, &|seen| seen.distance_m = Some(2_001)),
        of(9, &|seen| seen.distance_m = None),
        of(10, &|seen| seen.rider.risk_rejected = true),
        of(11, &|_| {}),
        of(12, &|seen| seen.distance_m = Some(101)),
    ];
    let ranking = ranked(&all, 1);
    assert_eq!(order(&ranking), [11]);
    let mut why: Vec<_> =
        ranking.left_out.iter().map(|(id, why, _)| (id.0, why.as_str())).collect();
    why.sort_unstable();
    assert_eq!(
        why,
        [
            (1, "off_duty"),
            (2, "paused"),
            (3, "disabled"),
            (4, "other_region"),
            (5, "at_capacity"),
            (6, "declined"),
            (7, "handed_back"),
            (8, "too_far"),
            (9, "stale_position"),
            (10, "risk_rejected"),
            (12, "not_among_the_first"),
        ]
    );
}

#[test]
fn without_distances_everybody_can_be_asked_by_the_other_factors() {
    let (task, region) = (task(), region());
    let unknown = |id| Seen { distance_m: None, ..seen(id, 0) };
    let busy = Seen { rider: Rider { held: vec![0], ..unknown(1).rider }, ..unknown(1) };
    let search = Search { task: &task, region: &region, radius_m: None, batch: 5, now: NOW };
    assert_eq!(order(&rank(&search, &[busy, unknown(2)])), [2, 1]);
}
