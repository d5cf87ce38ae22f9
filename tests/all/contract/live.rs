//! Live readers: whether they may still read, and whom events concern.

use dispatch_desk::{
    domain::{
        command::{Act, Role, Verb},
        id::{Revision, RiderId, StaffId, TaskId},
    },
    store::{ApiToken, Around, AskedIn, Before, OpenSession, RiderChange, Round},
};

use crate::harness::*;

for_each_database!(
    sessions_and_tokens_that_live_are_found_by_what_is_kept_of_them,
    |desk| async move {
        let mut tx = desk.db.begin().await.unwrap();
        tx.add_session("mine", Some(&D1), "{}", "phone", NOON).await.unwrap();
        tx.add_session("nobodys", None, "{}", "phone", NOON).await.unwrap();
        tx.save_session("mine", Some(&D1), ("{}", 0), "phone", NOON.plus_ms(5)).await.unwrap();
        let token = |id: &str| ApiToken::new(id, "secret", "a test", &D2, NOON);
        let over = ApiToken { expires_at: Some(NOON.plus_ms(10)), ..token("over") };
        for token in [&token("good"), &token("ended"), &over] {
            tx.add_token(token).await.unwrap();
        }
        tx.revoke_token("ended", NOON).await.unwrap();
        let found = tx.sessions_alive(&["mine", "nobodys", "unknown"]).await.unwrap();
        let mine = OpenSession {
            hash: "mine".to_owned(),
            owner: D1,
            created_at: NOON,
            seen_at: NOON.plus_ms(5),
        };
        assert_eq!(found, [mine]);
        let ids = ["good", "ended", "over", "unknown"];
        let mut before = tx.tokens_alive(&ids, NOON.plus_ms(9)).await.unwrap();
        before.sort_by(|one, other| one.id.cmp(&other.id));
        assert_eq!(before, [token("good"), over]);
        assert_eq!(tx.tokens_alive(&ids, NOON.plus_ms(10)).await.unwrap(), [token("good")]);
        assert!(tx.sessions_alive(&[]).await.unwrap().is_empty());
        assert!(tx.tokens_alive(&[], NOON).await.unwrap().is_empty());
    }
);

for_each_database!(people_who_may_read_are_found_with_their_places, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(70), "both", Role::Supervisor, &[SOUTH, NORTH]).await.unwrap();
    tx.add_staff(StaffId(71), "shut", Role::Dispatcher, &[NORTH]).await.unwrap();
    tx.disable_staff(StaffId(71), true).await.unwrap();
    let shut = RiderChange { disabled: Some(true), ..RiderChange::default() };
    tx.change_rider(RiderId(2), &shut).await.unwrap();
    let staff = tx.staff_alive(&[StaffId(70), StaffId(71), StaffId(99)]).await.unwrap();
    assert_eq!(staff.len(), 1);
    assert_eq!((staff[0].id, staff[0].role), (StaffId(70), Role::Supervisor));
    assert_eq!(staff[0].regions, [NORTH, SOUTH], "in order");
    let mut riders = tx
        .riders_alive(&[RiderId(1), RiderId(2), RiderId(FOREIGN_RIDER), RiderId(9_999)])
        .await
        .unwrap();
    riders.sort();
    assert_eq!(riders, [(RiderId(1), NORTH), (RiderId(FOREIGN_RIDER), SOUTH)]);
});

for_each_database!(a_customers_link_leads_to_its_task, |desk| async move {
    let (task, other) = (desk.create().await, desk.create().await);
    let mut tx = desk.read().await;
    let token = tx.card(task).await.unwrap().unwrap().detail.tracking_token.unwrap();
    let found = tx.tracked(&[&token, "nobody"]).await.unwrap();
    assert_eq!(found, [(token, task)]);
    assert_ne!(task, other);
});

