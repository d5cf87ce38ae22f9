//! A task's row is whole: state, rider, place, stage, mode and deadline fit together, or the row is refused.

use dispatch_desk::store::Error;

use super::{
    raw::Raw,
    rows::{TASK, insert},
};
use crate::harness::*;

/// Whether a task may have this combination, by the rules and not by the constraint's own text.
fn is_whole(name: &str, rider: &str, slot: &str, stage: &str, mode: &str, until: &str) -> bool {
    let slot_fits = ["NULL", "0", "-1"].contains(&slot);
    let none = |value: &str| value == "NULL";
    let mode_fits = mode == "'direct'";
    slot_fits
        && match name {
            "'open'" | "'cancelled'" => [rider, slot, stage, mode, until].into_iter().all(none),
            "'offered'" => !none(rider) && !none(slot) && none(stage) && none(mode) && !none(until),
            "'assigned'" if stage == "'delivered'" => {
                !none(rider) && none(slot) && mode_fits && none(until)
            }
            "'assigned'" => {
                !none(rider)
                    && !none(slot)
                    && ["'waiting'", "'picked_up'"].contains(&stage)
                    && mode_fits
                    && none(until)
            }
            _ => false,
        }
}

for_each_database!(a_task_row_is_whole_or_refused, |desk| async move {
    let raw = Raw::of(&desk).await;
    let (mut taken, mut refused) = (0, 0);
    for state in ["'open'", "'offered'", "'assigned'", "'cancelled'", "'bogus'", "NULL"] {
        for rider in ["NULL", "1"] {
            // -1 is the parking place of task 1; -2 is nobody's here.
            for slot in ["NULL", "0", "-1", "-2"] {
                for stage in ["NULL", "'waiting'", "'picked_up'", "'delivered'", "'bogus'"] {
                    for mode in ["NULL", "'direct'", "'bogus'"] {
                        for until in ["NULL", "9"] {
                            let row = [
                                ("state", state),
                                ("rider_id", rider),
                                ("rider_slot", slot),
                                ("stage", stage),
                                ("mode", mode),
                                ("offer_until", until),
                            ];
                            let came = raw.run(&insert("task", TASK, &row)).await;
                            if is_whole(state, rider, slot, stage, mode, until) {
                                assert!(came.is_ok(), "{row:?}: {came:?}");
                                raw.run("DELETE FROM task").await.unwrap();
                                taken += 1;
                            } else {
                                assert!(
                                    matches!(came, Err(Error::Rejected(_))),
                                    "{row:?}: {came:?}"
                                );
                                refused += 1;
                            }
                        }
                    }
                }
            }
        }
    }
    // open, cancelled; offered at a place or parked; assigned at a place or parked in two stages; delivered.
    assert_eq!((taken, refused), (9, 1_431));
});
