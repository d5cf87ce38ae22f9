//! Shapes that become no task, each with the reason; and what would make one of them.

use dispatch_desk::{
    domain::{order::NewTask, refusal::Lang},
    intake::{FileError, Mapping, RowKind},
};

use crate::scene::{
    at, bare, given, named, plain_json, read, shape, shop_stop, short, stop, task, trouble,
};

fn told(mapping: &str, file: &str) -> Vec<String> {
    read(&named(mapping), &given(), &shape(file)).iter().map(short).collect()
}

/// A shape with a text in it replaced.
fn with(file: &str, old: &str, new: &str) -> Vec<u8> {
    let text = String::from_utf8(shape(file)).unwrap();
    assert!(text.contains(old), "{old}");
    text.replace(old, new).into_bytes()
}

#[test]
fn a_status_message_is_no_order_whatever_the_mapping() {
    let messages = [
        ("03_uber_direct_courier_update.json", "Uber Direct courier update"),
        ("04_doordash_drive_webhook.json", "DoorDash Drive event"),
        ("06_onfleet_task_updated.json", "Onfleet task event"),
        ("11_dada_status_callback.json", "Dada status callback"),
    ];
    for (file, of) in messages {
        for (name, _) in Mapping::names() {
            let mapping = named(name);
            if !Mapping::text(name).unwrap().contains("format = \"json\"") {
                continue;
            }
            let rows = read(&mapping, &given(), &shape(file));
            assert_eq!(
                rows.iter().map(short).collect::<Vec<_>>(),
                ["1: - STATUS_MESSAGE"],
                "{name}"
            );
            let RowKind::Refused { problem, .. } = &rows[0].what else { panic!("{rows:?}") };
            let english = format!("This is a status message, not an order ({of}).");
            assert_eq!(problem.sentence(Lang::En), english);
            assert_eq!(problem.sentence(Lang::Zh), format!("这是状态消息，不是订单（{of}）。"));
        }
    }
}

#[test]
fn a_status_message_in_a_form_is_one_too() {
    assert_eq!(told("meituan", "16_times_oms_status.form.txt"), ["1: - STATUS_MESSAGE"]);
    let form = shape("16_times_oms_status.form.txt");
    assert!(matches!(trouble(&named("shopify"), &form), FileError::FormBody));
    assert!(matches!(trouble(&named("chicago"), &form), FileError::FormBody));
}

#[test]
fn deliverect_a_cancel_that_comes_as_an_order_never_makes_a_task() {
    let file = "07_deliverect_cancel_is_a_new_order.json";
    let rows = read(&named("deliverect"), &given(), &shape(file));
    assert_eq!(
        rows.iter().map(short).collect::<Vec<_>>(),
        [
            "/0: /deliveryAddress/coordinates/coordinates FIELD_MISSING",
            "/1: /status CANCELS_AN_ORDER"
        ]
    );
    let RowKind::Refused { problem, .. } = &rows[1].what else { panic!("{rows:?}") };
    assert!(problem.sentence(Lang::En).contains("cancels order INV-1527"), "{problem:?}");
    assert!(problem.sentence(Lang::Zh).contains("取消订单 INV-1527"), "{problem:?}");

    let address = r#""courier": [], "deliveryAddress": {"street": "Invented St", "streetNumber": "1",
        "city": "Gent", "coordinates": {"type": "Point", "coordinates": [3.7250, 51.0543]}}"#;
    let rows = read(&named("deliverect"), &given(), &with(file, r#""courier": []"#, address));
    let order = task(&rows[0]);
    let to = stop(51.0543, 3.7250, "Invented St 1, Gent", None, None);
    assert_eq!(order.key.as_str(), "63aaaaaaaaaaaaaaaaaaaaa7");
    assert_eq!(order.placed_at, Some(at("2026-02-20T16:40:44Z")), "written with microseconds");
    let due_at = Some(at("2026-02-20T17:30:00Z"));
    assert_eq!(order.new, NewTask { due_at, ..bare(shop_stop(), to) });
    assert_eq!(short(&rows[1]), "/1: /status CANCELS_AN_ORDER");
}

#[test]
fn melbourne_keys_without_quotes_are_no_json() {
    let file = shape("12_melbourne_zh_orders.js.txt");
    for name in ["shopify", "gloriafood", "meituan"] {
        let error = trouble(&named(name), &file);
        assert!(matches!(error, FileError::UnquotedKeys), "{error:?}");
        assert!(error.sentence(Lang::En).contains("not JSON"));
    }
}

#[test]
fn melbourne_as_json_dotted_dates_and_as_soon_as_possible() {
    let mapping = Mapping::from_toml(
        r#"
        about = "Melbourne"
        format = "json"
        rows = "/data"
        zone = "Australia/Melbourne"
        key = "{/id}"
        placed_at = { from = "/create_time", formats = ["%Y.%m.%d %H:%M:%S"] }
        ready_at = { from = "/take_meal_time", formats = ["%Y.%m.%d %H:%M:%S"] }
        due_at = { from = "/delivery_time", formats = ["%Y.%m.%d %H:%M"], asap = ["尽快"] }
        pickup = { point = "/shop_location", address = "{/shop_location}" }
        dropoff = { point = "/location", address = "{/post_code} {/location}" }
        "#,
    )
    .unwrap();
    let file = r#"{"code": 0, "data": [{"create_time": "2017.11.20 20:46:43", "id": 1594265,
        "delivery_time": "2017.11.20 尽快送货", "take_meal_time": "2017.11.20 21:13:06",
        "location": "-37.805744,144.962790", "post_code": "3144",
        "shop_location": "-37.80671299999999,144.96536100000003"}]}"#;
    let rows = read(&mapping, &given(), file.as_bytes());
    let order = task(&rows[0]);
    assert_eq!(order.placed_at, Some(at("2017-11-20T20:46:43+11:00")), "summer in Melbourne");
    assert_eq!(order.new.ready_at, Some(at("2017-11-20T21:13:06+11:00")));
    assert_eq!(order.new.due_at, None);
    assert_eq!((order.new.dropoff.lat, order.new.dropoff.lng), (-37.805_744, 144.962_79));
}

