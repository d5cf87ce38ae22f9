//! What signing in costs, and whom: an unknown name as much as a known one, and a crowd of people nobody else.

use std::{
    cmp::Ordering,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use dispatch_desk::domain::{
    command::Role,
    id::{StaffId, TaskId},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    sync::Barrier,
};

use crate::{
    browser::Browser,
    harness::{D1, Database, Desk, FOREIGN_DISPATCHER, NORTH, Site, site::PASSWORD},
};

/// The answer to a sign-in that came from `peer`, which has tried nothing before, and how long it took.
async fn sign_in(to: SocketAddr, peer: [u8; 4], login: &str, password: &str) -> (String, Duration) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((peer, 0))).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    let form = format!("login={login}&password={}", password.replace(' ', "+"));
    let request = format!(
        "POST /sign-in HTTP/1.1\r\nHost: {to}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let began = Instant::now();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    (answer, began.elapsed())
}

fn status(answer: &str) -> u16 {
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

/// Members of staff that nobody has tried to be: `k0`, `k1`, …
async fn staff(site: &Site, count: i64) {
    for number in 0..count {
        let id = 1_000 + number;
        let mut tx = site.desk.db.begin().await.unwrap();
        tx.add_staff(StaffId(id), "Kay", Role::Dispatcher, &[NORTH]).await.unwrap();
        tx.commit().await.unwrap();
        site.password(id, &format!("k{number}")).await;
    }
}

/// How far the ranks of two samples are from those of one and the same, in standard deviations (Mann and Whitney).
fn apart(one: &[f64], other: &[f64]) -> f64 {
    let wins = |(a, b): (&f64, &f64)| match a.total_cmp(b) {
        Ordering::Less => 0.0,
        Ordering::Equal => 0.5,
        Ordering::Greater => 1.0,
    };
    let wins: f64 = one.iter().flat_map(|a| other.iter().map(move |b| (a, b))).map(wins).sum();
    let size = |sample: &[f64]| f64::from(u32::try_from(sample.len()).unwrap());
    let (n, m) = (size(one), size(other));
    (wins - n * m / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt()
}

fn median(sample: &[f64]) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// One in 10,000 pairs of samples of the same thing is further apart.
const TOO_FAR: f64 = 3.9;

#[test]
fn samples_that_differ_would_be_told_apart() {
    let same: Vec<f64> = (0..60).map(|n| f64::from(n % 20)).collect();
    let more: Vec<f64> = same.iter().map(|n| n + 12.0).collect();
    assert!(apart(&same, &same).abs() < 1e-9);
    assert!(apart(&more, &same) > TOO_FAR && apart(&same, &more) < -TOO_FAR);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_can_tell_by_the_time_whether_a_name_is_known() {
    const TRIES: u8 = 60;
    let site = Site::open().await;
    staff(&site, TRIES.into()).await;
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    // In turn, so that whatever else the machine does befalls both.
    for n in 0..TRIES {
        let mut pair = [(1, "k", &mut known), (2, "u", &mut unknown)];
        pair.rotate_left(usize::from(n % 2));
        for (kind, name, took) in pair {
            let login = format!("{name}{n}");
            let (answer, time) =
                sign_in(site.address, [127, 3, kind, n + 1], &login, "wrong").await;
            assert_eq!(status(&answer), 401, "{answer}");
            let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            assert!(body.contains("The name or the password is wrong.") || body.contains("密码"));
            took.push(time.as_secs_f64() * 1_000.0);
        }
    }
    let (of_known, of_unknown) = (median(&known), median(&unknown));
    let far = apart(&known, &unknown);
    println!("medians {of_known:.1} ms and {of_unknown:.1} ms, {far:.2} standard deviations apart");
    assert!((of_known / of_unknown - 1.0).abs() < 0.1, "{of_known} ms and {of_unknown} ms");
    assert!(far.abs() < TOO_FAR, "{far}: {known:?} {unknown:?}");
    // Without the work it would show.
    let idle: Vec<f64> = unknown.iter().map(|ms| ms / 2.0).collect();
    assert!(apart(&known, &idle) > TOO_FAR, "it is seen to depend on the work");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_task_takes_no_longer_than_one_that_is_not_there() {
    let site = Site::open().await;
    let foreign = site.desk.create().await;
    let mut other = Browser::enter(&site, &FOREIGN_DISPATCHER).await;
    let (mut there, mut nowhere) = (Vec::new(), Vec::new());
    for n in 0..100_i64 {
        let mut pair =
            [(foreign.to_string(), &mut there), (TaskId(900_000 + n).to_string(), &mut nowhere)];
        pair.rotate_left(usize::try_from(n % 2).unwrap());
        for (task, took) in pair {
            let began = Instant::now();
            let page = other.get(&format!("/tasks/{task}")).await;
            took.push(began.elapsed().as_secs_f64() * 1_000.0);
            assert_eq!(page.is(404).text_of("h1"), "That did not work");
        }
    }
    let far = apart(&there, &nowhere);
    println!(
        "medians {:.2} ms and {:.2} ms, {far:.2} standard deviations apart",
        median(&there),
        median(&nowhere)
    );
    assert!(far.abs() < TOO_FAR, "{far}: {there:?} {nowhere:?}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_who_sign_in_at_once_keep_no_dispatcher_waiting() {
    const CROWD: u8 = 200;
    let site = Site::open().await;
    staff(&site, CROWD.into()).await;
    let mut dora = Browser::enter(&site, &D1).await;
    let barrier = Arc::new(Barrier::new(usize::from(CROWD) + 1));
    let (waiting, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let crowd: Vec<_> = (0..CROWD)
        .map(|n| {
            let (barrier, waiting, most) = (barrier.clone(), waiting.clone(), most.clone());
            let to = site.address;
            tokio::spawn(async move {
                barrier.wait().await;
                most.fetch_max(waiting.fetch_add(1, SeqCst) + 1, SeqCst);
                let (answer, _) = sign_in(to, [127, 3, 3, n + 1], &format!("k{n}"), PASSWORD).await;
                waiting.fetch_sub(1, SeqCst);
                answer
            })
        })
        .collect();
    barrier.wait().await;
    let mut boards = Vec::new();
    while !crowd.iter().all(tokio::task::JoinHandle::is_finished) {
        let began = Instant::now();
        dora.get("/board").await.is(200);
        let meanwhile = waiting.load(SeqCst);
        boards.push((began.elapsed(), meanwhile));
    }
    let (mut entered, mut sent_away) = (0, Vec::new());
    for (n, one) in crowd.into_iter().enumerate() {
        let answer = one.await.unwrap();
        match status(&answer) {
            303 => entered += 1,
            503 => {
                assert!(answer.to_lowercase().contains("\r\nretry-after: "), "{answer}");
                sent_away.push(n);
            }
            other => panic!("{other}: {answer}"),
        }
    }
    let longest = boards.iter().map(|(took, _)| took).max().unwrap();
    println!(
        "{} waited at once; {entered} came in, {} were sent away; {} boards meanwhile, the longest {longest:?}",
        most.load(SeqCst),
        sent_away.len(),
        boards.len()
    );
    assert!(entered >= 18, "two at a time, and sixteen who wait: {entered}");
    let during = boards.iter().filter(|(_, meanwhile)| *meanwhile > 0).count();
    assert!(during >= 3, "the board was answered while others waited: {boards:?}");
    // Whoever was sent away has not failed: they try as often as before, and come in.
    for n in sent_away.into_iter().take(12) {
        let peer = [127, 3, 3, u8::try_from(n).unwrap() + 1];
        let (answer, _) = sign_in(site.address, peer, &format!("k{n}"), PASSWORD).await;
        assert_eq!(status(&answer), 303, "{answer}");
    }
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_guess_at_the_end_of_a_delay_one_is_looked_at() {
    let site = Site::on(Desk::open(Database::Postgres).await).await;
    staff(&site, 1).await;
    let guess =
        async |last: u8| status(&sign_in(site.address, [127, 3, 4, last], "k0", "wrong").await.0);
    for last in 1..=12 {
        site.desk.advance_ms(300_000).await;
        assert_eq!(guess(last).await, 401);
    }
    assert_eq!(guess(13).await, 429, "there is a delay by now");
    site.desk.advance_ms(300_000).await;
    let answers = futures_util::future::join_all((20..36).map(guess)).await;
    let looked_at = answers.iter().filter(|status| **status == 401).count();
    println!("{answers:?}");
    assert_eq!(looked_at, 1, "all at once: {answers:?}");
    site.close().await;
}
