//! Requests over connections that stay open, as fast as they are answered.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The largest answer that a load expects.
const MAX_ANSWER: usize = 16 * 1024;

/// Asks `path` of `address` on `connections` at once for `time`, and counts the answers. `headers`
/// are lines, each with its end.
///
/// # Errors
/// When a connection breaks or an answer is not 200.
pub async fn requests(
    address: &str,
    path: &str,
    headers: &str,
    connections: usize,
    time: Duration,
) -> anyhow::Result<u64> {
    let until = Instant::now() + time;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n");
    let tasks: Vec<_> = (0..connections)
        .map(|_| tokio::spawn(one_connection(address.to_owned(), request.clone(), until)))
        .collect();
    let mut answered = 0;
    for task in tasks {
        answered += task.await??;
    }
    Ok(answered)
}

async fn one_connection(address: String, request: String, until: Instant) -> anyhow::Result<u64> {
    let mut stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; MAX_ANSWER];
    let mut answered = 0;
    while Instant::now() < until {
        stream.write_all(request.as_bytes()).await?;
        read_answer(&mut stream, &mut buffer).await?;
        answered += 1;
    }
    Ok(answered)
}

async fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> anyhow::Result<()> {
    let mut filled = 0;
    loop {
        let free = buffer.get_mut(filled..).context("the answer is too large")?;
        let read = stream.read(free).await?;
        anyhow::ensure!(read > 0, "the server closed the connection");
        filled += read;
        let answer = buffer.get(..filled).unwrap_or_default();
        if let Some(length) = whole_length(answer)? {
            anyhow::ensure!(filled == length, "more came than was asked for");
            return Ok(());
        }
    }
}

/// How long the whole answer is, once all of it is there.
fn whole_length(answer: &[u8]) -> anyhow::Result<Option<usize>> {
    let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(answer.get(..end).unwrap_or_default())?;
    anyhow::ensure!(head.starts_with("HTTP/1.1 200"), "not 200: {head}");
    let length: usize = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
        })
        .context("no length")?;
    let whole = end + 4 + length;
    Ok((answer.len() >= whole).then_some(whole))
}
