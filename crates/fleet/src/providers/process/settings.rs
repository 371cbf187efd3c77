//! Which program, and where it lives.

use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// Which program, and where it lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSettings {
    /// The program `mainstay`.
    pub program: PathBuf,
    /// The folder with a home for each agent.
    pub folder: PathBuf,
    /// What of the environment is given on to agents. Nothing else is: it holds secrets.
    pub environment: Vec<(String, String)>,
    /// What else agents are told: what they may call. One that was told otherwise is not asked any more.
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

    /// A word for what agents are told that they may call: another for each other set of rules.
    #[must_use]
    pub fn policy(&self) -> String {
        let mut hasher = Sha256::new();
        for argument in &self.arguments {
            hasher.update(argument.as_bytes());
            hasher.update([0]);
        }
        // It stands behind a flag, and must not look like one.
        format!("rules-{}", URL_SAFE_NO_PAD.encode(hasher.finalize()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_rules_have_another_word_and_the_same_rules_the_same() {
        let of = |arguments: &[&str]| {
            let mut settings = ProcessSettings::new("mainstay".into(), "agents".into());
            settings.arguments = arguments.iter().map(|&one| one.to_owned()).collect();
            settings.policy()
        };
        assert_eq!(of(&["--private"]), of(&["--private"]));
        let all = [
            of(&[]),
            of(&["--private"]),
            of(&["--allow=a", "--allow=b"]),
            of(&["--allow=a--allow=b"]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all.iter().skip(at + 1).any(|other| other == one), "{all:?}");
        }
    }
}
