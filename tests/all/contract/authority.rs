//! Who may what, as it is kept: staff and riders with their revisions, second factors, failures to sign in, regions.

use dispatch_desk::{
    domain::{
        actor::{Actor, Role},
        admin::AdminSubject,
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, TaskId, Timestamp},
        policy::Policy,
        scope::{Actions, Scope},
    },
    store::{
        ApiToken, DeskRule, Failures, Link, LinkPurpose, RegionChange, RiderChange, StaffChange,
    },
};

use crate::harness::*;

for_each_database!(a_change_of_staff_names_the_revision_it_is_based_on, |desk| async move {
    let one = StaffId(1);
    let mut tx = desk.db.begin().await.unwrap();
    let before = tx.staff_record(one).await.unwrap().expect("D1 works here");
    let regions = [RegionId(1), RegionId(2)];
    let change =
        StaffChange { name: "李 'x'", role: Role::Admin, regions: &regions, disabled: true };
    assert_eq!(
        tx.change_staff(one, before.revision + 1, &change).await.unwrap(),
        0,
        "not there yet"
    );
    assert_eq!(tx.staff_record(one).await.unwrap().as_ref(), Some(&before), "nothing was done");
    assert_eq!(tx.change_staff(one, before.revision, &change).await.unwrap(), 1);
    assert_eq!(tx.change_staff(one, before.revision, &change).await.unwrap(), 0, "not twice");
    let after = tx.staff_record(one).await.unwrap().expect("D1 works here");
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!((after.account.name.as_str(), after.account.staff.role), ("李 'x'", Role::Admin));
    assert_eq!(
        (after.account.staff.regions, after.account.staff.disabled),
        (regions.to_vec(), true)
    );
    let none = StaffChange { regions: &[], disabled: false, ..change };
    assert_eq!(tx.change_staff(one, after.revision, &none).await.unwrap(), 1);
    let bare = tx.staff_record(one).await.unwrap().expect("D1 works here");
    assert_eq!(bare.account.staff.regions, []);
    assert_eq!(tx.staff_record(StaffId(99)).await.unwrap(), None);
});

for_each_database!(staff_are_listed_with_how_they_come_in, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert!(tx.has_staff().await.unwrap());
    tx.set_password(StaffId(2), "wang", "$argon2id$", NOON).await.unwrap();
    assert_eq!(
        tx.password_of(StaffId(2)).await.unwrap(),
        Some(("wang".to_owned(), "$argon2id$".to_owned()))
    );
    assert_eq!(tx.password_of(StaffId(1)).await.unwrap(), None);
    tx.add_session("s1", Some(&D2), "{}", "a browser", NOON.plus_ms(7)).await.unwrap();
    tx.put_factor(StaffId(2), "ABC", NOON).await.unwrap();
    tx.confirm_factor(StaffId(2), NOON.plus_ms(9), 3).await.unwrap();
    let all = tx.staff_after(StaffId(1), 1).await.unwrap();
    let [two] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((two.login.as_deref(), two.seen_at), (Some("wang"), Some(NOON.plus_ms(7))));
    assert_eq!((two.account.staff.id, two.factor_at), (StaffId(2), Some(NOON.plus_ms(9))));
    let everyone = tx.staff_after(StaffId(0), 100).await.unwrap();
    assert!(everyone.windows(2).all(|pair| pair[0].account.staff.id < pair[1].account.staff.id));
    let admins = tx.lock_admins().await.unwrap();
    assert_eq!(admins.iter().map(|id| Actor::Staff(*id)).collect::<Vec<_>>(), [ADMIN]);
    tx.disable_staff(admins[0], true).await.unwrap();
    assert_eq!(tx.lock_admins().await.unwrap(), []);
});

for_each_database!(a_change_of_a_rider_counts_their_revision_up, |desk| async move {
    let (one, region) = (RiderId(1), RegionId(1));
    let mut tx = desk.db.begin().await.unwrap();
    let before = tx.rider_record(one).await.unwrap().expect("R1 rides here");
    assert_eq!(tx.rider_revision(one).await.unwrap(), Some(before.revision));
    assert_eq!(tx.rider_revision(RiderId(9_999)).await.unwrap(), None);
    assert!(tx.rider_record(RiderId(9_999)).await.unwrap().is_none());
    let change = RiderChange {
        name: Some("赵 O'".to_owned()),
        phone: Some("13800000001".to_owned()),
        disabled: Some(true),
        ..RiderChange::default()
    };
    tx.change_rider(one, &change).await.unwrap();
    let after = tx.rider_record(one).await.unwrap().expect("R1 rides here");
    assert_eq!(after.revision, before.revision + 1);
    assert_eq!(
        (after.account.name.as_str(), after.account.phone.as_deref()),
        ("赵 O'", Some("13800000001"))
    );
    let gone = RiderChange { phone: Some(String::new()), ..RiderChange::default() };
    tx.change_rider(one, &gone).await.unwrap();
    let gone = tx.rider_record(one).await.unwrap().expect("R1 rides here");
    assert_eq!((gone.account.name.as_str(), gone.account.phone), ("赵 O'", None));
    // Whoever keeps riders sees those who are shut out, too.
    let kept = tx.riders_kept(&[region], RiderId(0), 2).await.unwrap();
    assert_eq!(kept.iter().map(|kept| kept.rider.id).collect::<Vec<_>>(), [one, RiderId(2)]);
    let open = tx.riders_of(&[region], RiderId(0), 1).await.unwrap();
    assert_eq!(open[0].rider.id, RiderId(2));
});

