//! A line that breaks: requests get through, replies do not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Listens, and passes on to `origin`. The first `cuts` connections break once the server has begun to reply.
pub async fn line(origin: &str, cuts: usize) -> (String, Arc<AtomicUsize>) {
    let server = origin.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let broken = count.fetch_add(1, Ordering::SeqCst) < cuts;
            let server = server.clone();
            tokio::spawn(async move { pass(client, &server, broken).await });
        }
    });
    (address, taken)
}

async fn pass(mut client: TcpStream, server: &str, broken: bool) {
    let mut server = TcpStream::connect(server).await.unwrap();
    if !broken {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        return;
    }
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let mut reply = [0; 1];
        tokio::select! {
            read = client.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(read) => server.write_all(&buffer[..read]).await.unwrap(),
            },
            // The command was decided: nobody is answered before.
            read = server.read(&mut reply) => {
                assert_eq!(read.unwrap(), 1);
                return;
            }
        }
    }
}
