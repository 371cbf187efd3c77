//! The real binary on a clean PostgreSQL database, and those who may follow it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use mainstay_benches::cluster::Cluster;
use mainstay_benches::exchange::exchange;
use mainstay_benches::process::Server;
use mainstay_store::{Db, migrate};
use serde_json::json;
use tempfile::TempDir;

use crate::open;

/// What every instance hashes with.
pub(crate) const PEPPER: &str = "a pepper for the bench that is long enough";
const EMAIL: &str = "bench@example.com";
const PASSWORD: &str = "a password for the bench";

/// A `mainstay serve` that ends with this value.
pub(crate) struct Instance {
    pub(crate) server: Server,
    /// The same database, for whoever writes from here.
    pub(crate) db: Db,
    _folder: TempDir,
}

impl Instance {
    /// Starts one, of which each token may hold `per_token` streams.
    pub(crate) async fn start(cluster: &Cluster, per_token: usize) -> anyhow::Result<Self> {
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
                .env("MAINSTAY_SSE_MAX_PER_TOKEN", per_token.to_string())
                .env("MAINSTAY_JOBS_EMBEDDED", "false");
            command
        };
        create_admin(command())?;
        let server = Server::start(command().args(["serve", "--listen", "127.0.0.1:0"]))?;
        Ok(Self { server, db, _folder: folder })
    }

    /// So many API tokens of the admin.
    pub(crate) async fn tokens(&self, count: usize) -> anyhow::Result<Vec<String>> {
        let address = &self.server.address;
        let body = json!({"email": EMAIL, "password": PASSWORD}).to_string();
        let answer = exchange(address, &post(address, "/api/auth/login", "", &body)).await?;
        let cookie = answer
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next())
            .context("signing in set no cookie")?;
        let headers = format!("cookie: {cookie}\r\norigin: http://{address}\r\n");
        let mut tokens = Vec::with_capacity(count);
        for number in 0..count {
            let body = json!({"name": number.to_string(), "scope": "read"}).to_string();
            let request = post(address, "/api/account/tokens", &headers, &body);
            let made = exchange(address, &request).await?;
            let (_, token) = made.split_once("\"token\":\"").with_context(|| made.clone())?;
            tokens.push(token.split('"').next().unwrap_or_default().to_owned());
        }
        Ok(tokens)
    }
}

/// Asks the instance at `address` for its events.
pub(crate) fn following(address: &str, token: &str) -> String {
    format!("GET /api/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\r\n")
}

fn create_admin(mut command: Command) -> anyhow::Result<()> {
    let mut creating = command
        .args(["admin", "create", "--email", EMAIL, "--password-stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    creating.stdin.take().context("standard input")?.write_all(PASSWORD.as_bytes())?;
    anyhow::ensure!(creating.wait()?.success(), "no admin was made");
    Ok(())
}

fn post(address: &str, path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}
