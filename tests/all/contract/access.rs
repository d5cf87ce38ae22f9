//! Tokens of scripts, passwords and links of people, sessions of browsers.

use std::time::Duration;

use dispatch_desk::{
    domain::{
        command::Actor,
        id::{StaffId, Timestamp},
    },
    store::{ApiToken, Error, Link, LinkPurpose, WebSession},
};

use super::raw::Raw;
use crate::harness::*;

fn of(id: &str, hash: &str, label: &str, actor: &Actor) -> ApiToken {
    ApiToken { secret_hash: hash.to_owned(), ..ApiToken::new(id, "", label, actor, NOON) }
}

fn enter(actor: &Actor) -> Link {
    Link { actor: actor.clone(), purpose: LinkPurpose::Enter }
}

for_each_database!(whoever_has_a_token_has_it_until_it_is_ended, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let taxi = Actor::Intake("taxi".to_owned());
    assert_eq!(tx.tokens_of(&taxi, NOON).await.unwrap(), []);
    let token = ApiToken::new("t1", "x", "a shop", &taxi, NOON);
    let token = ApiToken { expires_at: Some(NOON.plus_ms(9)), ..token };
    tx.add_token(&token).await.unwrap();
    assert_eq!(tx.tokens_of(&taxi, NOON).await.unwrap(), [token]);
    assert_eq!(tx.tokens_of(&taxi, NOON.plus_ms(9)).await.unwrap(), [], "it is over");
    assert_eq!(tx.tokens_of(&Actor::Intake("tax".to_owned()), NOON).await.unwrap(), []);
    assert_eq!(tx.tokens_of(&D1, NOON).await.unwrap(), []);
    tx.revoke_token("t1", NOON).await.unwrap();
    assert_eq!(tx.tokens_of(&taxi, NOON).await.unwrap(), []);
});

for_each_database!(a_token_speaks_for_its_actor_until_it_is_revoked, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_token(&of("a1", "h1", "till 令牌", &shop())).await.unwrap();
    tx.add_token(&of("a2", "h2", "", &rider(i64::MAX))).await.unwrap();
    tx.add_token(&of("a3", "h1", "", &D1)).await.unwrap();
    assert_eq!(tx.token("a1", NOON).await.unwrap(), Some(of("a1", "h1", "till 令牌", &shop())));
    assert_eq!(tx.token("a2", NOON).await.unwrap(), Some(of("a2", "h2", "", &rider(i64::MAX))));
    assert_eq!(tx.token("a3", NOON).await.unwrap(), Some(of("a3", "h1", "", &D1)));
    for nobody in ["a4", "A1", "a1 ", "", "h1"] {
        assert_eq!(tx.token(nobody, NOON).await.unwrap(), None, "{nobody:?}");
    }
    assert_eq!(tx.revoke_token("a1", NOON).await.unwrap(), 1);
    assert_eq!(tx.revoke_token("a1", NOON.plus_ms(1)).await.unwrap(), 0, "it has ended already");
    assert_eq!(tx.revoke_token("a4", NOON).await.unwrap(), 0);
    assert_eq!(tx.token("a1", NOON).await.unwrap(), None);
    assert_eq!(
        tx.token("a3", NOON).await.unwrap(),
        Some(of("a3", "h1", "", &D1)),
        "the others speak on"
    );
    tx.commit().await.unwrap();
    let raw = Raw::of(&desk).await;
    assert_eq!(raw.number("SELECT revoked_at FROM api_token WHERE id = 'a1'").await, NOON.0);

    // Not even a revoked one's name is given out again.
    let mut tx = desk.db.begin().await.unwrap();
    let twice = tx.add_token(&of("a1", "h9", "", &D2)).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "{twice:?}");
});

for_each_database!(nobody_comes_in_as_the_system, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let token = tx.add_token(&of("a1", "h1", "", &Actor::System)).await;
    assert!(matches!(token, Err(Error::Rejected(_))), "{token:?}");
    drop(tx);
    let mut tx = desk.db.begin().await.unwrap();
    let link = tx.add_link("l1", &enter(&Actor::System), NOON, NOON.plus_ms(9), 1).await;
    assert!(matches!(link, Err(Error::Rejected(_))), "{link:?}");
    drop(tx);
    let mut tx = desk.db.begin().await.unwrap();
    let session = tx.add_session("s1", Some(&Actor::System), "{}", "", NOON).await;
    assert!(matches!(session, Err(Error::Rejected(_))), "{session:?}");
});