#[test]
fn arabic_texts_stay_and_numbers_are_read() {
    let file = "17_arabic_order.json";
    assert_eq!(told("arabic", file), ["1: /location/lat FIELD_MISSING"]);
    let place = "\"location\": {\"lat\": \"٢٤٫٧١٣٦\", \"lng\": \"٤٦٫٦٧٥٣\"}, \"hasImage\"";
    let rows = read(&named("arabic"), &given(), &with(file, "\"hasImage\"", place));
    let order = task(&rows[0]);
    assert_eq!(order.key.as_str(), "A-%D9%A1%D9%A2%D9%A3");
    let mut from = shop_stop();
    from.name = Some("فرع وهمي".to_owned());
    let address = "شارع وهمي، حي العليا، الرياض \u{200f}(بجانب المسجد)";
    let to = stop(24.7136, 46.6753, address, Some("اسم وهمي"), Some("٠٥٠٠٠٠٠٠٠٠"));
    let note = Some("بدون بصل\u{200f} — Extra sauce".to_owned());
    assert_eq!(order.new, NewTask { note, ..bare(from, to) });
    let fee = plain_json("fee = { from = '/total', decimals = 2 }");
    let text = "{\"id\": 1, \"lat\": 1, \"lng\": 1, \"to\": \"x\", \"total\": \"٣٧٫٥٠\"}";
    assert_eq!(task(&read(&fee, &given(), text.as_bytes())[0]).new.fee, Some(3_750));
}

#[test]
fn tookan_offsets_are_reversed() {
    let file = "18_tookan_create_task.json";
    assert_eq!(told("tookan", file), ["1: /latitude FIELD_MISSING"]);
    let place = "\"latitude\": \"19.1176\", \"longitude\": \"72.9060\", \"tags\"";
    let rows = read(&named("tookan"), &given(), &with(file, "\"tags\"", place));
    let order = task(&rows[0]);
    let from = stop(30.718_897_8, 76.810_296, "1 Invented Rd, Chandigarh, India", None, None);
    let to = stop(19.1176, 72.9060, "2 Invented Rd, Powai, India", None, None);
    let ready_at = Some(at("2016-08-14T19:00:00+05:30"));
    let due_at = Some(at("2016-08-14T21:00:00+05:30"));
    assert_eq!(order.new, NewTask { ready_at, due_at, ..bare(from, to) });
    assert!(order.key.as_str().starts_with("row-") && order.key.as_str().ends_with("-1"));
}

#[test]
fn coopcycle_tasks_are_halves_or_lack_coordinates() {
    assert_eq!(
        told("coopcycle-tasks", "19_coopcycle_tasks.semicolon.csv"),
        [
            "2: type NOT_A_DELIVERY",
            "3: address.latlng FIELD_MISSING",
            "4: address.latlng FIELD_MISSING",
            "5: type NOT_A_DELIVERY",
            "6: address.latlng FIELD_MISSING",
        ]
    );
    assert_eq!(
        told("coopcycle-tasks", "20_coopcycle_accents_bom.csv"),
        ["2: address.latlng FIELD_MISSING"]
    );
}

