//! Times as they are really written, and what is never guessed.

use dispatch_desk::intake::{Flag, RowKind};

use crate::scene::{at, given, plain, read, short, task};

/// What a time comes to: itself, none, or the code of the refusal.
fn due(spec: &str, text: &str, base: Option<&str>) -> String {
    let mut given = given();
    given.base_date = base.map(|date| date.parse().unwrap());
    let mapping = plain(&format!("due_at = {{ from = 'due', {spec} }}"));
    let file = format!("id,lat,lng,to,due\n1,1,1,x,\"{text}\"\n");
    let rows = read(&mapping, &given, file.as_bytes());
    match &rows[0].what {
        RowKind::Refused { field, problem } => {
            assert_eq!(field.as_deref(), Some("due"));
            problem.code().to_owned()
        }
        _ => task(&rows[0]).new.due_at.map_or("none".to_owned(), |at| at.to_string()),
    }
}

#[test]
fn a_missing_year_or_date_is_asked_for() {
    let year = "formats = ['%m-%d %H:%M:%S']";
    assert_eq!(due(year, "09-25 08:08:00", None), "NEEDS_BASE_DATE");
    assert_eq!(due(year, "09-25 08:08:00", Some("2022-01-01")), "2022-09-25T00:08:00.000Z");
    assert_eq!(due(year, "02-29 08:00:00", Some("2023-01-01")), "BAD_TIME");
    let date = "formats = ['%H:%M', '%Hh', '%I:%M:%S %p']";
    for (text, utc) in [("09:00", "01:00:00"), ("8h", "00:00:00"), ("9:35:46 AM", "01:35:46")] {
        assert_eq!(due(date, text, None), "NEEDS_BASE_DATE", "{text}");
        assert_eq!(due(date, text, Some("2026-11-30")), format!("2026-11-30T{utc}.000Z"), "{text}");
    }
}

#[test]
fn zero_is_how_many_say_none() {
    let any = "formats = ['epoch', 'rfc3339'], none = ['99']";
    for none in ["0", "", "nan", "NaN", "null", "0001-01-01T00:00:00", "0001-01-01T00:00:00Z", "99"]
    {
        assert_eq!(due(any, none, None), "none", "{none}");
    }
}

#[test]
fn seconds_milliseconds_and_microseconds_are_told_by_their_digits() {
    let expected = "2026-11-30T00:53:20.000Z";
    for text in ["1796000000", "1796000000000", "1796000000000000", "١٧٩٦٠٠٠٠٠٠"] {
        assert_eq!(due("formats = ['epoch']", text, None), expected);
    }
    assert_eq!(due("formats = ['epoch_s']", "1796000000", None), expected);
    assert_eq!(due("formats = ['epoch_s']", "1796000000000", None), "TIME_OUT_OF_RANGE");
    assert_eq!(due("formats = ['epoch']", "17960", None), "BAD_TIME");
    let micro = due("formats = ['rfc3339']", "2026-02-20T16:55:01.123456Z", None);
    assert_eq!(micro, "2026-02-20T16:55:01.123Z");
}

#[test]
fn one_column_may_have_many_forms() {
    let many = "formats = ['%d/%m/%Y %H:%M', '%Y-%m-%d %H:%M', '%H:%M', '%Hh', '%d/%m %H:%M', \
                '%Y.%m.%d %H:%M'], asap = ['尽快']";
    for (text, expected) in [
        ("15/02/2018 12:00", "2018-02-15T04:00:00.000Z"),
        ("2018-02-15 09:00", "2018-02-15T01:00:00.000Z"),
        ("09:00", "2018-02-14T01:00:00.000Z"),
        ("8h", "2018-02-14T00:00:00.000Z"),
        ("15/02 09:00", "2018-02-15T01:00:00.000Z"),
        ("2017.11.20 尽快送货", "none"),
        ("soon", "BAD_TIME"),
        ("32/02/2018 12:00", "BAD_TIME"),
    ] {
        assert_eq!(due(many, text, Some("2018-02-14")), expected, "{text}");
    }
}

#[test]
fn an_hour_that_the_clocks_skip_or_show_twice_is_refused() {
    let york = "zone = 'America/New_York', formats = ['%Y-%m-%d %H:%M']";
    assert_eq!(due(york, "2026-03-08 02:30", None), "NO_SUCH_TIME");
    assert_eq!(due(york, "2026-11-01 01:30", None), "AMBIGUOUS_TIME");
    assert_eq!(due(york, "2026-11-01 03:30", None), "2026-11-01T08:30:00.000Z");
    assert_eq!(due("formats = ['rfc3339']", "1969-12-31T23:59:59Z", None), "TIME_OUT_OF_RANGE");
}

#[test]
fn an_odd_order_of_times_is_flagged_and_not_dropped() {
    let more = "placed_at = { from = 'placed', formats = ['rfc3339'] }\n\
                ready_at = { from = 'ready', formats = ['rfc3339'] }\n\
                due_at = { from = 'due', formats = ['rfc3339'] }\n\
                release_at = { from = 'release', formats = ['rfc3339'] }";
    // Ready a day before it was placed: a midnight that was wrapped the wrong way.
    let file = "id,lat,lng,to,placed,ready,due,release\n\
                1,1,1,x,2026-11-30T00:10:00Z,2026-11-29T00:33:20Z,2026-11-29T00:30:00Z,2026-11-30T00:10:00Z\n\
                2,31.2304,121.4737,x,,,,\n";
    let rows = read(&plain(more), &given(), file.as_bytes());
    let all = [
        Flag::DueBeforeReady,
        Flag::DueBeforePlaced,
        Flag::ReadyBeforePlaced,
        Flag::DueBeforeRelease,
    ];
    assert_eq!(task(&rows[0]).flags, all);
    assert_eq!(task(&rows[0]).new.ready_at, Some(at("2026-11-29T00:33:20Z")), "as it was written");
    assert_eq!(task(&rows[1]).flags, [Flag::SamePlace], "{}", short(&rows[1]));
}
