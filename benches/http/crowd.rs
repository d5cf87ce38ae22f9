//! What the board costs while two hundred people sign in at once, again and again.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use dispatch_desk::{
    admin,
    domain::{
        command::{Actor, Role},
        id::StaffId,
    },
    store::{Db, Time},
    web,
};

use super::{
    cast,
    client::{Connection, sign_in_by_password},
    control::percentile,
    desk,
    program::Program,
};

/// How many sign in at once.
const CROWD: u8 = 200;
/// How often the board is looked at, for each row.
const BOARDS: usize = 300;
const PASSWORD: &str = "a-long+password-of-the-bench";

async fn staff(url: &str) -> String {
    let db = Db::open(url, Time::System).await.expect("opens");
    let phc = web::hash_password(PASSWORD, &[7; 16]).expect("a hash");
    let mut tx = db.begin().await.expect("begins");
    let now = tx.now().await.expect("a time");
    for number in 0..CROWD {
        let id = StaffId(1_000 + i64::from(number));
        tx.add_staff(id, "Kay", Role::Dispatcher, &[cast::NORTH]).await.expect("one of staff");
        tx.set_password(id, &format!("k{number}"), &phc, now).await.expect("a password");
    }
    tx.commit().await.expect("commits");
    let link = admin::link(&db, &Actor::Staff(StaffId(1)), 3_600_000, 1).await.expect("a link");
    db.close().await;
    link
}

/// Everybody signs in at once from an address of their own; returns how many came in.
async fn wave(address: SocketAddr, wave: u8) -> usize {
    let crowd = (0..CROWD).map(|number| {
        tokio::spawn(async move {
            let peer = [127, 10 + wave, 1, number + 1];
            sign_in_by_password(address, peer, &format!("k{number}"), PASSWORD).await
        })
    });
    let mut entered = 0;
    for one in crowd.collect::<Vec<_>>() {
        entered += usize::from(one.await.expect("an answer") == 303);
    }
    entered
}

/// Prints the table: alone, then with the crowd at the door for as long as it is measured.
pub async fn crowd(folder: &Path) {
    println!(
        "\n| at the door | board page p50 ms | p99 ms | longest ms | sign-ins a second: all | in |"
    );
    println!("|---|---|---|---|---|---|");
    let (url, _) = desk(folder, "crowd", 1_000, 3, 0).await;
    let link = staff(&url).await;
    let program = Program::start(&url).await;
    let mut connection = Connection::open(program.address).await;
    let cookie = connection.sign_in(&link).await;
    for at_the_door in [0, CROWD] {
        let (over, address) = (Arc::new(AtomicBool::new(at_the_door == 0)), program.address);
        let stop = Arc::clone(&over);
        let began = Instant::now();
        let door = tokio::spawn(async move {
            let (mut all, mut entered) = (0, 0);
            for number in 0..200 {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                entered += wave(address, number).await;
                all += usize::from(CROWD);
            }
            (all, entered)
        });
        let mut took = Vec::with_capacity(BOARDS);
        for _ in 0..BOARDS {
            let sent = Instant::now();
            let (status, _) = connection.get("/board", &format!("Cookie: {cookie}")).await;
            took.push(sent.elapsed().as_secs_f64() * 1_000.0);
            assert_eq!(status, 200);
        }
        assert!(at_the_door == 0 || !door.is_finished(), "the crowd was there to the end");
        over.store(true, Ordering::Relaxed);
        let (all, entered) = door.await.expect("the crowd goes home");
        #[expect(clippy::cast_precision_loss, reason = "a count of people")]
        let a_second = |count: usize| count as f64 / began.elapsed().as_secs_f64();
        took.sort_by(f64::total_cmp);
        println!(
            "| {at_the_door} | {:.2} | {:.2} | {:.2} | {:.0} | {:.0} |",
            percentile(&took, 0.5),
            percentile(&took, 0.99),
            percentile(&took, 1.0),
            a_second(all),
            a_second(entered)
        );
    }
    program.stop().await;
}
