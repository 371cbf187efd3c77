//! Which program, and where it lives.

use std::path::PathBuf;
use std::time::Duration;

/// Which program, and where it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSettings {
    /// The program `mainstay`.
    pub program: PathBuf,
    /// The folder with a home for each agent.
    pub folder: PathBuf,
    /// What of the environment is given on to agents. Nothing else is: it holds secrets.
    pub environment: Vec<(String, String)>,
    /// What else agents are told, such as what they may call.
    pub arguments: Vec<String>,
    /// After how much time without a call that is authenticated an agent ends by itself.
    pub idle_exit: Duration,
    /// How long a start may take.
    pub start_limit: Duration,
    /// How long an agent has to end by itself before it is killed.
    pub stop_limit: Duration,
}

impl ProcessSettings {
    /// This program, with homes below this folder, and everything else by default.
    #[must_use]
    pub const fn new(program: PathBuf, folder: PathBuf) -> Self {
        Self {
            program,
            folder,
            environment: Vec::new(),
            arguments: Vec::new(),
            idle_exit: Duration::from_mins(10),
            start_limit: Duration::from_secs(10),
            stop_limit: Duration::from_secs(5),
        }
    }
}
