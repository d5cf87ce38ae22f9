//! Files that can not be read at all: one sentence that helps, in both languages.

use dispatch_desk::{
    domain::refusal::Lang,
    intake::{FileError, Mapping},
};

use crate::scene::{named, plain, trouble};

#[test]
fn each_trouble_has_a_code_and_a_sentence_that_helps() {
    let cases: [(&[u8], &str, &str, &str); 8] = [
        (b"PK\x03\x04\x14\0rest", "FILE_IS_WORKBOOK", "CSV UTF-8", "另存为"),
        (b"\xFF\xFEi\0d\0", "FILE_NOT_UTF8", "UTF-8", "UTF-8"),
        (b"\xB1\xE0\xBA\xC5,lat,lng,to\n1,1,1,x\n", "FILE_NOT_UTF8", "UTF-8", "UTF-8"),
        (b" \r\n\t\n", "FILE_EMPTY", "empty", "空"),
        (b"id,lat,lng,to\r\n", "FILE_HEADER_ONLY", "no row", "没有数据行"),
        (b"id,lat\n1,2\n", "COLUMN_MISSING", "lng, to", "lng、to"),
        (b"a=1&b=2", "FILE_IS_FORM", "form body", "表单"),
        (b"{\"id\": 1}", "FILE_IS_JSON", "JSON", "JSON"),
    ];
    for (file, code, english, chinese) in cases {
        let error = trouble(&plain(""), file);
        assert_eq!(error.code(), code);
        assert!(error.sentence(Lang::En).contains(english), "{error}");
        assert!(error.sentence(Lang::Zh).contains(chinese), "{}", error.sentence(Lang::Zh));
    }
}

#[test]
fn a_column_that_stands_twice_must_be_named_by_its_place() {
    let file = b"id,lat,lng,to,to\n1,1,1,x,y\n";
    let error = trouble(&plain(""), file);
    assert!(matches!(&error, FileError::AmbiguousColumn { name, times: 2 } if name == "to"));
    assert!(error.to_string().contains("\"to#1\""), "{error}");
    let text = "about = 'x'\nformat = 'csv'\nkey = '{id}'\npickup = { given = true }\n\
                dropoff = { lat = 'lat', lng = 'lng', address = 'to#2' }";
    let rows = crate::scene::read(&Mapping::from_toml(text).unwrap(), &crate::scene::given(), file);
    assert_eq!(crate::scene::task(&rows[0]).new.dropoff.address, "y");
    let third = text.replace("to#2", "to#3");
    let error = trouble(&Mapping::from_toml(&third).unwrap(), file);
    assert!(matches!(error, FileError::MissingColumns(names) if names == ["to#3"]));
}

#[test]
fn an_empty_json_file_is_empty() {
    for file in [&b"[]"[..], b" ", b"[ ]\n"] {
        assert!(matches!(trouble(&named("shopify"), file), FileError::Empty));
    }
}
