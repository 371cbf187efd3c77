//! `mainstay serve`, and `mainstay` alone.

use clap::Args;

use super::data::{DataFlags, Source};
use crate::config::{Config, http, log, tls};
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  mainstay serve
  mainstay serve --listen 0.0.0.0:7373 --public-url https://mainstay.example.com
  mainstay serve --database postgres://mainstay:secret@db.internal/mainstay
  mainstay serve --print-config";

/// The flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    #[command(flatten)]
    data: DataFlags,
    #[arg(long, value_name = "ADDR", help = http::LISTEN.help)]
    listen: Option<String>,
    #[arg(long, value_name = "URL", help = http::PUBLIC_URL.help)]
    public_url: Option<String>,
    #[arg(long, value_name = "FILE", help = tls::CERT.help)]
    tls_cert: Option<String>,
    #[arg(long, value_name = "FILE", help = tls::KEY.help)]
    tls_key: Option<String>,
    #[arg(long, value_name = "FORMAT", help = log::FORMAT.help)]
    log_format: Option<String>,
    #[arg(long, value_name = "LEVELS", help = log::LEVEL.help)]
    log_level: Option<String>,
    /// Show the effective configuration with secrets masked, and exit
    #[arg(long)]
    pub(crate) print_config: bool,
}

impl Serve {
    pub(crate) fn source(&self) -> Source<'_> {
        self.data
            .source()
            .with(&http::LISTEN, self.listen.as_ref())
            .with(&http::PUBLIC_URL, self.public_url.as_ref())
            .with(&tls::CERT, self.tls_cert.as_ref())
            .with(&tls::KEY, self.tls_key.as_ref())
            .with(&log::FORMAT, self.log_format.as_ref())
            .with(&log::LEVEL, self.log_level.as_ref())
    }
}

/// Serves until a signal asks to stop.
///
/// # Errors
/// What kept it from serving, and what to do.
pub fn run(_config: &Config) -> anyhow::Result<Exit> {
    anyhow::bail!("serve is not wired")
}