for_each_database!(an_owner_that_means_nobody_is_named, |desk| async move {
    let raw = Raw::of(&desk).await;
    raw.run(
        "INSERT INTO api_token (id, secret_hash, label, actor_kind, actor_id, created_at) \
         VALUES ('a1', 'h', '', 'rider', 'x', 0)",
    )
    .await
    .unwrap();
    let found = desk.read().await.token("a1", NOON).await.expect_err("no rider has that number");
    assert_eq!(found.to_string(), "api_token row a1: actor_kind holds \"rider\"");
});

for_each_database!(a_password_belongs_to_one_name_and_one_member_of_staff, |desk| async move {
    let (one, two) = (StaffId(1), StaffId(2));
    let mut tx = desk.db.begin().await.unwrap();
    tx.set_password(one, "王", "$argon2id$1", NOON).await.unwrap();
    tx.set_password(two, "Wang", "$argon2id$2", NOON).await.unwrap();
    assert_eq!(tx.password("王").await.unwrap(), Some((one, "$argon2id$1".into())));
    assert_eq!(tx.password("wang").await.unwrap(), None, "as it was written");
    assert_eq!(tx.password("").await.unwrap(), None);
    // A new password and a new name take the place of the old ones.
    tx.set_password(one, "王", "$argon2id$3", NOON).await.unwrap();
    assert_eq!(tx.password("王").await.unwrap(), Some((one, "$argon2id$3".into())));
    tx.set_password(one, "wang", "$argon2id$4", NOON).await.unwrap();
    assert_eq!(tx.password("王").await.unwrap(), None);
    assert_eq!(tx.password("wang").await.unwrap(), Some((one, "$argon2id$4".into())));
    tx.commit().await.unwrap();

    let mut tx = desk.db.begin().await.unwrap();
    let taken = tx.set_password(one, "Wang", "$argon2id$5", NOON).await;
    assert!(matches!(taken, Err(Error::Moved(_))), "{taken:?}");
    drop(tx);
    let mut tx = desk.db.begin().await.unwrap();
    let unknown = tx.set_password(StaffId(99), "ghost", "x", NOON).await;
    assert!(matches!(unknown, Err(Error::Rejected(_))), "{unknown:?}");
    drop(tx);
    let mut tx = desk.read().await;
    assert_eq!(tx.password("Wang").await.unwrap(), Some((two, "$argon2id$2".into())));
    assert_eq!(tx.password("wang").await.unwrap(), Some((one, "$argon2id$4".into())));
});

for_each_database!(a_link_signs_in_as_often_as_it_says_and_until_it_is_over, |desk| async move {
    let until = NOON.plus_ms(600);
    let last = until.plus_ms(-1);
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_link("l1", &enter(&rider(7)), NOON, until, 2).await.unwrap();
    tx.add_link("l2", &enter(&D1), NOON, until, 0).await.unwrap();
    tx.add_link("l3", &enter(&D1), NOON, until, u32::MAX).await.unwrap();
    assert_eq!(tx.link("l1", last).await.unwrap(), Some(enter(&rider(7))));
    assert_eq!(
        tx.link("l1", last).await.unwrap(),
        Some(enter(&rider(7))),
        "looking uses nothing up"
    );
    assert_eq!(tx.link("l1", until).await.unwrap(), None, "at its end it is over");
    assert_eq!(tx.use_link("l1", LinkPurpose::Enter, until).await.unwrap(), None);
    assert_eq!(tx.use_link("l1", LinkPurpose::Enter, last).await.unwrap(), Some(rider(7)));
    assert_eq!(tx.use_link("l1", LinkPurpose::Enter, NOON).await.unwrap(), Some(rider(7)));
    assert_eq!(tx.use_link("l1", LinkPurpose::Enter, NOON).await.unwrap(), None, "used up");
    assert_eq!(tx.link("l1", NOON).await.unwrap(), None);
    assert_eq!(tx.use_link("l2", LinkPurpose::Enter, NOON).await.unwrap(), None);
    assert_eq!(tx.use_link("l3", LinkPurpose::Enter, NOON).await.unwrap(), Some(D1));
    assert_eq!(tx.use_link("l4", LinkPurpose::Enter, NOON).await.unwrap(), None);
    tx.commit().await.unwrap();
    let left = Raw::of(&desk)
        .await
        .texts("SELECT CAST(uses_left AS text) FROM sign_in_link ORDER BY hash")
        .await;
    assert_eq!(left, ["0", "0", "4294967294"]);

    let mut tx = desk.db.begin().await.unwrap();
    let twice = tx.add_link("l1", &enter(&D1), NOON, until, 1).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "{twice:?}");
});

