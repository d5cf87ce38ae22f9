//! Noting, moving, forgetting.

use dispatch_desk::{
    domain::{
        fix::{DeviceMark, Fix},
        id::RiderId,
    },
    locate::Locator,
};

use super::{CITY, NEXT_CITY, fix};

const R: RiderId = RiderId(7);

/// An older or equal number is refused, unless it is a new device that counts.
pub async fn order(index: &Locator) {
    assert_eq!(index.of(R).await.unwrap(), None);
    for (seq, taken) in [(5, true), (4, false), (5, false), (6, true), (i64::MIN, false)] {
        let place = f64::from(u8::from(taken));
        assert_eq!(index.note(CITY, R, fix(seq, place, 0.0)).await.unwrap(), taken, "{seq}");
    }
    assert_eq!(index.of(R).await.unwrap(), Some(fix(6, 1.0, 0.0)));

    let new = Fix { device: DeviceMark(i64::MAX), seq: -3, ..fix(7, 2.0, 0.0) };
    assert!(index.note(CITY, R, new).await.unwrap());
    let late = Fix { seq: 900, ..fix(6, 3.0, 0.0) };
    assert!(!index.note(CITY, R, late).await.unwrap(), "from the old device, and before");
    let bare = Fix { accuracy_m: None, seq: i64::MAX, ..new };
    assert!(index.note(CITY, R, bare).await.unwrap());
    assert_eq!(index.of(R).await.unwrap(), Some(bare), "all of it is kept");
    assert_eq!(index.count().await.unwrap(), 1);
}

/// A rider is in one region at a time.
pub async fn regions(index: &Locator) {
    let here = fix(0, 31.0, 121.0).place;
    let of = async |region| {
        let found = index.nearest(region, here, 1_000.0, 10, &|_| true).await.unwrap();
        found.iter().map(|near| near.rider.0).collect::<Vec<_>>()
    };
    for rider in 1..=3 {
        assert!(index.note(CITY, RiderId(rider), fix(1, 31.0, 121.0)).await.unwrap());
    }
    index.relocate(NEXT_CITY, RiderId(1)).await.unwrap();
    index.relocate(NEXT_CITY, RiderId(9)).await.unwrap();
    assert!(index.note(NEXT_CITY, RiderId(2), fix(2, 31.0, 121.0)).await.unwrap());
    assert!(!index.note(NEXT_CITY, RiderId(3), fix(1, 31.0, 121.0)).await.unwrap());
    assert_eq!((of(CITY).await, of(NEXT_CITY).await), (vec![3], vec![1, 2]));

    index.forget(RiderId(3)).await.unwrap();
    index.forget(RiderId(3)).await.unwrap();
    assert_eq!((of(CITY).await, index.of(RiderId(3)).await.unwrap()), (vec![], None));
    // Whoever was forgotten may begin anew.
    assert!(index.note(CITY, RiderId(3), fix(0, 31.0, 121.0)).await.unwrap());
    index.relocate(CITY, RiderId(1)).await.unwrap();
    assert_eq!((of(CITY).await, of(NEXT_CITY).await), (vec![1, 3], vec![2]));
    assert_eq!(index.count().await.unwrap(), 3);
}

/// What is nowhere on earth is not taken, and finds nobody.
pub async fn off_the_map(index: &Locator) {
    assert!(index.note(CITY, R, fix(1, 0.0, 0.0)).await.unwrap());
    for (lat, lng) in [(90.5, 0.0), (f64::NAN, 0.0), (0.0, f64::INFINITY), (0.0, -180.5)] {
        assert!(!index.note(CITY, R, fix(2, lat, lng)).await.unwrap(), "{lat} {lng}");
        let from = fix(2, lat, lng).place;
        assert_eq!(index.nearest(CITY, from, 1e9, 10, &|_| true).await.unwrap(), vec![]);
    }
    assert_eq!(index.of(R).await.unwrap(), Some(fix(1, 0.0, 0.0)));
}
