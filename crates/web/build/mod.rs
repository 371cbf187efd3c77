//! The builder of the dashboard: what `build.rs` runs and `tests/four_ways.rs` tries out.
//!
//! It takes its whole environment as an argument: `plan` decides, `npm` builds, `page` is what is
//! embedded when there is no Node, and `table` writes the Rust source that embeds the result.

mod files;
mod node;
mod npm;
mod page;
mod plan;
mod table;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

pub(crate) use plan::{BuildError, Missing};

/// The variable that makes a build without the dashboard an error, for CI and releases.
pub(crate) const REQUIRED: &str = "MAINSTAY_UI_REQUIRED";

/// Everything that the build depends on.
#[derive(Debug)]
pub(crate) struct Input {
    /// The dashboard's sources.
    pub(crate) ui: PathBuf,
    /// The OpenAPI snapshot that its types come from.
    pub(crate) snapshot: PathBuf,
    /// Where Cargo lets a build script write.
    pub(crate) out: PathBuf,
    /// `PATH`, where Node and npm are looked for.
    pub(crate) search_path: OsString,
    /// Whether a build without Node is an error.
    pub(crate) required: bool,
}

/// What was built, and from what.
#[derive(Debug)]
pub(crate) struct Built {
    /// Why there is no dashboard in it, if there is none.
    pub(crate) missing: Option<Missing>,
    watched: Vec<PathBuf>,
}

impl Built {
    /// Tells Cargo what the next build depends on, and the person what is missing.
    pub(crate) fn cargo_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .watched
            .iter()
            .map(|path| format!("cargo:rerun-if-changed={}", path.display()))
            .collect();
        lines.push(format!("cargo:rerun-if-env-changed={REQUIRED}"));
        if let Some(missing) = &self.missing {
            // Only now does PATH matter: a Node that was found is watched as a file.
            lines.push("cargo:rerun-if-env-changed=PATH".to_owned());
            lines.push(format!("cargo:warning=the dashboard was left out: {missing}"));
        }
        lines
    }
}

/// Reads the variable's value: unset, empty and `0` are no.
pub(crate) fn is_required(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// Builds the dashboard, or the page that says why there is none, and the table of its files.
pub(crate) fn build(input: &Input) -> Result<Built, BuildError> {
    let mut watched = files::sources(&input.ui)?;
    watched.push(input.snapshot.clone());
    watched.extend(files::builder_sources(&input.ui));
    let (dist, missing) = match plan::decide(node::find(&input.search_path), input.required)? {
        plan::Plan::Npm(tools) => {
            watched.extend([tools.node.clone(), tools.npm.clone()]);
            (npm::build(input, &tools)?, None)
        }
        plan::Plan::Page(missing) => {
            watched.extend(folders_of(&input.search_path));
            (page::write(&input.out, &missing)?, Some(missing))
        }
    };
    table::write(&dist, &input.out.join("assets.rs"), missing.is_none())?;
    Ok(Built { missing, watched })
}

/// An installed Node shows up in one of these, so that "build again" is enough of a cure.
fn folders_of(search_path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(search_path).filter(|folder| is_folder(folder)).collect()
}

fn is_folder(path: &Path) -> bool {
    path.is_absolute() && path.is_dir()
}
