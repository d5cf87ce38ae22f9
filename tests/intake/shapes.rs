//! Shapes of orders that become tasks, each asserted in full.

use dispatch_desk::{domain::order::NewTask, intake::Flag};

use crate::scene::{at, bare, given, named, read, shape, shop_stop, stop, task};

/// Reads a shape of one order: its key, when it was placed, and its task.
fn only(mapping: &str, file: &str) -> (String, Option<String>, NewTask) {
    let rows = read(&named(mapping), &given(), &shape(file));
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = task(&rows[0]);
    // The slot of the second shape lies before its order.
    let odd: &[Flag] = if mapping == "woocommerce" { &[Flag::DueBeforePlaced] } else { &[] };
    assert_eq!(row.flags, odd, "{file}");
    (row.key.as_str().to_owned(), row.placed_at.map(|at| at.to_string()), row.new.clone())
}

#[test]
fn shopify_an_order_with_an_id_above_2_to_the_53() {
    let mut there = given();
    there.zone = chrono_tz::America::Toronto;
    let rows = read(&named("shopify"), &there, &shape("01_shopify_order_create.json"));
    let order = task(&rows[0]);
    let to = stop(
        45.41634,
        -75.6868,
        "1 Invented Way, Ottawa, K2P0V6",
        Some("Ada Example"),
        Some("613-555-0142"),
    );
    let due_at = Some(at("2026-01-11T16:00:00-05:00"));
    assert_eq!(order.key.as_str(), "820982911946154508");
    assert_eq!(order.placed_at, Some(at("2026-01-10T11:00:00-05:00")));
    assert_eq!(order.new, NewTask { due_at, ..bare(shop_stop(), to) });
}

#[test]
fn woocommerce_takes_the_time_that_has_a_zone_and_keeps_the_note_as_it_is() {
    let (key, placed, new) = only("woocommerce", "02_woocommerce_order.json");
    let to = stop(
        37.7749,
        -122.4194,
        "1 Invented St, Springfield, CA, 00000",
        Some("John O’Invented"),
        Some("(555) 010-0142"),
    );
    let note = "Ring twice\r\nDog is friendly 🐶 — gate code *#0000".to_owned();
    assert_eq!((key.as_str(), placed.as_deref()), ("727", Some("2026-03-22T19:28:02.000Z")));
    let due_at = Some(at("2026-03-22T17:00:00Z"));
    assert_eq!(new, NewTask { due_at, note: Some(note), ..bare(shop_stop(), to) });
}

#[test]
fn gloriafood_orders_lie_in_a_batch() {
    let (key, placed, new) = only("gloriafood", "05_gloriafood_orders_batch.json");
    let to = stop(
        47.626_750_661_665_69,
        -122.342_276_322_753_89,
        "47.62675066166569, -122.34227632275389",
        Some("Jack Invented"),
        Some("+61400000000"),
    );
    let due_at = Some(at("2026-01-19T05:50:33Z"));
    assert_eq!((key.as_str(), placed.as_deref()), ("75903060", Some("2026-01-19T05:35:33.000Z")));
    assert_eq!(new, NewTask { due_at, ..bare(shop_stop(), to) });
    let rows = read(&named("gloriafood"), &given(), &shape("05_gloriafood_orders_batch.json"));
    assert_eq!((rows[0].spot.line, rows[0].spot.pointer.as_deref()), (1, Some("/orders/0")));
}

#[test]
fn restia_numbers_are_ids_as_texts() {
    let (key, placed, new) = only("restia", "08_restia_order.json");
    let to = stop(
        50.732_801_437_924_884,
        15.056_719_501_229_368,
        "Vymyšlená 20, 46312 Liberec",
        Some("Jiří Vymyšlený"),
        Some("123456789"),
    );
    assert_eq!((key.as_str(), placed.as_deref()), ("327558", Some("2026-02-15T13:33:23.000Z")));
    assert_eq!(
        new,
        NewTask { due_at: Some(at("2026-02-15T18:00:00+01:00")), ..bare(shop_stop(), to) }
    );
}

