//! Where riders were last seen.

use dispatch_desk::{
    domain::{
        fix::{DeviceMark, Fix},
        geo::Place,
        id::{RiderId, Timestamp},
    },
    store::{Error, Located, RiderChange},
};

use crate::harness::*;

fn fix(device: i64, seq: i64, at: i64) -> Fix {
    let place = Place { lat: 31.230_400_1, lng: 121.473_7 };
    let taken_at = Timestamp(at - 3);
    let device = DeviceMark(device);
    Fix { taken_at, device, accuracy_m: Some(4.25), ..Fix::new(seq, Timestamp(at), place) }
}

for_each_database!(positions_are_written_many_at_once_and_read_in_pages, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let (one, two, foreign) = (RiderId(1), RiderId(2), RiderId(FOREIGN_RIDER));
    let bare = Fix { accuracy_m: None, ..fix(0, i64::MAX, 5) };
    let first = [(one, fix(7, 3, 50)), (two, bare), (foreign, fix(7, i64::MIN, 9))];
    assert_eq!(tx.put_fixes(&first).await.unwrap(), 3);
    assert_eq!(tx.put_fixes(&[]).await.unwrap(), 0);
    // Beside one that is newer: an older one, and one of nobody.
    let next = [(one, fix(7, 4, 40)), (two, fix(0, 9, 90)), (RiderId(9_999), fix(7, 1, 1))];
    assert_eq!(tx.put_fixes(&next).await.unwrap(), 1);

    let located = |region, rider, fix| Located { region, rider, fix };
    let mut all = vec![located(NORTH, one, next[0].1), located(NORTH, two, bare)];
    all.push(located(SOUTH, foreign, first[2].1));
    assert_eq!(tx.fixes(RiderId(0), 10).await.unwrap(), all);
    assert_eq!(tx.fixes(RiderId(0), 2).await.unwrap(), all[..2]);
    assert_eq!(tx.fixes(two, 10).await.unwrap(), all[2..]);
    assert_eq!(tx.fixes(RiderId(i64::MAX), 10).await.unwrap(), []);

    // Of one who is shut out nothing more is kept, and nothing is found.
    let shut = RiderChange { disabled: Some(true), ..RiderChange::default() };
    tx.change_rider(two, &shut).await.unwrap();
    assert_eq!(tx.put_fixes(&[(two, fix(1, 1, 900))]).await.unwrap(), 0);
    assert_eq!(tx.fixes(one, 10).await.unwrap(), all[2..]);
    assert_eq!(tx.rider_account(two).await.unwrap().unwrap().fix, Some(bare));
});

for_each_database!(a_new_device_counts_anew, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let one = RiderId(1);
    let tries = [
        (fix(7, 900, 50), true),
        (fix(8, 1, 49), false),
        (fix(8, 1, 50), true),
        (fix(8, 1, 51), false),
        (fix(7, 901, 49), false),
        (fix(7, 5, 60), true),
    ];
    let mut known: Option<Fix> = None;
    for (fix, kept) in tries {
        assert_eq!(tx.put_fixes(&[(one, fix)]).await.unwrap(), u64::from(kept), "{fix:?}");
        assert_eq!(known.is_none_or(|known| fix.follows(&known)), kept, "as the domain says");
        known = if kept { Some(fix) } else { known };
        assert_eq!(tx.rider_account(one).await.unwrap().unwrap().fix, known);
    }
    // One that is not on the map takes the others with it: what is written is checked before.
    let off = Fix { place: Place { lat: 90.1, lng: 0.0 }, ..fix(7, 6, 70) };
    let refused = tx.put_fixes(&[(RiderId(2), fix(7, 6, 70)), (one, off)]).await;
    assert!(matches!(refused, Err(Error::Rejected(_))), "{refused:?}");
});