for_each_database!(
    whom_an_event_concerned_is_found_by_the_revision_that_it_made,
    |desk| async move {
        assert_eq!(desk.read().await.first_event().await.unwrap(), None);
        let task = desk.create().await;
        desk.done(D1, task, 1, offer(1)).await;
        desk.done(rider(1), task, 2, Act::Accept).await;
        let other = desk.create().await;
        let mut tx = desk.read().await;
        let first = tx.first_event().await.unwrap().unwrap();
        assert_eq!(first, (1, desk.events(task).await[0].event_id.clone()));
        let of = |revision: i64, action| Before {
            task,
            revision: Revision(revision),
            action,
            rider: RiderId(1),
        };
        let asked: Vec<_> = [(task, 1), (task, 2), (task, 3), (task, 4), (other, 1)]
            .map(|(task, revision)| (task, Revision(revision)))
            .to_vec();
        let mut made = tx.made(&asked).await.unwrap();
        made.sort_by_key(|made| made.revision.0);
        assert_eq!(made, [of(2, Verb::Offer), of(3, Verb::Accept)]);
        let tasks = [task, other, TaskId(99_999)];
        assert_eq!(tx.holders(&tasks).await.unwrap(), [(task, RiderId(1))]);
    }
);

for_each_database!(who_was_asked_in_a_round_is_found_whatever_became_of_it, |desk| async move {
    let (task, other) = (desk.create().await, desk.create().await);
    let mut tx = desk.db.begin().await.unwrap();
    a_round(&mut tx, 7, task, (NOON, NOON.plus_ms(1_000)), &[(1, "a"), (2, "b")]).await;
    tx.commit().await.unwrap();
    let at = |ms: i64| NOON.plus_ms(ms);
    let asked =
        |rider, ms| AskedIn { task, round: 7, rider: RiderId(rider), sent_at: NOON.plus_ms(ms) };
    let mut tx = desk.read().await;
    assert_eq!(tx.asked(&[task, other]).await.unwrap(), [asked(1, 0), asked(2, 0)]);
    let around = |ms, before, after| Around { task, at: NOON.plus_ms(ms), before, after };
    let found = tx.in_round(&[(task, at(0)), (other, at(0)), (task, at(5_000))]).await.unwrap();
    assert_eq!(found, [around(0, false, true), around(5_000, true, true)]);
    assert_eq!(tx.in_round(&[(task, at(-1))]).await.unwrap(), [], "it has not begun");
    drop(tx);
    let left_out = "UPDATE round_candidate SET nonce = NULL, rank = NULL, sent_at = NULL, until = NULL, \
                    excluded_reason = 'paused' WHERE rider_id = 2; \
                    UPDATE round_candidate SET sent_at = sent_at + 300 WHERE rider_id = 1; \
                    UPDATE round SET status = 'exhausted', ended_at = until";
    desk.sql(left_out, left_out).await;
    let mut tx = desk.read().await;
    assert_eq!(tx.asked(&[task, other]).await.unwrap(), [asked(1, 300)]);
    let found = tx.in_round(&[(task, at(1_000)), (task, at(1_001))]).await.unwrap();
    assert_eq!(found, [around(1_000, true, false)]);
    drop(tx);
    // The next one begins where this one ends: nothing is different for anybody else.
    let mut tx = desk.db.begin().await.unwrap();
    let next = Round { step: 2, ..round(8, task, at(1_000), at(2_000)) };
    tx.insert_round(&next, &members(&next, &[(1, "c")])).await.unwrap();
    assert_eq!(tx.in_round(&[(task, at(1_000))]).await.unwrap(), [around(1_000, true, true)]);
});

for_each_database!(a_hint_reaches_whoever_listens, |desk| async move {
    let hints = desk.db.hints().await.unwrap();
    assert_eq!(hints.is_some(), desk.database == Database::Postgres);
    desk.db.hint().await.unwrap();
    if let Some(mut hints) = hints {
        hints.next().await.unwrap();
    }
});
