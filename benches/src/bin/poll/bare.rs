//! The peer: hyper's own client on connections that stay open, its questions on the same grid, and each
//! answer parsed as JSON. It judges nothing, remembers nothing and writes nothing.

use std::io::Write as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use http_body_util::{BodyExt as _, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use mainstay_benches::cpu::process_time;
use mainstay_monitor::policy::GRID;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{Instant, MissedTickBehavior};

use crate::INTERVAL;
use crate::cost::{SERVICES, WINDOW};
use crate::upstream::host;

/// Says that this process is the peer.
pub(crate) const ROLE: &str = "bare-client";

/// The process of the peer, ended with this value.
pub(crate) struct Bare {
    child: Child,
    lines: std::io::Lines<std::io::BufReader<ChildStdout>>,
}

/// What the peer has used so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) answers: u64,
    pub(crate) cpu: Duration,
}

type Sender = Arc<Mutex<SendRequest<Empty<Bytes>>>>;

impl Bare {
    pub(crate) fn start(port: u16) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([ROLE, &port.to_string()])
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("standard output")?;
        let lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
        Ok(Self { child, lines })
    }

    /// Waits for the end of its next window.
    pub(crate) fn next(&mut self) -> anyhow::Result<Used> {
        let line = self.lines.next().context("the bare client ended")??;
        let (answers, nanos) = line.split_once(' ').context("no two numbers")?;
        Ok(Used { answers: answers.parse()?, cpu: Duration::from_nanos(nanos.parse()?) })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until it is killed, and tells at the end of each window what it has used.
pub(crate) async fn ask(port: u16) -> anyhow::Result<()> {
    let mut senders = Vec::new();
    for number in 0..SERVICES {
        senders.push(connect(number, port).await?);
    }
    let answers = Arc::new(AtomicU64::new(0));
    let steps = INTERVAL.as_millis() / GRID.as_millis();
    let group = senders.len().div_ceil(usize::try_from(steps)?);
    let mut grid = tokio::time::interval(GRID);
    grid.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut window_ends = Instant::now() + WINDOW;
    for group in senders.chunks(group).cycle() {
        grid.tick().await;
        if Instant::now() >= window_ends {
            let nanos = process_time().as_nanos();
            writeln!(std::io::stdout(), "{} {nanos}", answers.load(Ordering::Relaxed))?;
            window_ends += WINDOW;
        }
        for sender in group {
            tokio::spawn(exchange(Arc::clone(sender), Arc::clone(&answers)));
        }
    }
    Ok(())
}

async fn connect(number: u32, port: u16) -> anyhow::Result<Sender> {
    let stream = TcpStream::connect((host(number), port)).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(Arc::new(Mutex::new(sender)))
}

async fn exchange(sender: Sender, answers: Arc<AtomicU64>) -> anyhow::Result<()> {
    let question = Request::get("/health").header("host", "peer").body(Empty::new())?;
    let mut sender = sender.lock().await;
    let answer = sender.send_request(question).await?;
    let body = answer.into_body().collect().await?.to_bytes();
    let parsed: Value = serde_json::from_slice(&body)?;
    anyhow::ensure!(parsed.is_array(), "no array");
    answers.fetch_add(1, Ordering::Relaxed);
    Ok(())
}