for_each_database!(of_those_who_follow_a_link_at_once_one_gets_in, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_link("l1", &enter(&rider(7)), NOON, NOON.plus_ms(600), 1).await.unwrap();
    tx.commit().await.unwrap();
    let barrier = tokio::sync::Barrier::new(8);
    let follow = || async {
        barrier.wait().await;
        let mut tx = desk.db.begin().await.unwrap();
        let came = tx.use_link("l1", LinkPurpose::Enter, NOON).await.unwrap();
        tx.commit().await.unwrap();
        came
    };
    let came = futures_util::future::join_all((0..8).map(|_| follow())).await;
    let came: Vec<_> = came.into_iter().flatten().collect();
    assert_eq!(came, [rider(7)]);
});

// The second has seen the link unused, and waits for the first one's row: PostgreSQL alone lets it get that far.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_being_used_lets_nobody_else_in_on_postgres() {
    let desk = Desk::open(Database::Postgres).await;
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_link("l1", &enter(&rider(7)), NOON, NOON.plus_ms(600), 1).await.unwrap();
    tx.commit().await.unwrap();
    let (mut one, mut two) = (desk.db.begin().await.unwrap(), desk.db.begin().await.unwrap());
    assert_eq!(two.link("l1", NOON).await.unwrap(), Some(enter(&rider(7))));
    assert_eq!(one.use_link("l1", LinkPurpose::Enter, NOON).await.unwrap(), Some(rider(7)));
    let second = async { two.use_link("l1", LinkPurpose::Enter, NOON).await.unwrap() };
    let first = async { one.commit().await.unwrap() };
    assert_eq!(tokio::join!(second, first), (None, ()));
}

fn session(owner: Option<Actor>, data: &str, seen_ms: i64) -> WebSession {
    WebSession {
        hash: if data.is_empty() { "s2" } else { "s1" }.to_owned(),
        owner,
        data: data.to_owned(),
        created_at: NOON,
        seen_at: NOON.plus_ms(seen_ms),
        device: String::new(),
        erasures: 0,
    }
}

