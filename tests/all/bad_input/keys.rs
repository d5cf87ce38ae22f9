//! Request keys and reasons: their forms, and commands that come without.

use dispatch_desk::domain::{
    command::{Act, Actor, Command, Reason, RequestKey, What},
    refusal::Lang,
};

use crate::{contract::raw::Raw, harness::*};

#[test]
fn a_key_is_1_to_255_visible_ascii_characters() {
    let longest = "k".repeat(255);
    let all: String = ('!'..='~').collect();
    for good in ["k", "8e03978e-40d5-43dd-bc93-6894a57f9324", "bulk#10233", &longest, &all] {
        let key = RequestKey::parse(good).unwrap_or_else(|| panic!("{good}"));
        assert_eq!(key.as_str(), good);
        let json = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<RequestKey>(&json).unwrap(), key);
    }
    let too_long = "k".repeat(256);
    for bad in [
        "", " ", "a b", "a ", "a\t", "a\n", "\0", "k\u{7f}", "钥匙", "é", "\u{a0}", "🛵", &too_long,
    ] {
        assert_eq!(RequestKey::parse(bad), None, "{bad:?}");
        let json = serde_json::to_string(bad).unwrap();
        let error = serde_json::from_str::<RequestKey>(&json).expect_err(bad).to_string();
        assert_eq!(error, "a request key is 1 to 255 visible ASCII characters");
    }
}

#[test]
fn a_reason_is_a_code_and_no_sentence() {
    let longest = "a".repeat(40);
    for good in ["no_show", "a", "a1_2", &longest] {
        assert_eq!(Reason::parse(good).map(String::from).as_deref(), Some(good));
    }
    let too_long = "a".repeat(41);
    for bad in ["", "_a", "1a", "No_show", "no show", "no-show", "王女士", "a\0", "a\n", &too_long]
    {
        assert_eq!(Reason::parse(bad), None, "{bad:?}");
        let json = format!("{{\"cancel\":{{\"reason\":{}}}}}", serde_json::to_string(bad).unwrap());
        assert!(serde_json::from_str::<Act>(&json).is_err(), "{json}");
    }
}

#[test]
fn a_command_with_a_field_that_nobody_knows_is_none() {
    let good = r#"{"grab":{"ticket":{"round":1,"nonce":"n"}}}"#;
    assert!(serde_json::from_str::<Act>(good).is_ok());
    for bad in [
        r#"{"grab":{"rider":2}}"#,
        r#"{"grab":{"ticket":{"round":1,"nonce":"n","rider":2}}}"#,
        r#"{"offer":{"rider":1,"state":"assigned"}}"#,
        r#"{"offer":{}}"#,
        r#"{"offer":{"rider":1,"seconds":-1}}"#,
        r#"{"offer":{"rider":1,"seconds":4294967296}}"#,
        r#"{"reassign":{"rider":1}}"#,
        r#"{"explode":{}}"#,
        r#""grabbed""#,
    ] {
        assert!(serde_json::from_str::<Act>(bad).is_err(), "{bad}");
    }
}

for_each_database!(a_command_without_a_key_is_turned_away, |desk| async move {
    let task = desk.create().await;
    let raw = Raw::of(&desk).await;
    let before = raw.dump_all().await;
    for actor in [D1, SUPERVISOR, rider(1), shop(), Actor::Customer(task)] {
        for command in [
            desk.change(actor.clone(), task, 1, CANCEL),
            desk.note(actor.clone(), task, 1, "x"),
            desk.command(actor.clone(), What::Create(Box::new(order()))),
        ] {
            let sent = desk.send(Command { key: None, ..command }).await;
            assert_eq!(sent.came.code(), "KEY_MISSING");
        }
    }
    assert_eq!(raw.dump_all().await, before);
    // The system's own commands have none, and leave no answer behind.
    desk.done(D1, task, 1, offer(1)).await;
    let withdrawn = desk.change(Actor::System, task, 2, WITHDRAW);
    assert!(desk.send(Command { key: None, ..withdrawn }).await.came.is_success());
    assert_eq!(raw.number("SELECT COUNT(*) FROM command_outcome").await, 2);
    desk.check().await;
});

for_each_database!(the_longest_key_is_kept_and_found_again, |desk| async move {
    let task = desk.create().await;
    let keys = ["~".repeat(255), format!("{}!", "~".repeat(254)), "'\"\\%_;--".to_owned()];
    let mut sent = Vec::new();
    for (number, key) in (1..).zip(&keys) {
        let what =
            What::Change { task, revision: dispatch_desk::domain::id::Revision(1), act: GRAB };
        let key = Some(Desk::key(key));
        sent.push(desk.send(Command { actor: rider(number), key, lang: Lang::En, what }).await);
    }
    assert!(sent[0].came.is_success());
    for sent in sent {
        let again = desk.again(&sent).await;
        assert_eq!(node::back(&again.came).body, node::back(&sent.came).body);
        assert!(node::back(&again.came).replayed);
    }
    desk.check().await;
});
