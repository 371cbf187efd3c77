//! The log of an agent on this host: a file in its home, of a bounded length.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

/// What the agent wrote, in its home.
pub const LOG: &str = "agent.log";

/// A log that is longer begins anew.
pub const MAX_LOG: u64 = 4 * 1024 * 1024;

/// Empties the log in a home when it is too long; tells whether it was. Whoever writes to it appends, and
/// goes on at its beginning.
///
/// # Errors
/// When the file can't be looked at or emptied.
pub fn trim(home: &Path) -> io::Result<bool> {
    let path = home.join(LOG);
    match std::fs::metadata(&path) {
        Ok(found) if found.len() > MAX_LOG => {
            OpenOptions::new().write(true).open(path)?.set_len(0)?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_log_that_is_too_long_begins_anew_for_who_writes_it() {
        let home = tempfile::tempdir().unwrap();
        assert!(!trim(home.path()).unwrap(), "there is none");
        let path = home.path().join(LOG);
        let mut log = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        let longest = usize::try_from(MAX_LOG).unwrap();
        log.write_all(&vec![b'x'; longest]).unwrap();
        assert!(!trim(home.path()).unwrap());
        log.write_all(b"x").unwrap();
        assert!(trim(home.path()).unwrap());
        log.write_all(b"on").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"on");
    }
}
