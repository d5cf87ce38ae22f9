//! Who is there. All of them are invented.

use super::{Error, folder::Folder, places};
use crate::{
    admin,
    domain::{
        command::{Actor, Role},
        geo::{Area, Place},
        id::{RegionId, RiderId, StaffId, Timestamp},
        policy::Policy,
        round::{RoundRules, RoundStart},
        task::Vehicle,
    },
    store::Db,
};

/// Where everything happens.
pub(super) const REGION: RegionId = RegionId(1);
/// The colleague who works by herself.
const COLLEAGUE: StaffId = StaffId(9);
const SHOP: &str = "demo-shop";

const STAFF: [(StaffId, &str, Role); 4] = [
    (StaffId(1), "赵强", Role::Dispatcher),
    (StaffId(2), "王芳", Role::Supervisor),
    (StaffId(3), "陈静", Role::Auditor),
    (COLLEAGUE, "自动排班", Role::Dispatcher),
];

/// The first of them is left to whoever tries the demo.
const NAMES: [&str; 30] = [
    "李明", "王伟", "张磊", "刘洋", "陈杰", "杨帆", "黄涛", "周鹏", "吴斌", "徐浩", "孙亮", "马超",
    "朱峰", "胡兵", "郭勇", "何军", "高翔", "林海", "罗平", "郑凯", "梁栋", "谢宇", "宋健", "唐波",
    "许诺", "韩雪", "冯娟", "邓丽", "曹颖", "彭敏",
];

/// A simulated rider.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rider {
    pub id: RiderId,
    pub capacity: usize,
    pub place: Place,
}

fn vehicle(index: usize) -> Vehicle {
    match index % 6 {
        2 => Vehicle::Bicycle,
        4 => Vehicle::Car,
        5 => Vehicle::Van,
        _ => Vehicle::Motorcycle,
    }
}

fn capacity(index: usize) -> u32 {
    // The rider that people try has room for several.
    [3, 2, 1, 2, 3, 1, 2][index % 7]
}

fn number(index: usize) -> RiderId {
    RiderId(i64::try_from(index).unwrap_or_default() + 1)
}

/// The riders who act by themselves: all but the first.
pub(super) fn riders() -> impl Iterator<Item = Rider> {
    (1..NAMES.len()).map(|index| Rider {
        id: number(index),
        capacity: capacity(index) as usize,
        place: places::start(index),
    })
}

/// Puts everybody in, if nobody is there. Whether it did.
pub(super) async fn seed(db: &Db) -> Result<bool, Error> {
    let mut tx = db.begin().await?;
    let now = tx.now().await?;
    if !tx.regions(now).await?.is_empty() {
        return Ok(false);
    }
    let area = Area::Circle { centre: places::CENTRE, radius_m: 8_000.0 };
    tx.add_region(REGION, "上海", chrono_tz::Asia::Shanghai, &area).await?;
    // New tasks go out by themselves, in small batches: a newcomer sees each step.
    let rounds = RoundRules {
        start: RoundStart::AtOnce,
        ladder_m: vec![1_000, 2_500, 8_000],
        batch: 4,
        rounds: 3,
        ..RoundRules::default()
    };
    let policy = Policy { rounds, ..Policy::default() };
    tx.add_policy(REGION, Timestamp(0), &policy).await?;
    for (id, name, role) in STAFF {
        tx.add_staff(id, name, role, &[REGION]).await?;
    }
    for (index, name) in NAMES.into_iter().enumerate() {
        let id = number(index);
        tx.add_rider(id, REGION, name, capacity(index), Some(vehicle(index))).await?;
        tx.put_fix(id, 1, now, places::start(index)).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// What the people act under. Nobody sees it; it ends with the next demo.
#[derive(Debug)]
pub(super) struct Tokens {
    pub dispatcher: String,
    pub shop: String,
    pub riders: Vec<String>,
}

impl Tokens {
    /// Ends the tokens of the demo before and makes new ones.
    pub(super) async fn renew(db: &Db, folder: &Folder) -> Result<Self, Error> {
        for old in folder.tokens()? {
            match admin::revoke(db, &old).await {
                // Ended already.
                Ok(()) | Err(admin::Error::Nobody(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        folder.keep_token(None)?;
        let make = async |actor: &Actor| -> Result<String, Error> {
            let token = admin::token(db, actor, "demo").await?;
            // A token is `desk_<id>_<secret>`.
            folder.keep_token(token.split('_').nth(1))?;
            Ok(token)
        };
        let dispatcher = make(&Actor::Staff(COLLEAGUE)).await?;
        let shop = make(&admin::source(SHOP)?).await?;
        let mut tokens = Vec::new();
        for rider in riders() {
            tokens.push(make(&Actor::Rider(rider.id)).await?);
        }
        Ok(Self { dispatcher, shop, riders: tokens })
    }
}
