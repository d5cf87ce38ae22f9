//! Places as they are really written.

use dispatch_desk::intake::Mapping;

use crate::scene::{given, plain, read, short, shorts, task};

fn json(place: &str) -> Mapping {
    let text = format!(
        "about = 'x'\nformat = 'json'\nkey = '{{/id}}'\npickup = {{ given = true }}\n\
         [dropoff]\naddress = '/id'\n{place}"
    );
    Mapping::from_toml(&text).unwrap()
}

#[test]
fn points_come_as_arrays_texts_and_numbers() {
    let cases = [
        ("point = '/p'\norder = 'lng_lat'", r#"[121.4737, "31.2304"]"#),
        ("point = '/p'", r#""31.2304, 121.4737""#),
        ("point = '/p'\norder = 'lng_lat'\nscale = 1000000", r#""121473700,31230400""#),
        ("lat = '/p/0'\nlng = '/p/1'\nscale = 1e6", "[31230400, 121473700]"),
        ("lat = '/p/lat'\nlng = '/p/lng'", r#"{"lat": "31.230400000000000", "lng": 121.4737}"#),
        ("lat = '/p/lat'\nlng = '/p/lng'", r#"{"lat": "٣١٫٢٣٠٤", "lng": "１２１．４７３７"}"#),
    ];
    for (place, text) in cases {
        let file = format!("{{\"id\": \"a\", \"p\": {text}}}");
        let rows = read(&json(place), &given(), file.as_bytes());
        let to = &task(&rows[0]).new.dropoff;
        assert_eq!((to.lat, to.lng), (31.2304, 121.4737), "{place} {text}");
    }
}

#[test]
fn what_is_no_place_is_refused_with_the_reason() {
    for (text, code) in [
        ("[]", "FIELD_MISSING"),
        ("null", "FIELD_MISSING"),
        (r#""""#, "FIELD_MISSING"),
        ("[1]", "FIELD_MISSING"),
        (r#""a,b""#, "BAD_NUMBER"),
        (r#""1e1,2""#, "BAD_NUMBER"),
        (r#""nan,nan""#, "BAD_NUMBER"),
        ("[0, 0]", "NULL_ISLAND"),
        ("[0.0001, -0.002]", "NULL_ISLAND"),
        ("[121.4737, 31.2304]", "NOT_ON_EARTH"),
        ("[3456789.1, 12345678.9]", "NOT_ON_EARTH"),
        ("[-91, 0]", "NOT_ON_EARTH"),
    ] {
        let file = format!("{{\"id\": \"a\", \"p\": {text}}}");
        let rows = read(&json("point = '/p'"), &given(), file.as_bytes());
        assert_eq!(short(&rows[0]), format!("1: /p {code}"), "{text}");
    }
}

#[test]
fn the_datum_is_the_sources_and_wgs_84_is_kept() {
    let file = "id,lat,lng,to\n1,31.17530398364597,121.531541859215,x\n2,51.5,-0.12,x\n";
    let rows = read(&plain("datum = 'gcj02'"), &given(), file.as_bytes());
    let to = &task(&rows[0]).new.dropoff;
    assert!(
        (to.lat - 31.177_427_6).abs() < 1e-6 && (to.lng - 121.527_210_6).abs() < 1e-6,
        "{to:?}"
    );
    let london = &task(&rows[1]).new.dropoff;
    assert_eq!((london.lat, london.lng), (51.5, -0.12), "nothing is shifted outside of China");
}

#[test]
fn nan_and_empty_coordinates_are_missing() {
    let file = "id,lat,lng,to\n1,nan,nan,x\n2,,1,x\n3,1,NaN,x\n4,1,2,\n5,1,1,x\n";
    assert_eq!(
        shorts(&plain(""), file),
        [
            "2: lat FIELD_MISSING",
            "3: lat FIELD_MISSING",
            "4: lng FIELD_MISSING",
            "5: to FIELD_MISSING",
            "6: 5"
        ]
    );
}