#[test]
fn meituan_is_the_same_order_as_a_form_and_as_json() {
    let (key, placed, new) = only("meituan", "09_meituan_order_push.form.txt");
    let decoded = only("meituan", "09_meituan_order_push.decoded.json");
    assert_eq!((key.clone(), placed.clone(), new.clone()), decoded);
    assert_eq!(key, "26012341234567890");
    assert_eq!(placed.as_deref(), Some("2023-12-12T05:09:46.000Z"));
    // GCJ-02 in Beijing lies some 500 m to the north-east of the truth.
    let (lat, lng) = (new.dropoff.lat, new.dropoff.lng);
    assert!((39.996_108 - lat - 0.0013).abs() < 0.0003, "{lat}");
    assert!((116.481_447 - lng - 0.0061).abs() < 0.0003, "{lng}");
    let to = stop(
        lat,
        lng,
        "虚构大厦 (B座一层) 北京市朝阳区虚构东路虚构大厦",
        Some("王(女士)🌸"),
        Some("13800000000_123456"),
    );
    let note = "收餐人隐私号 13800000000_3473，手机号 138****0000 【如遇缺货】：缺货时电话与我沟通";
    // A delivery time of 0 is "at once": no time at all.
    assert_eq!(new, NewTask { note: Some(note.to_owned()), ..bare(shop_stop(), to) });
}

#[test]
fn eleme_orders_are_json_within_a_text() {
    let (key, placed, new) = only("eleme", "10_eleme_omessage.json");
    assert_eq!(key, "1200897812792015996");
    assert_eq!(placed.as_deref(), Some("2026-03-27T02:42:42.000Z"), "Shanghai's own time");
    let (lat, lng) = (new.dropoff.lat, new.dropoff.lng);
    assert!((31.2538 - lat + 0.0020).abs() < 0.0010, "{lat}");
    assert!((121.4187 - lng - 0.0044).abs() < 0.0010, "{lng}");
    let to = stop(
        lat,
        lng,
        "虚构路 100 弄 3 号楼 2501 (门铃坏了请打电话)",
        Some("张**"),
        Some("13800000000"),
    );
    let note = Some("不要葱!!! 👍🏽".to_owned());
    assert_eq!(new, NewTask { note, ..bare(shop_stop(), to) });
}

#[test]
fn ondc_goods_are_ready_a_duration_after_the_message() {
    let (key, placed, new) = only("ondc", "13_ondc_on_confirm.json");
    assert_eq!((key.as_str(), placed.as_deref()), ("O1", Some("2026-09-03T10:00:00.000Z")));
    let from = stop(
        12.453_544_5,
        77.928_379_2,
        "कल्पित भंडार, 560041",
        Some("कल्पित भंडार"),
        Some("9900000000"),
    );
    let to = stop(
        12.453_544,
        77.928_379,
        "My house, Invented House, 560076",
        Some("My house"),
        Some("9900000001"),
    );
    let note = Some("QR code: पिक-अप पर कॉल करें 🛵".to_owned());
    let ready_at = Some(at("2026-09-03T15:45:00+05:30"));
    assert_eq!(new, NewTask { ready_at, note, ..bare(from, to) });
}

#[test]
fn bitrix_finds_its_properties_by_type() {
    let (key, placed, new) = only("bitrix", "14_bitrix_create_delivery_request.json");
    assert_eq!((key.as_str(), placed), ("354", None));
    let mut from = shop_stop();
    (from.name, from.phone) =
        (Some("Вымышленный И. И.".to_owned()), Some("8 900 000 00 00".to_owned()));
    let to = stop(55.751_244, 37.618_423, "Москва, ул. Вымышленная, 26 к. 1 стр. 2", None, None);
    let note = Some("Домофон не работает, звонить +7 (900) 000-00-00".to_owned());
    assert_eq!(new, NewTask { note, ..bare(from, to) });
}

#[test]
fn mover_has_both_places_and_an_amount() {
    let (key, placed, new) = only("mover", "15_gurugram_mover_order.json");
    assert_eq!(
        (key.as_str(), placed.as_deref()),
        ("INVENTED0001", Some("2024-09-24T18:06:13.000Z"))
    );
    let from = stop(
        28.414_093_434_043_952,
        77.029_485_144_206_79,
        "C27H+JQ Gurugram, Haryana, India",
        Some("Jhon Invented"),
        Some("9900000000"),
    );
    let to = stop(
        28.394_813_204_711_046,
        77.030_844_408_754_6,
        "28.394813204711046, 77.0308444087546",
        None,
        Some("9900000001"),
    );
    assert_eq!(new, NewTask { fee: Some(12_300), ..bare(from, to) });
}
