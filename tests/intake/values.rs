//! Ids, money, words and texts.

use dispatch_desk::{
    domain::task::Vehicle,
    intake::{ADDRESS_LIMIT, NAME_LIMIT, NOTE_LIMIT},
};

use crate::scene::{given, plain, plain_json, read, short, shorts, task};

#[test]
fn ids_are_texts_and_are_never_rounded() {
    let file = r#"[{"id": 820982911946154508, "lat": 1, "lng": 1, "to": "x"},
        {"id": 82098291194615450812345, "lat": 1, "lng": 1, "to": "x"},
        {"id": "0925", "lat": 1, "lng": 1, "to": "x"},
        {"id": 4.60E+03, "lat": 1, "lng": 1, "to": "x"},
        {"id": 1001.0, "lat": 1, "lng": 1, "to": "x"},
        {"id": "订单 7", "lat": 1, "lng": 1, "to": "x"},
        {"id": null, "lat": 1, "lng": 1, "to": "x"}]"#;
    assert_eq!(
        shorts(&plain_json(""), file),
        [
            "/0: 820982911946154508",
            "/1: 82098291194615450812345",
            "/2: 0925",
            "/3: /id DAMAGED_ID",
            "/4: /id DAMAGED_ID",
            "/5: %E8%AE%A2%E5%8D%95%207",
            "/6: /id FIELD_MISSING",
        ]
    );
    let file = "id,lat,lng,to\n4.60E+03,1,1,x\n0925,1,1,x\n26012341234567890,1,1,x\n";
    assert_eq!(shorts(&plain(""), file), ["2: id DAMAGED_ID", "3: 0925", "4: 26012341234567890"]);
}

#[test]
fn money_is_counted_in_smallest_units() {
    let fee = |decimals: u32, text: &str| {
        let mapping = plain_json(&format!("fee = {{ from = '/fee', decimals = {decimals} }}"));
        let file = format!("{{\"id\": 1, \"lat\": 1, \"lng\": 1, \"to\": \"x\", \"fee\": {text}}}");
        let rows = read(&mapping, &given(), file.as_bytes());
        match &rows[0].what {
            dispatch_desk::intake::RowKind::Task(task) => Ok(task.new.fee),
            _ => Err(short(&rows[0])),
        }
    };
    for (decimals, text, amount) in [
        (2, r#""409.94""#, Some(40_994)),
        (2, "37.4", Some(3_740)),
        (0, "21000", Some(21_000)),
        (2, r#""٣٧٫٥٠""#, Some(3_750)),
        (2, "null", None),
        (2, r#""nan""#, None),
    ] {
        assert_eq!(fee(decimals, text), Ok(amount), "{text}");
    }
    for bad in [r#""-1""#, "1e3", "18.665", r#""$5""#] {
        assert_eq!(fee(2, bad), Err("1: /fee BAD_MONEY".to_owned()), "{bad}");
    }
}

#[test]
fn phones_stay_as_they_are() {
    let text = "about = 'x'\nformat = 'json'\nkey = '{/id}'\npickup = { given = true }\n\
                dropoff = { lat = '/lat', lng = '/lng', address = '/to', phone = '/phone' }";
    let mapping = dispatch_desk::intake::Mapping::from_toml(text).unwrap();
    for phone in [
        "138*****678",
        "13800000000_123456",
        "+15555550117,48023618",
        "(555) 010-0142",
        "8 900 000 00 00",
        "٠٥٠٠٠٠٠٠٠٠",
        "",
    ] {
        let file = format!(r#"{{"id": 1, "lat": 1, "lng": 1, "to": "x", "phone": "{phone}"}}"#);
        let rows = read(&mapping, &given(), file.as_bytes());
        let expected = (!phone.is_empty()).then(|| phone.to_owned());
        assert_eq!(task(&rows[0]).new.dropoff.phone, expected);
    }
}

#[test]
fn texts_keep_what_people_wrote_within_limits_that_are_told() {
    let mapping = plain_json("note = '/note'");
    let read_note = |note: &str| {
        let file = format!(r#"{{"id": 1, "lat": 1, "lng": 1, "to": "x", "note": "{note}"}}"#);
        let rows = read(&mapping, &given(), file.as_bytes());
        match &rows[0].what {
            dispatch_desk::intake::RowKind::Task(task) => task.new.note.clone().unwrap_or_default(),
            _ => short(&rows[0]),
        }
    };
    assert_eq!(read_note("a\\r\\nb 👍🏽 \u{200f}ب 张**"), "a\r\nb 👍🏽 \u{200f}ب 张**");
    assert_eq!(read_note("a\\u0000b"), "1: /note NUL_IN_TEXT");
    assert_eq!(read_note(&"注".repeat(NOTE_LIMIT)).chars().count(), NOTE_LIMIT);
    assert_eq!(read_note(&"注".repeat(NOTE_LIMIT + 1)), "1: /note TEXT_TOO_LONG");
    assert_eq!((NOTE_LIMIT, ADDRESS_LIMIT, NAME_LIMIT), (10_000, 1_000, 200));
    let long = format!("id,lat,lng,to\n1,1,1,{}\n", "x".repeat(ADDRESS_LIMIT + 1));
    assert_eq!(shorts(&plain(""), &long), ["2: to TEXT_TOO_LONG"]);
}

#[test]
fn vehicles_and_priorities_are_words_and_numbers_that_the_desk_knows() {
    let mapping = plain("vehicle = 'v'\npriority = 'p'");
    let file = "id,lat,lng,to,v,p\n1,1,1,x,Car,٣\n2,1,1,x,,\n3,1,1,x,rocket,1\n4,1,1,x,van,high\n";
    let rows = read(&mapping, &given(), file.as_bytes());
    let told: Vec<_> = rows.iter().map(short).collect();
    assert_eq!(told, ["2: 1", "3: 2", "4: v UNKNOWN_WORD", "5: p BAD_NUMBER"]);
    assert_eq!((task(&rows[0]).new.vehicle, task(&rows[0]).new.priority), (Some(Vehicle::Car), 3));
    assert_eq!((task(&rows[1]).new.vehicle, task(&rows[1]).new.priority), (None, 0));
}

#[test]
fn twins_without_an_id_have_keys_of_their_own_in_any_order() {
    let text = "about = 'x'\nformat = 'csv'\nkey = 'content'\npickup = { given = true }\n\
                dropoff = { lat = 'lat', lng = 'lng', address = 'to' }";
    let mapping = dispatch_desk::intake::Mapping::from_toml(text).unwrap();
    let keys = |file: &str| {
        let rows = read(&mapping, &given(), file.as_bytes());
        rows.iter().map(|row| task(row).key.as_str().to_owned()).collect::<Vec<_>>()
    };
    let one = keys("lat,lng,to\n1,1,x\n2,2,y\n1,1,x\n");
    let other = keys("lat,lng,to\n1,1,x\n1,1,x\n2,2,y\n");
    assert_eq!([&one[0], &one[2], &one[1]], [&other[0], &other[1], &other[2]]);
    assert_eq!(one.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    assert!(one[0].ends_with("-1") && one[2].ends_with("-2"), "{one:?}");
}
