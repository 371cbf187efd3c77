//! Tells the program its version and, where it is known, the commit it was built from.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A release build in a container has no repository: it names its commit with this.
const COMMIT_VARIABLE: &str = "MAINSTAY_BUILD_COMMIT";

fn main() {
    println!("cargo:rerun-if-env-changed={COMMIT_VARIABLE}");
    println!("cargo:rerun-if-changed=build.rs");
    let package = env!("CARGO_PKG_VERSION");
    let given = variable(COMMIT_VARIABLE).filter(|commit| is_plain(commit));
    match given.or_else(from_repository) {
        Some(commit) => {
            println!("cargo:rustc-env=BUILT_COMMIT={commit}");
            println!("cargo:rustc-env=BUILT_VERSION={package} ({commit})");
        }
        None => println!("cargo:rustc-env=BUILT_VERSION={package}"),
    }
}

/// The commit of this repository. A copy of the sources inside another repository has none.
fn from_repository() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?.canonicalize().ok()?;
    let top = PathBuf::from(git(&root, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if top != root {
        return None;
    }
    watch(&root);
    git(&root, &["rev-parse", "--short=12", "HEAD"]).filter(|commit| is_plain(commit))
}

/// Builds again when another commit is checked out. A path that is not there would mean always.
fn watch(root: &Path) {
    let branch = git(root, &["rev-parse", "--symbolic-full-name", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", "logs/HEAD", "packed-refs", branch.as_str()] {
        let path = git(root, &["rev-parse", "--git-path", name]).map(|path| root.join(path));
        if let Some(path) = path.filter(|path| path.is_file()) {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn is_plain(commit: &str) -> bool {
    (1..=40).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[expect(clippy::disallowed_methods, reason = "a build script is configured by its environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
