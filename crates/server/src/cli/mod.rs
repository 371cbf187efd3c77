//! The command line: one file for each command. Without a command, Mainstay serves.

pub mod admin;
pub mod agent;
pub mod backup;
pub mod check;
pub mod data;
pub mod demo;
pub mod journey;
pub mod migrate;
pub mod openapi;
pub mod restore;
pub mod serve;
pub mod services;
pub mod work;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  mainstay                                  Serve on 127.0.0.1:7373, data in ./mainstay-data
  mainstay --listen 0.0.0.0:7373            Serve on every network
  mainstay demo                             See it at work on a simulated company
  mainstay --print-config                   Show the effective configuration
  mainstay admin create --email ada@example.com --password-stdin
  mainstay check https://orders.internal/health
  mainstay journey run checkout.yaml
  mainstay services apply services.yaml --dry-run
  mainstay work                             Run background jobs beside other instances
  mainstay migrate status                   Show which migrations are applied

Exit codes: 0 fine, 1 a check failed, 2 wrong use or environment.";

/// Watches what your services lean on.
#[derive(Debug, Parser)]
#[command(
    name = "mainstay",
    version = crate::VERSION,
    about = "Mainstay watches what your services lean on. Without a command, it serves.",
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Serve,
}

/// What Mainstay can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the dashboard and the API (the default)
    Serve(serve::Serve),
    /// See it at work: a simulated company with incidents, on this machine only
    Demo(demo::Demo),
    /// Run background jobs without serving
    Work(work::Work),
    /// Run the checks of a worker's nets; Mainstay starts agents itself
    Agent(agent::Agent),
    /// Make an admin, bring one back, change the pepper, or have followers of events begin anew
    Admin(admin::Admin),
    /// Ask a health endpoint once and show what it says of its dependencies
    Check(check::Check),
    /// Run or check a journey: a scripted path of a user through real systems
    Journey(journey::Journey),
    /// Write everything that is watched to a file, or apply such a file
    Services(services::Services),
    /// Bring the database's schema up or down, or show where it stands
    Migrate(migrate::Migrate),
    /// Copy the SQLite database to a file, also while serving
    Backup(backup::Backup),
    /// Bring a backup back
    Restore(restore::Restore),
    /// Print the API's description as OpenAPI 3.1
    Openapi(openapi::Openapi),
}

impl Cli {
    /// The command that was asked for.
    #[must_use]
    pub fn chosen(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}
