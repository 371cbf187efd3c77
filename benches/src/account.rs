//! People who are signed in.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::exchange::exchange;

/// Everybody's password.
pub const PASSWORD: &str = "a password for the bench";

/// Makes an admin in a folder that nobody serves from.
///
/// # Errors
/// When `binary` refuses.
pub fn create_admin(binary: &Path, folder: &Path, email: &str) -> anyhow::Result<()> {
    let mut child = Command::new(binary)
        .args(["admin", "create", "--email", email, "--password-stdin"])
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    child.stdin.take().context("standard input")?.write_all(PASSWORD.as_bytes())?;
    anyhow::ensure!(child.wait()?.success(), "no admin was made");
    Ok(())
}

/// Asks to sign in, and gives the answer. `headers` are lines, each with its end.
///
/// # Errors
/// When the connection breaks.
pub async fn sign_in(
    address: &str,
    email: &str,
    password: &str,
    headers: &str,
) -> anyhow::Result<String> {
    let body = format!(r#"{{"email":"{email}","password":"{password}"}}"#);
    let request = format!(
        "POST /api/auth/login HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    exchange(address, &request).await
}

/// Signs in, and gives the headers of the session: lines, each with its end.
///
/// # Errors
/// When that is refused.
pub async fn session(address: &str, email: &str) -> anyhow::Result<String> {
    let answer = sign_in(address, email, PASSWORD, "").await?;
    let cookie = answer
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next())
        .context("signing in set no cookie")?;
    Ok(format!("cookie: {cookie}\r\norigin: http://{address}\r\n"))
}
