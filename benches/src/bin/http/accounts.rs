//! What knowing the caller costs, and what a thousand sign-ins at once cost.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use mainstay_benches::account::{PASSWORD, create_admin, session, sign_in};
use mainstay_benches::exchange::exchange;
use mainstay_benches::figure::{median, print};
use mainstay_benches::process::Server;

use crate::{MEGABYTE, ROUNDS, round, serve};

const EMAIL: &str = "bench@example.com";
const SIGN_INS: usize = 1000;
/// How long all of them together may take.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) async fn measure(binary: &Path) -> anyhow::Result<()> {
    compare_requests(binary).await?;
    storm(binary).await
}

/// The cheapest request of a signed-in user beside the cheapest of the API that anybody may make: both
/// are logged, which the probes are not.
async fn compare_requests(binary: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    create_admin(binary, folder.path(), EMAIL)?;
    let server = Server::start(&mut serve(binary, folder.path()))?;
    let cookie = session(&server.address, EMAIL).await?;
    let (mut ratios, mut costs, mut peers) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let known = round(&server, "/api/auth/me", &cookie).await?;
        let anybody = round(&server, "/api/access-requests/form", "").await?;
        ratios.push(known.cpu_us / anybody.cpu_us);
        costs.push(known.cpu_us);
        peers.push(anybody.cpu_us);
    }
    print("http.auth_ratio", median(ratios), "x")?;
    print("http.auth_cpu_us", median(costs), "us")?;
    print("http.anybody_cpu_us", median(peers), "us")?;
    Ok(())
}

/// A thousand sign-ins at once, each of another account from another address, so that no count stops
/// them; meanwhile somebody else wants an answer.
async fn storm(binary: &Path) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut command = serve(binary, folder.path());
    command.env("MAINSTAY_TRUSTED_PROXIES", "127.0.0.1").env("MAINSTAY_MAX_CONNECTIONS", "2000");
    let server = Server::start(&mut command)?;
    let tasks: Vec<_> = (0..SIGN_INS)
        .map(|number| {
            let address = server.address.clone();
            tokio::spawn(async move {
                let email = format!("user{number}@example.com");
                let from = format!("x-forwarded-for: 10.1.{}.{}\r\n", number / 250, number % 250);
                sign_in(&address, &email, PASSWORD, &from).await
            })
        })
        .collect();
    let waits = others(&server.address, || tasks.iter().all(tokio::task::JoinHandle::is_finished));
    let waits = tokio::time::timeout(PATIENCE, waits).await.context("the sign-ins never end")??;
    let (mut hashed, mut busy) = (0_u32, 0_u32);
    for task in tasks {
        match task.await??.split(' ').nth(1) {
            Some("401") => hashed += 1,
            Some("503") => busy += 1,
            other => anyhow::bail!("a sign-in was answered with {other:?}"),
        }
    }
    print("http.login_storm_rss_mb", server.most_resident_bytes()? / MEGABYTE, "MB")?;
    print("http.login_storm_checked", f64::from(hashed), "logins")?;
    print("http.login_storm_refused_busy", f64::from(busy), "logins")?;
    print("http.login_storm_others_wait_ms", median(waits), "ms")?;
    Ok(())
}

/// How long others wait for `/healthz`, until it is over.
async fn others(address: &str, is_over: impl Fn() -> bool) -> anyhow::Result<Vec<f64>> {
    let mut waits = Vec::new();
    while !is_over() || waits.is_empty() {
        let asked = Instant::now();
        let request =
            format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        let answer = exchange(address, &request).await?;
        anyhow::ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        waits.push(asked.elapsed().as_secs_f64() * 1000.0);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(waits)
}