for_each_database!(a_number_signs_one_rider_in, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.set_rider_password(RiderId(1), "138", "$1", NOON).await.unwrap();
    tx.set_rider_password(RiderId(1), "139", "$2", NOON).await.unwrap();
    assert_eq!(tx.rider_password("138").await.unwrap(), None, "the new number takes its place");
    assert_eq!(tx.rider_password("139").await.unwrap(), Some((RiderId(1), "$2".to_owned())));
    assert_eq!(tx.forget_rider_password(RiderId(1)).await.unwrap(), 1);
    assert_eq!(tx.forget_rider_password(RiderId(1)).await.unwrap(), 0);
    tx.set_rider_password(RiderId(1), "139", "$2", NOON).await.unwrap();
    tx.commit().await.unwrap();
    let mut tx = desk.db.begin().await.unwrap();
    let taken = tx.set_rider_password(RiderId(2), "139", "$3", NOON).await;
    assert!(matches!(taken, Err(dispatch_desk::store::Error::Moved(_))), "{taken:?}");
});

for_each_database!(a_code_is_good_once_and_never_after_a_later_one, |desk| async move {
    let one = StaffId(1);
    let mut tx = desk.db.begin().await.unwrap();
    assert!(tx.factor(one).await.unwrap().is_none());
    assert_eq!(tx.confirm_factor(one, NOON, 5).await.unwrap(), 0, "there is none");
    tx.put_factor(one, "OLD", NOON).await.unwrap();
    tx.put_factor(one, "NEW", NOON).await.unwrap();
    assert_eq!(tx.use_step(one, 6).await.unwrap(), 0, "it does not count yet");
    assert_eq!(tx.confirm_factor(one, NOON, 5).await.unwrap(), 1);
    assert_eq!(tx.confirm_factor(one, NOON, 7).await.unwrap(), 0, "it counts already");
    let factor = tx.factor(one).await.unwrap().expect("there is one");
    assert_eq!(
        (factor.secret.as_str(), factor.confirmed_at, factor.last_step),
        ("NEW", Some(NOON), 5)
    );
    let used: Vec<u64> = {
        let mut used = Vec::new();
        for step in [5, 6, 6, 4, 8, 7] {
            used.push(tx.use_step(one, step).await.unwrap());
        }
        used
    };
    assert_eq!(used, [0, 1, 0, 0, 1, 0]);
    let codes = |of: [&str; 2]| of.map(str::to_owned);
    tx.put_codes(one, &codes(["a", "b"])).await.unwrap();
    tx.put_codes(one, &codes(["c", "d"])).await.unwrap();
    assert_eq!(tx.use_code(one, "a", NOON).await.unwrap(), 0, "new ones took their place");
    assert_eq!(tx.use_code(one, "c", NOON).await.unwrap(), 1);
    assert_eq!(tx.use_code(one, "c", NOON).await.unwrap(), 0, "once");
    assert_eq!(tx.use_code(StaffId(2), "d", NOON).await.unwrap(), 0, "somebody else's");
    assert_eq!(tx.codes_left(one).await.unwrap(), 1);
    assert_eq!(tx.remove_factor(one).await.unwrap(), 1);
    assert_eq!(tx.remove_factor(one).await.unwrap(), 0);
    assert_eq!(tx.codes_left(one).await.unwrap(), 0);
});

for_each_database!(what_holds_for_the_desk_is_changed_by_whoever_saw_it, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let first = tx.desk_rule().await.unwrap();
    assert_eq!(first, DeskRule { factor_required: false, revision: 1 });
    assert_eq!(tx.set_desk_rule(2, true).await.unwrap(), 0);
    assert_eq!(tx.set_desk_rule(1, true).await.unwrap(), 1);
    assert_eq!(tx.set_desk_rule(1, false).await.unwrap(), 0);
    assert_eq!(tx.desk_rule().await.unwrap(), DeskRule { factor_required: true, revision: 2 });
});

