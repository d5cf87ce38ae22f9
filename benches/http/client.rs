//! One kept connection, as plain as it can be: the bench is to measure the server.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

/// A sign-in with name and password from `peer`, on a connection of its own; returns the status.
pub async fn sign_in_by_password(
    host: SocketAddr,
    peer: [u8; 4],
    login: &str,
    password: &str,
) -> u16 {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((peer, 0))).expect("an address of this machine");
    let mut stream = socket.connect(host).await.expect("the program listens");
    let form = format!("login={login}&password={}", password.replace('+', "%2B"));
    let request = format!(
        "POST /sign-in HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    stream.write_all(request.as_bytes()).await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

/// One kept connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    host: SocketAddr,
}

impl Connection {
    /// Connects.
    pub async fn open(host: SocketAddr) -> Self {
        let stream = TcpStream::connect(host).await.expect("the program listens");
        stream.set_nodelay(true).expect("an open socket");
        Self { stream, read: Vec::with_capacity(64 * 1024), host }
    }

    /// A command.
    pub async fn post(&mut self, path: &str, token: &str, key: &str, body: &str) -> (u16, String) {
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nIdempotency-Key: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        let (status, _, body) = self.ask(&request).await;
        (status, body)
    }

    /// A read, with one header line of the caller's own.
    pub async fn get(&mut self, path: &str, header: &str) -> (u16, String) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{header}\r\n\r\n", self.host);
        let (status, _, body) = self.ask(&request).await;
        (status, body)
    }

    /// Uses a sign-in link of staff. Returns the session's cookie.
    pub async fn sign_in(&mut self, link: &str) -> String {
        let path = link.replace("/enter/", "/desk/enter/");
        let request =
            format!("POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\n\r\n", self.host);
        let (status, head, _) = self.ask(&request).await;
        assert_eq!(status, 303, "{head}");
        let line = head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        line.and_then(|line| line.split(';').next()).expect("a cookie").to_owned()
    }

    async fn ask(&mut self, request: &str) -> (u16, String, String) {
        self.stream.write_all(request.as_bytes()).await.expect("written");
        self.read.clear();
        loop {
            let count = self.stream.read_buf(&mut self.read).await.expect("read");
            assert!(count > 0, "the server hung up");
            let Some(end) = self.read.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&self.read[..end]).into_owned();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok())
                .unwrap_or(0);
            if self.read.len() >= end + 4 + length {
                let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
                let body = String::from_utf8_lossy(&self.read[end + 4..]).into_owned();
                return (status.expect("a status"), head, body);
            }
        }
    }
}
