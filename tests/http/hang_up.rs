//! Whoever leaves in the middle gives up the answer, not the command (C26).

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use dispatch_desk::domain::fingerprint::key_hash;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::{
    harness::{
        node::back,
        race::Overlap,
        record::{Came, now_ns},
        *,
    },
    http::Face,
    short::{clear, is_done},
};

/// Sends a request and breaks the connection off (RST) so much later, without reading.
async fn ask_and_break_off(address: String, request: Vec<u8>, after: Duration) {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_zero_linger().expect("closing breaks off");
    stream.write_all(&request).await.expect("it is taken");
    // The client's patience is real time.
    tokio::time::sleep(after).await;
}

for_each_database!(who_breaks_off_in_the_middle_finds_a_decided_answer_under_the_key, |desk| {
    async move {
        let http = Face::of(desk).await;
        let mut overlap = Overlap::default();
        let mut rng = StdRng::seed_from_u64(26);
        let mut decided_meanwhile = 0;
        // 160 commands a round.
        for _ in 0..rounds(2, 13) {
            let tasks = http.create_many(40).await;
            let commands = (1..).zip(&tasks).flat_map(|(number, task)| {
                [
                    http.change(rider(number), *task, 1, GRAB),
                    http.change(rider(number + 10), *task, 1, GRAB),
                    http.change(D1, *task, 1, offer(number + 20)),
                    http.change(D2, *task, 2, CANCEL),
                ]
            });
            let commands: Vec<_> = commands.collect();
            let mut asked = tokio::task::JoinSet::new();
            for (index, command) in commands.iter().enumerate() {
                let origin = &http.origins[index % http.origins.len()];
                let address = origin.trim_start_matches("http://").to_owned();
                let request = http.as_request(command).await.raw();
                let after = Duration::from_micros(rng.random_range(0..10_000));
                let invoked = now_ns();
                asked.spawn(ask_and_break_off(address, request, after));
                http.recorder.note(command.clone(), invoked, u64::MAX / 2, Came::Nothing);
            }
            asked.join_all().await;

            // Whoever comes next is served at once.
            let since = Instant::now();
            http.get(&D1, "/api/v1/tasks").await.is(200);
            assert!(since.elapsed() < Duration::from_secs(1), "{:?}", since.elapsed());

            let sent = http.contest(commands).await;
            overlap.count(&sent);
            for again in &sent {
                let answer = back(&again.came);
                assert!([200, 409].contains(&answer.status), "{again:#?}");
                decided_meanwhile += usize::from(answer.replayed);
            }
            let done = sent.iter().filter(|sent| is_done(sent)).filter_map(|sent| {
                let key = sent.command.key.as_ref()?;
                Some(key_hash(&sent.command.actor.principal(), key))
            });
            let done: HashSet<_> = done.collect();
            let mut logged = Vec::new();
            for task in &tasks {
                logged.extend(http.events(*task).await.into_iter().skip(1));
            }
            let keys: HashSet<_> =
                logged.iter().filter_map(|event| event.key_hash.clone()).collect();
            assert_eq!((logged.len(), &keys), (done.len(), &done));
            clear(&http, &tasks).await;
        }
        println!("C26 over HTTP: {decided_meanwhile} commands were decided though nobody waited");
        assert!(decided_meanwhile > 0, "nobody broke off in the middle");
        overlap.report("C26 over HTTP: sent again after breaking off");
        http.check().await;
    }
});
