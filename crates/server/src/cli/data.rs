//! The flags of every command that touches data, and how flags become a configuration.

use std::path::Path;

use clap::Args;

use crate::config::data::DATA_DIR;
use crate::config::environment::Variables;
use crate::config::{Flags, Input, Setting, database, file};

/// Where the data is.
#[derive(Debug, Args)]
pub struct DataFlags {
    #[arg(long, value_name = "DIR", help = DATA_DIR.help)]
    data_dir: Option<String>,
    #[arg(long, value_name = "URL", help = database::URL.help)]
    database: Option<String>,
    /// Configuration file; without it ./mainstay.toml is read if it is there
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
}

/// Where a command's configuration comes from, besides the environment.
#[derive(Debug)]
pub struct Source<'a> {
    flags: Flags,
    file: Option<&'a str>,
}

impl DataFlags {
    /// What these flags say.
    #[must_use]
    pub fn source(&self) -> Source<'_> {
        let source = Source::new(self.config.as_deref());
        source.with(&DATA_DIR, self.data_dir.as_ref()).with(&database::URL, self.database.as_ref())
    }
}

impl<'a> Source<'a> {
    /// What this file says, where it is not the usual one.
    #[must_use]
    pub const fn new(file: Option<&'a str>) -> Self {
        Self { flags: Flags::new(), file }
    }

    /// Adds a flag, if it was given.
    #[must_use]
    pub fn with(mut self, setting: &'static Setting, text: Option<&String>) -> Self {
        self.flags.extend(text.map(|text| (setting, text.clone())));
        self
    }

    /// Reads the file and lays everything side by side.
    #[must_use]
    pub fn input(self, variables: Variables) -> Input {
        let file = file::find(self.file, &variables, Path::new(""));
        Input { flags: self.flags, variables, file }
    }
}
