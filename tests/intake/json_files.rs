//! JSON as it really comes: arrays, lines, batches.

use dispatch_desk::intake::FileError;

use crate::scene::{plain_json, shorts, trouble};

const ONE: &str = r#"{"id":1,"lat":1,"lng":1,"to":"x"}"#;

#[test]
fn an_array_and_lines_are_the_same_orders() {
    let two = ONE.replace(":1,\"lat", ":2,\"lat");
    assert_eq!(shorts(&plain_json(""), &format!(" [ {ONE} , {two} ] \n")), ["/0: 1", "/1: 2"]);
    assert_eq!(shorts(&plain_json(""), &format!("{ONE}\n{two}\r\n\n")), ["1: 1", "2: 2"]);
    assert_eq!(shorts(&plain_json(""), &format!("{ONE}{two}")), ["1: 1", "2: 2"]);
}

#[test]
fn batches_may_follow_each_other() {
    let batch = format!("{{\"count\": 2, \"orders\": [{ONE}, {ONE}]}}");
    let told = shorts(&plain_json("rows = '/orders'"), &format!("{batch}\n{batch}"));
    assert_eq!(told, ["/orders/0: 1", "/orders/1: 1", "/orders/0: 1", "/orders/1: 1"]);
    assert!(matches!(
        trouble(&plain_json("rows = '/orders'"), b"{\"a\": 1}"),
        FileError::NoRows { .. }
    ));
}

#[test]
fn one_bad_element_does_not_stop_the_file() {
    let file = format!("[{ONE}, {{\"id\": 2,,}}, 7, null, \"text\", {ONE}]");
    let missing = |at| format!("/{at}: /id FIELD_MISSING");
    assert_eq!(
        shorts(&plain_json(""), &file),
        [
            "/0: 1".to_owned(),
            "/1: - NOT_JSON".to_owned(),
            missing(2),
            missing(3),
            missing(4),
            "/5: 1".to_owned()
        ]
    );
}

#[test]
fn a_file_that_breaks_off_says_after_how_many_values() {
    for (file, after) in [
        (format!("[{ONE}, {{\"id\": "), 1),
        (format!("[{ONE}"), 1),
        (format!("[{ONE} {ONE}]"), 1),
        (format!("[{ONE}] x"), 1),
        ("]".to_owned(), 0),
    ] {
        let error = trouble(&plain_json(""), file.as_bytes());
        assert!(
            matches!(error, FileError::NotJson { after: found } if found == after),
            "{file}: {error:?}"
        );
    }
}

#[test]
fn a_value_beyond_the_limit_is_told_and_not_swallowed() {
    let file = format!("[\"{}\"]", "x".repeat(9 * 1024 * 1024));
    assert!(matches!(
        trouble(&plain_json(""), file.as_bytes()),
        FileError::TooLarge { line: 1, .. }
    ));
}

#[test]
fn an_order_of_600_kilobytes_is_an_order() {
    let file = ONE.replacen('{', &format!("{{\"dishes\":\"{}\",", "x".repeat(600 * 1024)), 1);
    assert_eq!(shorts(&plain_json(""), &file), ["1: 1"]);
}

#[test]
fn json_within_a_text_that_is_none_is_refused() {
    let mapping = plain_json("decode = ['/inner']");
    let file = r#"{"id":1,"lat":1,"lng":1,"to":"x","inner":"{oops"}"#;
    assert_eq!(shorts(&mapping, file), ["1: /inner NOT_JSON"]);
}