for_each_database!(a_session_is_kept_as_saved_and_an_ended_one_stays_ended, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_session("s1", None, r#"{"csrf":"é'\""}"#, "", NOON).await.unwrap();
    assert_eq!(tx.session("s1").await.unwrap(), Some(session(None, r#"{"csrf":"é'\""}"#, 0)));
    assert_eq!(tx.session("s2").await.unwrap(), None);
    let saved = tx.save_session("s1", Some(&D1), ("{}", 0), "", NOON.plus_ms(5)).await.unwrap();
    assert_eq!(saved, 1);
    assert_eq!(tx.session("s1").await.unwrap(), Some(session(Some(D1), "{}", 5)));
    assert_eq!(tx.save_session("s1", None, ("[]", 0), "", NOON.plus_ms(6)).await.unwrap(), 1);
    assert_eq!(tx.session("s1").await.unwrap(), Some(session(None, "[]", 6)), "signed out");
    assert_eq!(tx.end_session("s1").await.unwrap(), 1);
    assert_eq!(tx.end_session("s1").await.unwrap(), 0);
    assert_eq!(tx.save_session("s1", Some(&D1), ("{}", 0), "", NOON.plus_ms(7)).await.unwrap(), 0);
    assert_eq!(tx.session("s1").await.unwrap(), None);
    tx.add_session("s2", Some(&rider(7)), "", "", NOON).await.unwrap();
    assert_eq!(tx.session("s2").await.unwrap(), Some(session(Some(rider(7)), "", 0)));
    let twice = tx.add_session("s2", None, "{}", "", NOON).await;
    assert!(matches!(twice, Err(Error::Moved(_))), "{twice:?}");
});

for_each_database!(all_sessions_of_one_owner_end_and_no_others, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    let owners = [Some(D1), Some(rider(1)), None, Some(D1), Some(D2), Some(rider(11))];
    for (number, owner) in (1..).zip(&owners) {
        tx.add_session(&format!("s{number}"), owner.as_ref(), "{}", "", NOON).await.unwrap();
    }
    assert_eq!(tx.end_sessions_of(&D1).await.unwrap(), 2);
    assert_eq!(tx.end_sessions_of(&D1).await.unwrap(), 0);
    assert_eq!(tx.end_sessions_of(&rider(12)).await.unwrap(), 0);
    tx.commit().await.unwrap();
    let left = Raw::of(&desk).await.texts("SELECT hash FROM web_session ORDER BY hash").await;
    assert_eq!(left, ["s2", "s3", "s5", "s6"], "D1's number is R1's number too");
});

for_each_database!(only_what_is_old_is_pruned_and_not_too_much_at_once, |desk| async move {
    let mut tx = desk.db.begin().await.unwrap();
    for at in 0..6 {
        tx.add_session(&format!("s{at}"), None, "{}", "", Timestamp(at)).await.unwrap();
        tx.add_link(&format!("l{at}"), &enter(&D1), Timestamp(0), Timestamp(10 + at), 1)
            .await
            .unwrap();
    }
    // Seen lately, whenever it was begun.
    tx.save_session("s0", None, ("{}", 0), "", Timestamp(9)).await.unwrap();
    let mut pruned = Vec::new();
    for (before, now, limit) in
        [(0, 10, 9), (4, 10, 2), (4, 10, 2), (4, 10, 2), (4, 13, 2), (4, 13, 0), (4, 13, 2)]
    {
        pruned.push(tx.prune_access(Timestamp(before), Timestamp(now), limit).await.unwrap());
    }
    assert_eq!(pruned, [0, 2, 1, 0, 2, 0, 1]);
    tx.commit().await.unwrap();
    let raw = Raw::of(&desk).await;
    let left = raw.texts("SELECT hash FROM web_session ORDER BY hash").await;
    assert_eq!(left, ["s0", "s4", "s5"]);
    assert_eq!(raw.texts("SELECT hash FROM sign_in_link ORDER BY hash").await, ["l3", "l4", "l5"]);
});

// The pruning has found the session old, and waits for the one who saves it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_saved_meanwhile_is_not_pruned_on_postgres() {
    let desk = Desk::open(Database::Postgres).await;
    let mut tx = desk.db.begin().await.unwrap();
    tx.add_session("s1", Some(&D1), "{}", "", Timestamp(1)).await.unwrap();
    tx.commit().await.unwrap();
    let (mut one, mut two) = (desk.db.begin().await.unwrap(), desk.db.begin().await.unwrap());
    one.save_session("s1", Some(&D1), ("{}", 0), "", NOON).await.unwrap();
    let raw = Raw::of(&desk).await;
    let prune = async {
        let pruned = two.prune_access(Timestamp(9), Timestamp(9), 9).await.unwrap();
        two.commit().await.unwrap();
        pruned
    };
    let save = async {
        waits(&raw).await;
        one.commit().await.unwrap();
    };
    assert_eq!(tokio::join!(prune, save), (0, ()));
    assert!(desk.read().await.session("s1").await.unwrap().is_some());
}

/// Returns once somebody waits for a lock on a table of this desk.
async fn waits(raw: &Raw) {
    let waiting = "SELECT COUNT(*) FROM pg_locks l JOIN pg_locks h ON h.pid = l.pid AND h.locktype = 'relation' \
                   JOIN pg_class c ON c.oid = h.relation JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE NOT l.granted AND n.nspname = current_schema()";
    let waited = async {
        while raw.number(waiting).await == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waited).await.expect("somebody waits");
}
