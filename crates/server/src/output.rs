//! What a command prints. A reader that went away (`mainstay openapi | head -1`) is no error.

use std::io::{self, ErrorKind, Write};

use anyhow::Context as _;

/// Writes `text` to standard output.
///
/// # Errors
/// When it can't be written for another reason than a closed pipe.
pub fn write_stdout(text: &str) -> anyhow::Result<()> {
    write_whole(&mut io::stdout().lock(), text)
        .context("the output could not be written; check where it goes")
}

/// Writes `text` to standard error. There is nobody left to tell when that fails.
pub fn write_stderr(text: &str) {
    let _ = write_whole(&mut io::stderr().lock(), text);
}

fn write_whole(out: &mut impl Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_quiet_and_a_full_disk_is_not() {
        assert!(write_whole(&mut Failing(ErrorKind::BrokenPipe), "x").is_ok());
        assert!(write_whole(&mut Failing(ErrorKind::StorageFull), "x").is_err());
    }
}
