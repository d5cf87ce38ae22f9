//! Files that were made to fill the memory: whatever is sent to be looked at, the desk grows by less than 50 MiB (`S20`).

use std::{fs, io};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    browser::Browser,
    harness::{D1, Site},
};

const MIB: usize = 1 << 20;
/// What a look at one file may take, in MiB.
const MOST_MIB: u64 = 50;

fn memory_mib(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|found| found.strip_prefix(line)).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1_024
}

/// From here on the kernel notes anew how much memory this process had at most.
fn forget_the_peak() -> io::Result<()> {
    fs::write("/proc/self/clear_refs", "5")
}

/// A file of so many bytes: a head, the same again and again, an end. It is never in memory as a whole.
struct Hostile {
    name: &'static str,
    mapping: &'static str,
    head: &'static str,
    again: &'static str,
    end: &'static str,
    size: usize,
}

const fn csv(name: &'static str, again: &'static str) -> Hostile {
    Hostile { name, mapping: "chicago", head: "", again, end: "\n", size: 4 * MIB }
}

const fn json(
    name: &'static str,
    head: &'static str,
    again: &'static str,
    end: &'static str,
) -> Hostile {
    Hostile { name, mapping: "coopcycle-tasks", head, again, end, size: 4 * MIB }
}

const FILES: [Hostile; 14] = [
    csv("one column", "x"),
    csv("columns without end", "x,"),
    csv("empty columns", ","),
    csv("lines", "\n"),
    csv("lines of one column", "x\n"),
    csv("quotes", "\""),
    csv("quoted columns", "\"\","),
    csv("NUL bytes", "\0"),
    csv("UTF-16", "x\0,\0"),
    json("empty arrays", "[", "[],", "[]]"),
    json("numbers", "[", "0,", "0]"),
    json("brackets", "", "[", ""),
    json("members", "{", "\"a\":0,", "\"a\":0}"),
    json("objects", "[", "{},", "{}]"),
];

/// Sends a file to be looked at; returns the status, and where it is looked at.
async fn send(site: &Site, dora: &Browser, file: &Hostile) -> (u16, Option<String>) {
    let field = |name: &str, text: &str| {
        format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    };
    let mut head: String = [
        ("form", dora.word("desk").as_str()),
        ("mapping", file.mapping),
        ("region", "1"),
        ("source", "s"),
    ]
    .into_iter()
    .map(|(name, text)| field(name, text))
    .collect();
    head += "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n";
    head += file.head;
    let tail = format!("{}\r\n--edge--\r\n", file.end);
    let times = file.size / file.again.len();
    let length = head.len() + times * file.again.len() + tail.len();
    let request = format!(
        "POST /import HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-origin\r\nCookie: desk={}\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\nContent-Length: {length}\r\n\r\n{head}",
        site.address, dora.cookies["desk"]
    );
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let at_once = 64 * 1_024 / file.again.len();
    let chunk = file.again.repeat(at_once);
    for _ in 0..times / at_once {
        stream.write_all(chunk.as_bytes()).await.unwrap();
    }
    stream.write_all(file.again.repeat(times % at_once).as_bytes()).await.unwrap();
    stream.write_all(tail.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() < 200_000, "{}: {} bytes of page", file.name, answer.len());
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let next = answer.lines().find_map(|line| line.strip_prefix("location: "));
    (status.expect("a status"), next.map(str::to_owned))
}

/// The first line of an answer, as soon as it is there.
async fn first_line(from: &mut (impl AsyncReadExt + Unpin)) -> String {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        line.push(from.read_u8().await.unwrap());
    }
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_uploaded_takes_little_memory() {
    let site = Site::open().await;
    let mut dora = Browser::enter(&site, &D1).await;
    let mut grown = Vec::new();
    for file in &FILES {
        forget_the_peak().expect("the kernel counts memory anew");
        let before = memory_mib("VmRSS:");
        let (status, next) = send(&site, &dora, file).await;
        if let Some(next) = next {
            // It is read when it is looked at.
            let page = dora.get(&next).await;
            page.is(200);
        }
        let more = memory_mib("VmHWM:").saturating_sub(before);
        println!("{}: {status}, {more} MiB more", file.name);
        assert!([303, 422].contains(&status), "{}: {status}", file.name);
        grown.push((file.name, more));
    }
    assert!(grown.iter().any(|(_, more)| *more >= 4), "what is held is counted: {grown:?}");
    assert!(grown.iter().all(|(_, more)| *more < MOST_MIB), "{grown:?}");
    site.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_long_is_refused_before_it_has_come() {
    let site = Site::open().await;
    let dora = Browser::enter(&site, &D1).await;
    let head = format!(
        "POST /import HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: same-origin\r\nCookie: desk={}\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\n",
        site.address, dora.cookies["desk"]
    );
    // It says that it is 2 GiB long, and not one byte of it is waited for.
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    stream.write_all(format!("{head}Content-Length: 2147483648\r\n\r\n").as_bytes()).await.unwrap();
    assert_eq!(first_line(&mut stream).await, "HTTP/1.1 413 Payload Too Large");
    // It does not say how long it is, and has no end.
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let word = dora.word("desk");
    let opening = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"form\"\r\n\r\n{word}\r\n--edge\r\n\
         Content-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
    );
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let head = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}", chunk(&opening));
    stream.write_all(head.as_bytes()).await.unwrap();
    let piece = chunk(&"x,".repeat(32 * 1_024));
    let mut sent = 0;
    while sent < 6 * MIB {
        stream.write_all(piece.as_bytes()).await.unwrap();
        sent += piece.len();
    }
    // Here the sender waits. Its answer comes although the file has no end yet.
    assert_eq!(first_line(&mut stream).await, "HTTP/1.1 413 Payload Too Large");
    // It goes on all the same: some of the rest is read, so that the answer arrives, and then the connection ends.
    while sent < 256 * MIB && stream.write_all(piece.as_bytes()).await.is_ok() {
        sent += piece.len();
    }
    println!("refused within 6 MiB, cut off after {} MiB", sent / MIB);
    // What lies in the buffers of two sockets is sent and not taken.
    assert!(sent < 64 * MIB, "cut off after {sent}");
    site.close().await;
}
