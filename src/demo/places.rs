//! Where things are fetched and brought: near the People's Square of Shanghai. Names, numbers and telephones are
//! invented, and so are the streets.

use fastrand::Rng;

use super::people::REGION;
use crate::domain::{
    command::{NewTask, Stop},
    geo::Place,
    id::Timestamp,
};

/// The middle of the region.
pub(super) const CENTRE: Place = Place { lat: 31.2304, lng: 121.4737 };

/// Who sells, where, how far from the middle (in thousandths of a degree).
const SHOPS: [(&str, &str, f64, f64); 12] = [
    ("拾味小馆", "黄浦区青梧路 88 号", 2.1, -1.4),
    ("弄堂生煎铺", "黄浦区栖霞弄 12 号", -1.8, 3.0),
    ("半日咖啡", "黄浦区云锦路 301 号 1 层", 0.9, 5.2),
    ("晨光药房", "黄浦区东篱路 47 号", -3.6, -2.2),
    ("一叶花店", "静安区南屏路 210 号", 6.4, -7.1),
    ("墨香书局", "黄浦区文渊路 9 号", 1.2, 7.7),
    ("老灶本帮面", "黄浦区石桥弄 5 号", -5.0, 4.1),
    ("鲜果时光", "静安区梧桐里 66 号", 8.3, -3.8),
    ("小满烘焙", "黄浦区小满路 23 号", -2.7, -6.0),
    ("安心便利", "虹口区望江路 140 号", 10.6, 6.3),
    ("春和粥铺", "黄浦区春和路 78 号", 3.9, 1.1),
    ("云间数码", "静安区云间路 500 号 B1", 4.8, -10.2),
];

const HOMES: [&str; 16] = [
    "黄浦区清和坊 3 号 502 室",
    "黄浦区广济里 18 弄 2 号 301 室",
    "静安区锦华苑 7 号楼 1204 室",
    "静安区梅园新邨 25 号 604 室",
    "黄浦区金陵雅苑 9 号 2101 室",
    "虹口区平江里 41 弄 6 号 402 室",
    "黄浦区瑞和大厦 15 层 1503",
    "静安区南屏中心 A 座 22 层",
    "黄浦区永宁坊 77 号底楼",
    "虹口区望江公寓 4 号 1702 室",
    "黄浦区文渊大楼 8 层 806",
    "静安区柏悦里 12 号 903 室",
    "黄浦区聚福里 30 弄 11 号",
    "静安区嘉禾广场 C 座 5 层",
    "黄浦区同乐坊 56 号 203 室",
    "虹口区长乐苑 19 号 1101 室",
];

const PEOPLE: [&str; 12] = [
    "沈女士",
    "陆先生",
    "顾女士",
    "钱先生",
    "姚女士",
    "邵先生",
    "孟女士",
    "严先生",
    "金女士",
    "戴先生",
    "夏女士",
    "汪先生",
];

const NOTES: [&str; 6] = [
    "请放前台，勿按门铃",
    "到了请打电话，门禁需接",
    "汤品易洒，请轻放",
    "有小朋友在睡觉，请轻敲门",
    "电梯维修，请走 B 梯",
    "餐具请多放一份",
];

fn around(lat: f64, lng: f64) -> Place {
    Place { lat: CENTRE.lat + lat / 1_000.0, lng: CENTRE.lng + lng / 1_000.0 }
}

/// Where a rider's shift begins: spread around the middle like seeds of a sunflower.
pub(super) fn start(index: usize) -> Place {
    let index = f64::from(u32::try_from(index).unwrap_or_default());
    let (angle, radius) = (index * 2.399_963, 3.0 * index.sqrt());
    around(radius * angle.cos(), radius * angle.sin())
}

fn one_of<T: Copy>(chance: &mut Rng, all: &[T]) -> Option<T> {
    if all.is_empty() { None } else { Some(all[chance.usize(0..all.len())]) }
}

fn phone(chance: &mut Rng) -> String {
    format!("13800000{:03}", chance.u32(0..1_000))
}

/// An order that somebody might place now.
pub(super) fn order(chance: &mut Rng, now: Timestamp) -> NewTask {
    let (shop, address, lat, lng) = SHOPS[chance.usize(0..SHOPS.len())];
    let from = around(lat, lng);
    let to = around((chance.f64() - 0.5) * 40.0, (chance.f64() - 0.5) * 46.0);
    let pickup = Stop {
        lat: from.lat,
        lng: from.lng,
        address: format!("{shop}，{address}"),
        name: Some(shop.to_owned()),
        phone: Some(phone(chance)),
    };
    let dropoff = Stop {
        lat: to.lat,
        lng: to.lng,
        address: one_of(chance, &HOMES).unwrap_or_default().to_owned(),
        name: one_of(chance, &PEOPLE).map(str::to_owned),
        phone: Some(phone(chance)),
    };
    let minutes = |chance: &mut Rng, range: std::ops::Range<i64>| 60_000 * chance.i64(range);
    let note = one_of(chance, &NOTES).map(str::to_owned);
    NewTask {
        region: REGION,
        pickup,
        dropoff,
        release_at: None,
        ready_at: Some(now.plus_ms(minutes(chance, 2..10))),
        due_at: Some(now.plus_ms(minutes(chance, 30..60))),
        vehicle: None,
        priority: i64::from(chance.u32(0..8) == 0),
        fee: Some(100 * chance.i64(6..19)),
        note: note.filter(|_| chance.u32(0..3) == 0),
    }
}
