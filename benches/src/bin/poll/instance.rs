//! The real binary on a database of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use mainstay_benches::process::Server;

pub(crate) const EMAIL: &str = "bench@example.com";
pub(crate) const PASSWORD: &str = "a password for the bench";

/// Starts to poll what is in `folder`, or in PostgreSQL where `url` says so.
pub(crate) fn serve(folder: &Path, url: Option<&str>) -> anyhow::Result<Server> {
    Server::start(command(folder, url)?.args(["serve", "--listen", "127.0.0.1:0"]))
}

/// Makes the account that may ask.
pub(crate) fn create_admin(folder: &Path, url: Option<&str>) -> anyhow::Result<()> {
    let mut creating = command(folder, url)?
        .args(["admin", "create", "--email", EMAIL, "--password-stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    creating.stdin.take().context("standard input")?.write_all(PASSWORD.as_bytes())?;
    anyhow::ensure!(creating.wait()?.success(), "no admin was made");
    Ok(())
}

fn command(folder: &Path, url: Option<&str>) -> anyhow::Result<Command> {
    let binary = PathBuf::from(std::env::var_os("MAINSTAY_BINARY").context("MAINSTAY_BINARY")?);
    let mut command = Command::new(binary);
    command.current_dir(folder).env_clear();
    if let Some(url) = url {
        command.env("DATABASE_URL", url);
    }
    Ok(command)
}