for_each_database!(failures_count_until_they_are_forgotten, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    assert_eq!(tx.failures("b").await.unwrap(), Failures::default());
    for at in [1, 2, 3] {
        tx.note_failure("b", NOON.plus_ms(at), NOON).await.unwrap();
    }
    let three = Failures { count: 3, since: NOON.plus_ms(1), last_at: NOON.plus_ms(3) };
    assert_eq!(tx.failures("b").await.unwrap(), three);
    // The last of them is too long ago: they begin anew.
    tx.note_failure("b", NOON.plus_ms(99), NOON.plus_ms(4)).await.unwrap();
    let one = Failures { count: 1, since: NOON.plus_ms(99), last_at: NOON.plus_ms(99) };
    assert_eq!(tx.failures("b").await.unwrap(), one);
    // Whoever looks first holds it; that counts nothing.
    tx.hold_bucket("b", NOON).await.unwrap();
    assert_eq!(tx.failures("b").await.unwrap(), one);
    tx.hold_bucket("c", NOON).await.unwrap();
    let none = Failures { count: 0, since: NOON, last_at: NOON };
    assert_eq!(tx.failures("c").await.unwrap(), none);
    tx.note_failure("c", NOON, NOON).await.unwrap();
    assert_eq!(tx.prune_failures(NOON.plus_ms(50), 10).await.unwrap(), 1);
    assert_eq!(tx.failures("c").await.unwrap(), Failures::default());
    assert_eq!(tx.forget_failures("b").await.unwrap(), 1);
    assert_eq!(tx.forget_failures("b").await.unwrap(), 0);
});

for_each_database!(a_region_is_changed_by_whoever_saw_it, |desk| async move {
    let one = RegionId(1);
    let centre = Place { lat: 31.25, lng: 121.5 };
    let area =
        Area::Polygon(vec![centre, Place { lat: 31.5, ..centre }, Place { lng: 121.75, ..centre }]);
    let change = RegionChange {
        name: "新区",
        time_zone: chrono_tz::Asia::Urumqi,
        area: &area,
        retention_days: Some(30),
    };
    let mut tx = desk.db.begin().await.unwrap();
    let before = tx.region_record(one).await.unwrap().expect("it is there");
    assert_eq!(tx.change_region(one, before.revision + 1, &change).await.unwrap(), 0);
    assert_eq!(tx.change_region(one, before.revision, &change).await.unwrap(), 1);
    let after = tx.region_record(one).await.unwrap().expect("it is there");
    assert_eq!((after.name.as_str(), after.retention_days), ("新区", Some(30)));
    assert_eq!((after.region.time_zone, after.region.area), (chrono_tz::Asia::Urumqi, area));
    assert_eq!(after.revision, before.revision + 1);
    assert!(tx.region_record(RegionId(99)).await.unwrap().is_none());
    let last = tx.policies_of(one, 1).await.unwrap().remove(0);
    let next =
        Policy { version: last.policy.version + 1, offer_seconds: 45, ..last.policy.clone() };
    tx.add_policy(one, NOON, &next).await.unwrap();
    let versions = tx.policies_of(one, 2).await.unwrap();
    assert_eq!((versions[0].starts_at, &versions[0].policy), (NOON, &next));
    assert_eq!(versions[1], last, "the version before stays as it was");
    tx.add_staff_region(StaffId(1), RegionId(2)).await.unwrap();
    let reaches = tx.staff_record(StaffId(1)).await.unwrap().expect("D1 works here");
    assert!(reaches.account.staff.regions.contains(&RegionId(2)));
});

