//! How long somebody waits for the first page of the services, while all of them are polled.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use mainstay_benches::exchange::exchange;
use mainstay_benches::figure::print;
use serde_json::json;

use crate::instance::{EMAIL, PASSWORD};

/// The pause between two looks.
const BETWEEN: Duration = Duration::from_millis(50);
const PATH: &str = "/api/services?limit=50";
/// The slowest of a hundred.
const SLOWEST: usize = 100;

/// Looks at the list until `until`.
pub(crate) async fn measure(name: &str, address: &str, until: Instant) -> anyhow::Result<()> {
    let cookie = sign_in(address).await?;
    let request = format!(
        "GET {PATH} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncookie: {cookie}\r\n\r\n"
    );
    let mut waits = Vec::new();
    while Instant::now() < until {
        let asked = Instant::now();
        let answer = exchange(address, &request).await?;
        anyhow::ensure!(answer.starts_with("HTTP/1.1 200"), "{PATH} answers {answer:.200}");
        waits.push(asked.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(BETWEEN).await;
    }
    waits.sort_by(f64::total_cmp);
    let slowest = waits.iter().rev().nth(waits.len() / SLOWEST).context("nobody looked")?;
    print(&format!("{name}.api_services_p99_ms"), *slowest, "ms")?;
    Ok(())
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
