//! Builds the dashboard in a copy of its sources, so that the source tree stays as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::files::{self, failed};
use super::plan::{BuildError, Tools};
use super::{Input, table};

/// How much of npm's output an error shows.
const LAST_LINES: usize = 20;

/// Copies, installs if the lock file changed, builds; the result's folder.
pub(crate) fn build(input: &Input, tools: &Tools) -> Result<PathBuf, BuildError> {
    let work = input.out.join("ui");
    files::mirror(&input.ui, &work)?;
    files::copy(&input.snapshot, &input.out.join("openapi.json"))?;
    install(input, tools, &work)?;
    run(input, tools, &work, &["run", "build"])?;
    Ok(work.join("dist"))
}

/// `npm ci` starts from nothing and takes long, so it only runs when its input has changed.
fn install(input: &Input, tools: &Tools, work: &Path) -> Result<(), BuildError> {
    let stamp = input.out.join("npm-ci.stamp");
    let wanted = fingerprint(tools, work)?;
    if fs::read_to_string(&stamp).is_ok_and(|done| done == wanted)
        && work.join("node_modules").is_dir()
    {
        return Ok(());
    }
    files::remove(&stamp)?;
    // Only what builds: the tools of the tests stay out. No package needs to run a script.
    run(input, tools, work, &["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    fs::write(&stamp, wanted).map_err(failed("write", &stamp))
}

fn fingerprint(tools: &Tools, work: &Path) -> Result<String, BuildError> {
    let mut bytes = tools.version.clone().into_bytes();
    for name in ["package.json", "package-lock.json"] {
        let path = work.join(name);
        bytes.extend(fs::read(&path).map_err(failed("read", &path))?);
    }
    Ok(table::hash(&bytes))
}

fn run(input: &Input, tools: &Tools, work: &Path, arguments: &[&str]) -> Result<(), BuildError> {
    let output = Command::new(&tools.npm)
        .args(arguments)
        .current_dir(work)
        .env("PATH", &input.search_path)
        .env("MAINSTAY_OPENAPI", input.out.join("openapi.json"))
        .env("NO_UPDATE_NOTIFIER", "1")
        .output()
        .map_err(failed("run", &tools.npm))?;
    if output.status.success() {
        return Ok(());
    }
    Err(BuildError::Npm { arguments: arguments.join(" "), lines: last_lines(&output) })
}

fn last_lines(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|part| String::from_utf8_lossy(part));
    let lines: Vec<&str> = text.iter().flat_map(|part| part.lines()).collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    lines.get(from..).unwrap_or_default().join("\n")
}
