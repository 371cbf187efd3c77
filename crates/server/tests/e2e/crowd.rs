//! Five thousand who connect at once: everybody is let in or told cleanly to come later, everybody who is
//! in gets the event, and nothing of them stays when they have left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstay_base::{SystemClock, SystemRng};
use mainstay_events::{Event, Events, EventsError, EventsOptions, Stream};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::client::get;
use crate::people::{post, set_up, signed};
use crate::process::{Server, mainstay};

const CLIENTS: usize = 5_000;
/// Streams of one token.
const PER_TOKEN: usize = 100;
/// What is open in this process beside the clients.
const BESIDE: u64 = 256;
/// A quarter of a minute on two cores of its own; others may use them too.
const BOUND: Duration = Duration::from_secs(90);
const PEPPER: &str = "a pepper that is long enough for this test";

/// How one client was received.
#[derive(Debug)]
enum Received {
    /// It has its snapshot.
    In,
    /// It was told to come later, and when.
    Later,
    /// Neither: what it heard last, and how it ended.
    Lost(String),
}

/// Opens a stream, says how it was received, and reads on until the event has come. The stream stays
/// open with what it gives.
async fn follow(
    address: String,
    token: String,
    received: mpsc::UnboundedSender<Received>,
) -> Option<BufReader<TcpStream>> {
    let mut line = String::new();
    match try_to_follow(&address, &token, &received, &mut line).await {
        Ok(stream) => Some(stream),
        Err(error) => {
            let _ = received.send(Received::Lost(format!("{line:?}: {error}")));
            None
        }
    }
}

async fn try_to_follow(
    address: &str,
    token: &str,
    received: &mpsc::UnboundedSender<Received>,
    line: &mut String,
) -> std::io::Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!(
        "GET /api/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut lines = BufReader::with_capacity(1024, stream);
    let (mut status, mut says_when) = (String::new(), false);
    loop {
        line.clear();
        if lines.read_line(line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if status.is_empty() {
            status = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        says_when |= line.starts_with("retry-after:");
        if line.starts_with("event: snapshot") && status == "200" {
            received.send(Received::In).unwrap();
        }
        if *line == "\r\n" && status != "200" {
            if !["429", "503"].contains(&status.as_str()) || !says_when {
                return Err(std::io::Error::other(status));
            }
            // Whoever was told to come later takes that with it.
            received.send(Received::Later).unwrap();
            return Ok(lines);
        }
        if line.contains("\"type\":\"told_to_all\"") {
            return Ok(lines);
        }
    }
}

fn raise_limit_of_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = u64::try_from(CLIENTS).unwrap() + BESIDE;
    let most = limit.maximum.unwrap_or(u64::MAX);
    assert!(most >= wanted, "this test needs {wanted} open files, and the system allows {most}");
    let current = limit.current.map(|current| current.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
}

fn tokens(address: &str, session: &str) -> Vec<String> {
    let make = |number: usize| {
        let body = json!({"name": number.to_string(), "scope": "read"});
        let made = post(address, "/api/account/tokens", session, &body);
        made.json()["token"].as_str().unwrap_or_else(|| panic!("{}", made.text())).to_owned()
    };
    (0..CLIENTS.div_ceil(PER_TOKEN)).map(make).collect()
}

/// The sum of a gauge over its labels.
fn gauge(address: &str, name: &str) -> f64 {
    let metrics = get(address, "/metrics").text();
    let of = |line: &str| {
        let is_it = line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        is_it.then(|| line.rsplit(' ').next()?.parse::<f64>().ok()).flatten()
    };
    metrics.lines().filter_map(of).sum()
}

fn open_files(id: u32) -> usize {
    std::fs::read_dir(format!("/proc/{id}/fd")).unwrap().count()
}

async fn tell_all(database: &TestDatabase) {
    let (db, stop) = (database.open().await, CancellationToken::new());
    let (clock, rng) = (Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let starting = Events::start(db, EventsOptions::default(), clock, rng, stop.clone());
    let (events, tasks) = starting.await.unwrap();
    let event = Event::new("told_to_all", &serde_json::Map::new()).unwrap();
    let writing = events.write(async |_, out| {
        out.add(Stream::Org, event)?;
        Ok::<_, EventsError>(())
    });
    writing.await.unwrap();
    stop.cancel();
    tasks.finished().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_who_connect_at_once_are_received_told_and_forgotten() {
    raise_limit_of_descriptors();
    let database = TestDatabase::new(Dialect::Postgres).await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()])
        .env("TOKEN_HASH_PEPPER", PEPPER)
        .env("MAINSTAY_JOBS_EMBEDDED", "false")
        .env("MAINSTAY_SSE_MAX_PER_TOKEN", PER_TOKEN.to_string());
    let server = Server::spawn(command);
    let address = server.address.clone();
    let session = signed(&address, &set_up(&server));
    let tokens = tokens(&address, &session);
    let files_before = open_files(server.id());

    let began = Instant::now();
    let (receiving, mut received) = mpsc::unbounded_channel();
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let token = tokens[number / PER_TOKEN].clone();
        clients.spawn(follow(address.clone(), token, receiving.clone()));
    }
    drop(receiving);
    let (mut inside, mut later) = (0, 0);
    while inside + later < CLIENTS {
        let one = tokio::time::timeout(BOUND, received.recv()).await;
        let one = one.unwrap_or_else(|_| panic!("the others wait after {inside} and {later}"));
        match one.expect("somebody got no answer at all") {
            Received::In => inside += 1,
            Received::Later => later += 1,
            Received::Lost(how) => panic!("{how}, after {inside} and {later}"),
        }
    }
    assert!(inside > 0, "nobody was let in");
    tell_all(&database).await;
    let mut open = Vec::with_capacity(CLIENTS);
    while let Some(client) = clients.join_next().await {
        open.push(client.unwrap().expect("the stream ended before the event came"));
    }
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    assert_eq!(gauge(&address, "mainstay_events_connections"), inside as f64);

    drop(open);
    let left = Instant::now();
    loop {
        let followers = gauge(&address, "mainstay_events_followers");
        let connections = gauge(&address, "mainstay_events_connections");
        let files = open_files(server.id());
        // One is the graph. The connections to the database and whoever asks for the metrics come and go.
        if followers <= 1.0 && connections == 0.0 && files <= files_before + 32 {
            break;
        }
        assert!(left.elapsed() < BOUND, "{followers} {connections} {files} of {files_before}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.stop();
}
