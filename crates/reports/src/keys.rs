//! Where the objects of a file are. A key is made of ids only: nothing of it comes from outside.

use mainstay_base::Id;
use mainstay_jobs::Lease;

use crate::name::Extension;

/// Everything that this room stores.
pub const PREFIX: &str = "users/";

/// What a runner makes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Artefact {
    /// The report.
    Report,
    /// What the monitor had recorded.
    Timeline,
    /// An answer that was no report.
    Raw,
}

impl Artefact {
    const fn name(self) -> &'static str {
        match self {
            Self::Report => "report.json",
            Self::Timeline => "timeline.json",
            Self::Raw => "raw_llm_output.json",
        }
    }
}

/// Where the transcript is.
#[must_use]
pub fn original(user: Id, file: Id, extension: Extension) -> String {
    format!("{PREFIX}{user}/files/{file}/original.{}", extension.name())
}

/// Where an attempt keeps what it made: no other attempt has this key.
#[must_use]
pub fn artefact(user: Id, file: Id, lease: Lease, artefact: Artefact) -> String {
    format!("{PREFIX}{user}/files/{file}/attempts/{}/{}", lease.attempt(), artefact.name())
}

/// Whose file an object belongs to; `None` for what this room has not stored.
#[must_use]
pub fn owner(key: &str) -> Option<(Id, Id)> {
    let mut parts = key.strip_prefix(PREFIX)?.split('/');
    let user = parts.next()?.parse().ok()?;
    if parts.next()? != "files" {
        return None;
    }
    let file = parts.next()?.parse().ok()?;
    parts.next().map(|_| (user, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = "01a1e102-8087-7707-8707-070707070707";
    const FILE: &str = "01a1e102-8087-7707-8707-070707070708";

    #[test]
    fn the_owner_is_read_back_and_strangers_are_not_ours() {
        let (user, file) = (USER.parse().unwrap(), FILE.parse().unwrap());
        assert_eq!(owner(&original(user, file, Extension::Vtt)), Some((user, file)));
        for key in [
            "",
            "users/",
            "backup/all.tar",
            &format!("users/{USER}"),
            &format!("users/{USER}/files/{FILE}"),
            &format!("users/{USER}/notes/{FILE}/a"),
            &format!("users/x/files/{FILE}/a"),
            &format!("/users/{USER}/files/{FILE}/a"),
        ] {
            assert_eq!(owner(key), None, "{key}");
        }
    }
}
