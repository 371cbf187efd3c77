//! Builds the dashboard and writes the table of its files for `src/embed.rs`.
#![expect(clippy::disallowed_methods, reason = "a build script's input is its environment")]
#![expect(
    clippy::print_stderr,
    reason = "a build script's error is what it prints before it fails"
)]

#[path = "build/mod.rs"]
mod builder;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let crate_dir = folder("CARGO_MANIFEST_DIR");
    let input = builder::Input {
        ui: crate_dir.join("ui"),
        snapshot: crate_dir.join("../../docs/api/openapi.json"),
        out: folder("OUT_DIR"),
        search_path: env::var_os("PATH").unwrap_or_default(),
        required: builder::is_required(env::var_os(builder::REQUIRED).as_deref()),
    };
    match builder::build(&input) {
        Ok(built) => {
            for line in built.cargo_lines() {
                println!("{line}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
