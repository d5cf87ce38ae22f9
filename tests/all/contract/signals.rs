//! What looks wrong about riders, and which telephones they use.

use dispatch_desk::{
    domain::{
        fix::{DeviceMark, Fix},
        geo::Place,
        id::{RiderId, StaffId, Timestamp},
        signal::{Evidence, Signal, SignalKind},
    },
    store::{RiderChange, Sighting},
};

use crate::harness::*;

const ONE: RiderId = RiderId(1);
const TWO: RiderId = RiderId(2);

fn signal(rider: RiderId, kind: SignalKind, at: i64) -> Signal {
    let place = Place { lat: 31.230_400_1, lng: 121.473_7 };
    let from = Fix { device: DeviceMark(i64::MAX), ..Fix::new(1, Timestamp(at - 9), place) };
    let to = Fix { accuracy_m: Some(3.25), ..Fix::new(i64::MIN, Timestamp(at), place) };
    let evidence = Evidence::Moved { from, to, metres: 12_000.5, kmh: 4_800.2 };
    Signal { rider, kind, at: Timestamp(at), evidence }
}

for_each_database!(a_signal_is_counted_up_until_it_is_dismissed, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.raise_signals(&[]).await.unwrap(), 0);
    let nobody = signal(RiderId(9_999), SignalKind::Speed, 10);
    let first = [signal(ONE, SignalKind::Speed, 10), signal(TWO, SignalKind::Teleport, 11), nobody];
    assert_eq!(tx.raise_signals(&first).await.unwrap(), 2);
    let shared = Evidence::Shared { other: ONE, seen_at: Timestamp(5) };
    let grabs = Evidence::Grabs { count: 20, within_ms: 900 };
    let next = [
        signal(ONE, SignalKind::Speed, 20),
        Signal { evidence: shared, ..signal(TWO, SignalKind::SharedDevice, 30) },
        Signal { evidence: grabs, ..signal(TWO, SignalKind::GrabRate, 40) },
    ];
    assert_eq!(tx.raise_signals(&next).await.unwrap(), 3);
    let of_one = tx.signals_of(ONE, 9).await.unwrap();
    assert_eq!(of_one.len(), 1);
    assert_eq!(of_one[0].signal, next[0], "the latest, with its evidence");
    assert_eq!((of_one[0].first_at, of_one[0].times), (Timestamp(10), 2));
    let of_two = tx.signals_of(TWO, 2).await.unwrap();
    let signals: Vec<_> = of_two.into_iter().map(|kept| kept.signal).collect();
    assert_eq!(signals, [next[2].clone(), next[1].clone()], "the latest first");
    assert_eq!(tx.open_signals(&[ONE, TWO, RiderId(3)]).await.unwrap(), [(ONE, 1), (TWO, 3)]);
    assert_eq!(tx.open_signals(&[]).await.unwrap(), []);

    let (id, by) = (of_one[0].id, StaffId(1));
    assert_eq!(tx.dismiss_signal(TWO, id, by, Timestamp(50)).await.unwrap(), 0, "not of hers");
    assert_eq!(tx.dismiss_signal(ONE, id, by, Timestamp(50)).await.unwrap(), 1);
    assert_eq!(tx.dismiss_signal(ONE, id, by, Timestamp(51)).await.unwrap(), 0);
    assert_eq!(tx.raise_signals(&[signal(ONE, SignalKind::Speed, 60)]).await.unwrap(), 1);
    let of_one = tx.signals_of(ONE, 9).await.unwrap();
    let dismissed: Vec<_> = of_one.iter().map(|kept| (kept.times, kept.dismissed)).collect();
    assert_eq!(dismissed, [(1, None), (2, Some((Timestamp(50), by)))]);

    // They hold places, and go with the rider.
    let shut = RiderChange { disabled: Some(true), ..RiderChange::default() };
    tx.change_rider(ONE, &shut).await.unwrap();
    assert_eq!(tx.erase_rider(ONE, NOON).await.unwrap(), 1);
    assert_eq!(tx.signals_of(ONE, 9).await.unwrap(), []);
});

for_each_database!(who_shares_a_telephone_is_found, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let seen =
        |device, rider, at| Sighting { device: DeviceMark(device), rider, at: Timestamp(at) };
    assert_eq!(tx.see_devices(&[]).await.unwrap(), 0);
    let first = [seen(7, ONE, 100), seen(8, TWO, 100), seen(7, RiderId(9_999), 100)];
    assert_eq!(tx.see_devices(&first).await.unwrap(), 2);
    assert_eq!(tx.sharers(&first[..2], 1_000).await.unwrap(), []);
    let next = [seen(7, TWO, 150), seen(8, TWO, 90), seen(7, RiderId(3), 160)];
    assert_eq!(tx.see_devices(&next).await.unwrap(), 2, "nobody is seen earlier");
    let sharers = |within_ms| {
        let next = &next;
        move |mut tx: dispatch_desk::store::Tx| async move {
            let found = tx.sharers(next, within_ms).await.unwrap();
            let found: Vec<_> =
                found.iter().map(|(one, other, at)| (one.0, other.0, at.0)).collect();
            (tx, found)
        }
    };
    let (tx, found) = sharers(1_000)(tx).await;
    assert_eq!(found, [(2, 1, 100), (2, 3, 160), (3, 1, 100), (3, 2, 150)]);
    let (mut tx, found) = sharers(50)(tx).await;
    assert_eq!(found, [(2, 1, 100), (2, 3, 160), (3, 2, 150)]);
    // What was seen long ago is forgotten, the oldest first and so much at once.
    assert_eq!(tx.prune_devices(Timestamp(150), 1).await.unwrap(), 1);
    assert_eq!(tx.prune_devices(Timestamp(150), 9).await.unwrap(), 1);
    assert_eq!(tx.prune_devices(Timestamp(150), 9).await.unwrap(), 0);
    let (_, found) = sharers(1_000)(tx).await;
    assert_eq!(found, [(2, 3, 160), (3, 2, 150)]);
});
