//! The `mainstay` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    mainstay::run()
}
