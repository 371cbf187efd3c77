//! The real binary: another process writes into PostgreSQL, and it tells its followers.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::Context as _;
use mainstay_base::{SystemClock, SystemRng};
use mainstay_benches::cluster::Cluster;
use mainstay_benches::exchange::exchange;
use mainstay_benches::process::Server;
use mainstay_events::{Event, Events, EventsError, EventsOptions, Stream};
use mainstay_store::migrate;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::followers::{Crowd, now_ns};
use crate::{BYTES, FOLLOWERS, open, print_cost, round};

const EMAIL: &str = "bench@example.com";
const PASSWORD: &str = "a password for the bench";
const PEPPER: &str = "a pepper for the bench that is long enough";
/// Streams of one token, and with it how many tokens there are.
const PER_TOKEN: usize = 100;

pub(crate) async fn measure(cluster: &Cluster) -> anyhow::Result<()> {
    let binary = PathBuf::from(std::env::var_os("MAINSTAY_BINARY").context("MAINSTAY_BINARY")?);
    let address = cluster.database().await?;
    let folder = tempfile::tempdir()?;
    let db = open(&address).await?;
    migrate::up(&db).await?;
    let command = || {
        let mut command = Command::new(&binary);
        command
            .current_dir(folder.path())
            .env_clear()
            .env("DATABASE_URL", &address)
            .env("TOKEN_HASH_PEPPER", PEPPER)
            .env("MAINSTAY_MAX_CONNECTIONS", "10000")
            .env("MAINSTAY_SSE_MAX_PER_TOKEN", PER_TOKEN.to_string())
            .env("MAINSTAY_JOBS_EMBEDDED", "false");
        command
    };
    let mut creating = command()
        .args(["admin", "create", "--email", EMAIL, "--password-stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    creating.stdin.take().context("standard input")?.write_all(PASSWORD.as_bytes())?;
    anyhow::ensure!(creating.wait()?.success(), "no admin was made");
    let server = Server::start(command().args(["serve", "--listen", "127.0.0.1:0"]))?;

    let stop = CancellationToken::new();
    let (clock, rng) = (Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let starting = Events::start(db, EventsOptions::default(), clock, rng, stop.clone());
    let (events, tasks) = starting.await?;
    let crowd = Crowd::gather(&server.address, requests(&server.address).await?).await?;
    let cost = round(&server, crowd, async |_| publish(&events).await).await?;
    print_cost("events", cost)?;
    stop.cancel();
    tasks.finished().await;
    Ok(())
}

async fn publish(events: &Events) -> anyhow::Result<()> {
    let sent = now_ns();
    let rest = "x".repeat(BYTES.saturating_sub(130));
    let fields = json!({ "sent": sent, "rest": rest });
    let event = Event::new("measured", fields.as_object().context("an object")?)?;
    let writing = events.write(async |_, out| {
        out.add(Stream::Org, event)?;
        Ok::<_, EventsError>(())
    });
    Ok(writing.await?)
}

/// A request for each follower, by as many tokens as are needed.
async fn requests(address: &str) -> anyhow::Result<Vec<String>> {
    let body = json!({"email": EMAIL, "password": PASSWORD}).to_string();
    let answer = exchange(address, &post(address, "/api/auth/login", "", &body)).await?;
    let cookie = answer
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next())
        .context("signing in set no cookie")?;
    let headers = format!("cookie: {cookie}\r\norigin: http://{address}\r\n");
    let mut requests = Vec::with_capacity(FOLLOWERS);
    while requests.len() < FOLLOWERS {
        let body = json!({"name": format!("{}", requests.len()), "scope": "read"}).to_string();
        let made =
            exchange(address, &post(address, "/api/account/tokens", &headers, &body)).await?;
        let (_, token) = made.split_once("\"token\":\"").with_context(|| made.clone())?;
        let token = token.split('"').next().unwrap_or_default();
        let request = format!(
            "GET /api/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        requests.extend(std::iter::repeat_n(request, PER_TOKEN));
    }
    requests.truncate(FOLLOWERS);
    Ok(requests)
}

fn post(address: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}