for_each_database!(tokens_links_and_sessions_of_somebody, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let scope = Scope {
        actions: Actions::parse("create,cancel").expect("two verbs"),
        regions: Some(vec![RegionId(1), RegionId(2)]),
    };
    let token = ApiToken {
        scope,
        expires_at: Some(NOON.plus_ms(10)),
        ..ApiToken::new("a1", "x", "till", &shop(), NOON)
    };
    tx.add_token(&token).await.unwrap();
    assert_eq!(tx.token("a1", NOON.plus_ms(9)).await.unwrap().as_ref(), Some(&token));
    assert_eq!(tx.token("a1", NOON.plus_ms(10)).await.unwrap(), None, "at its end it is over");
    assert_eq!(tx.token_used("a1", NOON).await.unwrap(), 1);
    assert_eq!(tx.token_used("a1", NOON.plus_ms(60_000)).await.unwrap(), 0, "once a minute");
    assert_eq!(tx.token_used("a1", NOON.plus_ms(60_001)).await.unwrap(), 1);
    let listed = tx.tokens(9).await.unwrap();
    assert_eq!(listed[0].used_at, Some(NOON.plus_ms(60_001)));

    let set = Link { actor: D1, purpose: LinkPurpose::Password };
    let until = NOON.plus_ms(9);
    tx.add_link("p1", &set, NOON, until, 1).await.unwrap();
    tx.add_link("p2", &Link { actor: D2, ..set.clone() }, NOON, until, 1).await.unwrap();
    assert_eq!(tx.use_link("p1", LinkPurpose::Enter, NOON).await.unwrap(), None, "another purpose");
    assert_eq!(tx.link("p1", NOON).await.unwrap(), Some(set));
    assert_eq!(tx.end_links_of(&D1).await.unwrap(), 1);
    assert_eq!(tx.use_link("p1", LinkPurpose::Password, NOON).await.unwrap(), None);
    assert_eq!(tx.use_link("p2", LinkPurpose::Password, NOON).await.unwrap(), Some(D2));

    for (hash, owner, at) in [("s1", &D1, 1), ("s2", &D1, 3), ("s3", &D1, 2), ("s4", &D2, 4)] {
        tx.add_session(hash, Some(owner), "{}", "a browser", Timestamp(at)).await.unwrap();
    }
    let mine = tx.sessions_of(&D1, 2).await.unwrap();
    assert_eq!(mine.iter().map(|mine| mine.hash.as_str()).collect::<Vec<_>>(), ["s2", "s3"]);
    assert_eq!(mine[0].device, "a browser");
    assert_eq!(tx.end_session_of(&D1, "s4").await.unwrap(), 0, "somebody else's");
    assert_eq!(tx.end_session_of(&D1, "s1").await.unwrap(), 1);
    assert_eq!(tx.end_others_of(&D1, "s2").await.unwrap(), 1);
    assert_eq!(tx.sessions_of(&D1, 9).await.unwrap().len(), 1);
    let one = AdminSubject::Staff(StaffId(1));
    assert!(
        tx.changes_of(one, 5).await.unwrap().is_empty(),
        "nobody changed anything by the office"
    );
});

for_each_database!(
    what_was_done_to_a_thing_is_not_crowded_out_by_what_has_its_number,
    |desk| async move {
        let event = |number: i64, kind: &str, of: &str| {
            format!(
                "({number}, 'e{number}', '{kind}', 7, 1, 'x', 'system', 0, 1, '{{\"of\":\"{of}\"}}')"
            )
        };
        let mut rows =
            vec![event(1, "admin", "staff"), event(2, "admin", "task"), event(3, "policy", "")];
        rows.extend((4..20).map(|number| event(number, "rider", "")));
        let sql = format!(
            "INSERT INTO dispatch_event (number, event_id, kind, subject, region_id, action, actor_kind, occurred_at, \
         detail_version, detail) VALUES {}",
            rows.join(", ")
        );
        desk.sql(&sql, &sql).await;
        let mut tx = desk.read().await;
        for (of, found) in [
            (AdminSubject::Staff(StaffId(7)), vec![1]),
            (AdminSubject::Task(TaskId(7)), vec![2]),
            (AdminSubject::Region(RegionId(7)), vec![3]),
            (AdminSubject::Rider(RiderId(7)), vec![19, 18]),
            (AdminSubject::Staff(StaffId(8)), vec![]),
        ] {
            let changes = tx.changes_of(of, 2).await.unwrap();
            let numbers: Vec<_> = changes.iter().map(|event| event.number).collect();
            assert_eq!(numbers, found, "{of:?}");
        }
    }
);

for_each_database!(a_new_region_becomes_one_of_those_who_have_all_others, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_staff(StaffId(70), "all", Role::Auditor, &[NORTH, SOUTH]).await.unwrap();
    tx.add_staff(StaffId(71), "none", Role::Admin, &[]).await.unwrap();
    tx.add_staff(StaffId(72), "at work", Role::Dispatcher, &[NORTH, SOUTH]).await.unwrap();
    let area = Area::Circle { centre: Place { lat: 31.0, lng: 121.0 }, radius_m: 10.0 };
    tx.add_region(RegionId(7), "east", chrono_tz::UTC, &area).await.unwrap();
    assert_eq!(tx.add_region_to_those_with_all(RegionId(7)).await.unwrap(), 1);
    assert_eq!(tx.add_region_to_those_with_all(RegionId(7)).await.unwrap(), 0);
    let regions = tx.staff_account(StaffId(70)).await.unwrap().unwrap().staff.regions;
    assert_eq!(regions, [NORTH, SOUTH, RegionId(7)]);
});
