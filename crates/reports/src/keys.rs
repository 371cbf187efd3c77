//! Where the objects of a file are. A key is made of ids only: nothing of it comes from outside.

use mainstay_base::Id;
use mainstay_jobs::Lease;

use crate::name::Extension;

/// Everything that this room stores.
pub const PREFIX: &str = "users/";

/// Characters of the word for an attempt.
const ATTEMPT_CHARACTERS: usize = 16;

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

/// What the keys of all objects of a file begin with.
#[must_use]
pub fn folder(user: Id, file: Id) -> String {
    format!("{PREFIX}{user}/files/{file}/")
}

/// Where the transcript is.
#[must_use]
pub fn original(user: Id, file: Id, extension: Extension) -> String {
    format!("{}original.{}", folder(user, file), extension.name())
}

/// Where an attempt keeps what it made: no other attempt has this key.
#[must_use]
pub fn artefact(user: Id, file: Id, lease: Lease, artefact: Artefact) -> String {
    format!("{}attempts/{}/{}", folder(user, file), lease.attempt(), artefact.name())
}

/// Whose file an object belongs to; `None` for what this room has not stored: only keys that it makes itself
/// are its own, whatever else somebody keeps beside them.
#[must_use]
pub fn owner(key: &str) -> Option<(Id, Id)> {
    let parts: Vec<&str> = key.strip_prefix(PREFIX)?.split('/').collect();
    let (user, file, is_ours) = match parts.as_slice() {
        [user, "files", file, name] => (user, file, is_original(name)),
        [user, "files", file, "attempts", attempt, name] => {
            (user, file, is_attempt(attempt) && is_artefact(name))
        }
        _ => return None,
    };
    let owner = (user.parse().ok()?, file.parse().ok()?);
    is_ours.then_some(owner)
}

fn is_original(name: &str) -> bool {
    let ending = name.strip_prefix("original.");
    ending.is_some_and(|ending| Extension::ALL.iter().any(|known| known.name() == ending))
}

fn is_artefact(name: &str) -> bool {
    [Artefact::Report, Artefact::Timeline, Artefact::Raw].iter().any(|one| one.name() == name)
}

/// As [`Lease::attempt`] writes it.
fn is_attempt(text: &str) -> bool {
    text.len() == ATTEMPT_CHARACTERS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
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
        for name in ["report.json", "timeline.json", "raw_llm_output.json"] {
            let key = format!("users/{USER}/files/{FILE}/attempts/00000000000000ff/{name}");
            assert_eq!(owner(&key), Some((user, file)), "{key}");
        }
        for key in [
            "",
            "users/",
            "backup/all.tar",
            &format!("users/{USER}"),
            &format!("users/{USER}/files/{FILE}"),
            &format!("users/{USER}/notes/{FILE}/a"),
            &format!("users/x/files/{FILE}/a"),
            &format!("/users/{USER}/files/{FILE}/a"),
            &format!("users/{USER}/files/{FILE}/notes.txt"),
            &format!("users/{USER}/files/{FILE}/original.pdf"),
            &format!("users/{USER}/files/{FILE}/original.txt/a"),
            &format!("users/{USER}/files/{FILE}/attempts/00000000000000ff"),
            &format!("users/{USER}/files/{FILE}/attempts/00000000000000ff/notes.txt"),
            &format!("users/{USER}/files/{FILE}/attempts/mine/report.json"),
        ] {
            assert_eq!(owner(key), None, "{key}");
        }
    }
}
