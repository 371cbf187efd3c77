//! `mainstay services export|apply`: configuration as code, through the API of a running Mainstay.
//!
//! `file` reads what is wanted → `client` asks the server → `text` shows what it says.

mod apply;
mod client;
mod export;
mod file;
mod text;

use clap::{Args, Subcommand};

use super::data::Source;
use crate::config::environment::Variables;
use crate::config::{self, ClientConfig, client as settings, environment};
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  mainstay services export services.yaml
  mainstay services apply services.yaml --dry-run
  mainstay services apply services.yaml

How to write such a file, and how to use it in a pipeline: docs/guide/config-as-code.md.";

/// The arguments of `services`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub struct Services {
    #[command(subcommand)]
    action: Action,
}

/// What is done.
#[derive(Debug, Subcommand)]
enum Action {
    /// Write services, aliases and links as YAML
    Export(export::Export),
    /// Make services, aliases and links what a file says, all of them or none
    Apply(apply::Apply),
}

/// Which server is asked.
#[derive(Debug, Args)]
struct ServerFlags {
    #[arg(long, value_name = "URL", help = settings::SERVER.help)]
    server: Option<String>,
    #[arg(long, value_name = "FILE", help = settings::TOKEN_FILE.help)]
    token_file: Option<String>,
    #[arg(long, value_name = "FILE", help = settings::CA_FILE.help)]
    ca_file: Option<String>,
    #[arg(long, help = settings::INSECURE.help)]
    insecure: bool,
    /// Configuration file; without it ./mainstay.toml is read if it is there
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

/// Does what the command line asks for.
///
/// # Errors
/// What kept it from doing so, and what to do.
pub fn run(services: &Services) -> anyhow::Result<Exit> {
    let variables = environment::variables();
    match &services.action {
        Action::Export(export) => export::run(export, variables),
        Action::Apply(apply) => apply::run(apply, &variables),
    }
}

impl ServerFlags {
    fn load(&self, variables: Variables) -> anyhow::Result<ClientConfig> {
        let insecure = self.insecure.then(|| true.to_string());
        let source = Source::new(self.config.as_deref())
            .with(&settings::SERVER, self.server.as_ref())
            .with(&settings::TOKEN_FILE, self.token_file.as_ref())
            .with(&settings::CA_FILE, self.ca_file.as_ref())
            .with(&settings::INSECURE, insecure.as_ref());
        Ok(config::load_client(source.input(variables))?)
    }
}
