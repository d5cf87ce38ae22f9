//! CSV as it really comes.

use crate::scene::{given, plain, read, shorts, task};

#[test]
fn separators_are_found_out_or_fixed() {
    for separator in [",", ";", "\t", "|"] {
        let file =
            ["id,lat,lng,to", "7,1.5,2.5,\"a,b;c\td|e\""].join("\n").replacen(',', separator, 3);
        let file = file.replacen("7,1.5,2.5,", &["7", "1.5", "2.5", ""].join(separator), 1);
        let rows = read(&plain(""), &given(), file.as_bytes());
        assert_eq!(task(&rows[0]).new.dropoff.address, "a,b;c\td|e", "{separator:?}");
    }
    // A header whose names hold commas: the separator that finds the mapping's columns wins.
    let file = "id;lat;lng;to;x, y, z, u, v\n7;1;2;here;\n";
    assert_eq!(shorts(&plain(""), file), ["2: 7"]);
    assert_eq!(shorts(&plain("separator = ';'"), file), ["2: 7"]);
}

#[test]
fn lines_are_physical_and_blank_rows_are_told() {
    let file = "id,lat,lng,to\r\n1,1,1,\"two\r\nlines\"\r\n\r\n , ,,\r\n2,1,1,x\r\n";
    assert_eq!(shorts(&plain(""), file), ["2: 1", "4: blank", "5: blank", "6: 2"]);
    let rows = read(&plain(""), &given(), file.as_bytes());
    assert_eq!(task(&rows[0]).new.dropoff.address, "two\r\nlines");
}

#[test]
fn ragged_rows_are_refused_and_a_trailing_separator_is_not() {
    let file = "id;lat;lng;to\n1;1;1;x;\n2;1;1;x;;;\n3;1;1\n4;1;1;x;y\n5;1;1;x\n";
    assert_eq!(
        shorts(&plain(""), file),
        ["2: 1", "3: 2", "4: - FIELD_COUNT", "5: - FIELD_COUNT", "6: 5"]
    );
    let rows = read(&plain(""), &given(), file.as_bytes());
    let dispatch_desk::intake::RowKind::Refused { problem, .. } = &rows[3].what else { panic!() };
    assert_eq!(
        *problem,
        dispatch_desk::intake::Problem::Ragged { expected: 4, found: 5 },
        "with what was expected and found"
    );
}

#[test]
fn a_quote_that_never_closes_takes_the_rest_and_says_so() {
    let file = "id,lat,lng,to\n1,1,1,x\n2,1,1,\"open\n3,1,1,x\n";
    assert_eq!(shorts(&plain(""), file), ["2: 1", "3: - UNCLOSED_QUOTE"]);
}

#[test]
fn one_row_in_another_encoding_does_not_stop_the_file() {
    let file = b"id,lat,lng,to\n1,1,1,x\n2,1,1,\xC9\xCF\xBA\xA3\n3,1,1,x\n";
    let told: Vec<_> = read(&plain(""), &given(), file).iter().map(crate::scene::short).collect();
    assert_eq!(told, ["2: 1", "3: - NOT_UTF8", "4: 3"]);
}

#[test]
fn a_mark_at_the_start_and_spaces_around_are_not_part_of_it() {
    let file = "\u{feff} id , lat,lng ,to\n 1 ,1, 1 ,  x y  \n";
    let rows = read(&plain(""), &given(), file.as_bytes());
    assert_eq!(task(&rows[0]).key.as_str(), "1");
    assert_eq!(task(&rows[0]).new.dropoff.address, "x y");
}

#[test]
fn a_missing_field_is_told_in_both_languages() {
    use dispatch_desk::{domain::refusal::Lang, intake::RowKind};
    let rows = read(&plain(""), &given(), b"id,lat,lng,to\n1,,1,x\n");
    let RowKind::Refused { problem, .. } = &rows[0].what else { panic!("{rows:?}") };
    let english = "The dropoff's place on the map is needed; the row has none.";
    assert_eq!(problem.sentence(Lang::En), english);
    assert_eq!(problem.sentence(Lang::Zh), "需要送达点的经纬度，此行没有。");
}
