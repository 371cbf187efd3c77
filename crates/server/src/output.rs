//! What a command prints. A reader that went away (`mainstay openapi | head -1`) is no error.

use std::io::{self, ErrorKind, Write};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

/// The longest that a last sentence on standard error may take.
pub const MAX_WAIT: Duration = Duration::from_secs(1);

/// Writes `text` to standard output.
///
/// # Errors
/// When it can't be written for another reason than a closed pipe.
pub fn write_stdout(text: &str) -> anyhow::Result<()> {
    write_whole(&mut io::stdout().lock(), text)
        .context("the output could not be written; check where it goes")
}

/// Writes `text` to standard error, for at most [`MAX_WAIT`]: a reader that stands still must not
/// keep the program from ending. There is nobody left to tell when that fails.
pub fn write_stderr(text: &str) {
    let (done, waiting) = sync_channel(1);
    let whole = text.to_owned();
    let writing = thread::Builder::new().spawn(move || {
        let _ = write_whole(&mut io::stderr().lock(), &whole);
        let _ = done.send(());
    });
    let _ = match writing {
        Ok(_) => waiting.recv_timeout(MAX_WAIT).map_err(io::Error::other),
        // Too many threads may be what has to be told.
        Err(_) => write_whole(&mut io::stderr().lock(), text),
    };
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