#[test]
fn coopcycle_tasks_with_coordinates_have_times_in_five_forms() {
    let text = String::from_utf8(shape("19_coopcycle_tasks.semicolon.csv")).unwrap();
    let mut lines = text.lines();
    let mut file = format!("{};address.latlng\n", lines.next().unwrap());
    for line in lines {
        file += &format!("{line};\"48.85, 2.35\"\n").replacen("pickup;", "dropoff;", 1);
    }
    let mut given = given();
    given.zone = chrono_tz::Europe::Paris;
    let mapping = named("coopcycle-tasks");
    let rows = read(&mapping, &given, file.as_bytes());
    let codes: Vec<_> = rows.iter().map(short).collect();
    assert!(codes[0].starts_with("2: row-") && codes[1].starts_with("3: row-"), "{codes:?}");
    let bare_times =
        ["4: after NEEDS_BASE_DATE", "5: after NEEDS_BASE_DATE", "6: after NEEDS_BASE_DATE"];
    assert_eq!(codes[2..], bare_times, "nothing is guessed");

    given.base_date = chrono::NaiveDate::from_ymd_opt(2018, 2, 15);
    let rows = read(&mapping, &given, file.as_bytes());
    let spans: Vec<_> =
        rows.iter().map(|row| (task(row).new.ready_at, task(row).new.due_at)).collect();
    let span = |from: &str, to: &str| {
        let at = |time| Some(at(&format!("2018-02-15T{time}:00+01:00")));
        (at(from), at(to))
    };
    assert_eq!(
        spans,
        [
            span("12:00", "14:00"),
            span("09:00", "10:00"),
            span("09:00", "12:00"),
            span("08:00", "10:00"),
            span("09:00", "12:00"),
        ]
    );
    let to =
        stop(48.85, 2.35, "1; rue Imaginaire Paris", Some("Fleurs Inventées"), Some("0600000000"));
    let note = Some("Call customer; Digicode : 0000".to_owned());
    let (ready_at, due_at) = span("12:00", "14:00");
    assert_eq!(task(&rows[0]).new, NewTask { ready_at, due_at, note, ..bare(shop_stop(), to) });
}

#[test]
fn coopcycle_deliveries_blank_rows_are_counted() {
    let file = "21_coopcycle_deliveries_blank_rows.csv";
    let blanks = (3..=8).map(|line| format!("{line}: blank"));
    let expected: Vec<_> = std::iter::once("2: pickup.address.latlng FIELD_MISSING".to_owned())
        .chain(blanks)
        .collect();
    assert_eq!(told("coopcycle-deliveries", file), expected);

    let text = String::from_utf8(shape(file)).unwrap();
    let text = text
        .replacen(",weight", ",weight,pickup.address.latlng,dropoff.address.latlng", 1)
        .replacen("big-box=2,7", "big-box=2,7,\"43.76,11.26\",\"43.79,11.24\"", 1)
        .replace(",, ,,,", ",, ,,,,,");
    let mut given = given();
    given.zone = chrono_tz::Europe::Rome;
    let rows = read(&named("coopcycle-deliveries"), &given, text.as_bytes());
    let from = stop(43.76, 11.26, "Piazza Inventata 1, 50126, Firenze", None, None);
    let to = stop(43.79, 11.24, "Via Inventata 17, 50129, Firenze", None, None);
    let ready_at = Some(at("2024-01-16T09:00:00+01:00"));
    let due_at = Some(at("2024-01-16T18:00:00+01:00"));
    assert_eq!(task(&rows[0]).new, NewTask { ready_at, due_at, ..bare(from, to) });
    assert_eq!(rows.len(), 7);
}

#[test]
fn fhv_a_column_that_stands_twice_is_named_by_its_place() {
    let file = "22_fhv_dispatch_log_duplicate_header.csv";
    assert_eq!(
        told("fhv", file),
        ["2: Status CANCELS_AN_ORDER", "3: PU_LatLng FIELD_MISSING", "4: PU_LatLng FIELD_MISSING",]
    );
    let text = String::from_utf8(shape(file)).unwrap();
    let mut lines = text.lines();
    let mut with = format!("{},PU_LatLng,DO_LatLng\n", lines.next().unwrap());
    for line in lines {
        with += line;
        with += ",\"40.7, -73.9\",\"40.77, -73.87\"\n";
    }
    let rows = read(&named("fhv"), &given(), with.as_bytes());
    assert_eq!(short(&rows[2]), "4: PU_Address#1 FIELD_MISSING", "the address is empty");
    let from = stop(40.7, -73.9, "000 00 St., BK NY;", None, None);
    let to = stop(40.77, -73.87, "La Guardia Airport;", None, None);
    let vehicle = Some(dispatch_desk::domain::task::Vehicle::Car);
    assert_eq!(task(&rows[1]).new, NewTask { vehicle, ..bare(from, to) });
    assert_eq!(task(&rows[1]).placed_at, Some(at("2014-07-01T12:00:00-04:00")));
}

#[test]
fn a_shop_that_does_not_say_where_it_is_must_be_given_its_place() {
    let mut given = given();
    given.pickup = None;
    let shops = [
        ("shopify", "01_shopify_order_create.json"),
        ("woocommerce", "02_woocommerce_order.json"),
        ("gloriafood", "05_gloriafood_orders_batch.json"),
        ("restia", "08_restia_order.json"),
        ("meituan", "09_meituan_order_push.form.txt"),
        ("eleme", "10_eleme_omessage.json"),
        ("bitrix", "14_bitrix_create_delivery_request.json"),
        ("arabic", "17_arabic_order.json"),
    ];
    for (mapping, file) in shops {
        let rows = read(&named(mapping), &given, &shape(file));
        assert!(short(&rows[0]).ends_with(": pickup PICKUP_NOT_GIVEN"), "{mapping}: {rows:?}");
    }
}
