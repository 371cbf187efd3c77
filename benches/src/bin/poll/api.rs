//! How long somebody waits for the first page of the services, the board, the wallboard, the graph and what is wrong now,
//! while all of them are polled.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use mainstay_benches::exchange::exchange;
use mainstay_benches::figure::print;
use serde_json::json;

use crate::instance::{EMAIL, PASSWORD};

/// The pause between two looks.
const BETWEEN: Duration = Duration::from_millis(50);
/// What is looked at.
const PATHS: [(&str, &str); 5] = [
    ("services", "/api/services?limit=50"),
    ("board", "/api/board"),
    ("wallboard", "/api/wallboard"),
    ("graph", "/api/graph"),
    ("now", "/api/now"),
];
/// The slowest of a hundred.
const SLOWEST: usize = 100;

/// Looks at each in turn until `until`.
pub(crate) async fn measure(name: &str, address: &str, until: Instant) -> anyhow::Result<()> {
    let cookie = sign_in(address).await?;
    let mut waits = PATHS.map(|_| Vec::new());
    while Instant::now() < until {
        for ((_, path), waits) in PATHS.iter().zip(&mut waits) {
            waits.push(look(address, path, &cookie).await?);
            tokio::time::sleep(BETWEEN).await;
        }
    }
    for ((what, _), waits) in PATHS.iter().zip(&mut waits) {
        waits.sort_by(f64::total_cmp);
        let slowest = waits.iter().rev().nth(waits.len() / SLOWEST).context("nobody looked")?;
        print(&format!("{name}.api_{what}_p99_ms"), *slowest, "ms")?;
    }
    Ok(())
}

/// How many milliseconds an answer takes.
async fn look(address: &str, path: &str, cookie: &str) -> anyhow::Result<f64> {
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncookie: {cookie}\r\n\r\n"
    );
    let asked = Instant::now();
    let answer = exchange(address, &request).await?;
    anyhow::ensure!(answer.starts_with("HTTP/1.1 200"), "{path} answers {answer:.200}");
    Ok(asked.elapsed().as_secs_f64() * 1_000.0)
}

async fn sign_in(address: &str) -> anyhow::Result<String> {
    let body = json!({"email": EMAIL, "password": PASSWORD}).to_string();
    let request = format!(
        "POST /api/auth/login HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(address, &request).await?;
    let cookie = answer
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next())
        .context("signing in set no cookie")?;
    Ok(cookie.to_owned())
}
