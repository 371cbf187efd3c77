//! Which objects of the storage may be removed. Pure.
//!
//! A storage may hold more than this database knows: objects of another installation, or of uploads after the
//! backup that the database was restored from. So only that is removed of which the database knows that it
//! is over:
//!
//! | the file of the object | the object | then |
//! |---|---|---|
//! | stands in the database | its file refers to it | it stays |
//! | stands in the database | was stored before its file last changed, which does not refer to it | it goes |
//! | stands in the database | was stored after that: by a runner that lost its lease, or by whoever works on a newer copy of this database | it stays until the file changes, and is told |
//! | was deleted in this database | | it goes |
//! | is unknown | | it stays, and is told |

use std::collections::HashSet;
use std::time::Duration;

use mainstay_base::Timestamp;

use crate::objects::ObjectEntry;

/// The clocks of the storage and of the database are never further apart.
const CLOCKS_APART: Duration = Duration::from_mins(5);

/// What the database knows of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// It stands there.
    Stands {
        /// The keys that it refers to.
        referenced: HashSet<String>,
        /// When it last changed.
        changed_at: Timestamp,
    },
    /// It was deleted here.
    Deleted,
}

/// What becomes of an object that is old enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is somebody's.
    Keep,
    /// Nobody will ever refer to it.
    Remove,
    /// Its file does not refer to it, and is not known to be over with it: it stays too.
    Undecided,
    /// Nobody here knows whose it is: it stays too.
    Unknown,
}

/// What becomes of an object of a file of which so much is known.
pub(crate) fn judge(entry: &ObjectEntry, known: Option<&Known>) -> Verdict {
    match known {
        None => Verdict::Unknown,
        Some(Known::Deleted) => Verdict::Remove,
        Some(Known::Stands { referenced, .. }) if referenced.contains(&entry.key) => Verdict::Keep,
        Some(Known::Stands { changed_at, .. })
            if entry.modified > changed_at.plus(CLOCKS_APART) =>
        {
            Verdict::Undecided
        }
        Some(Known::Stands { .. }) => Verdict::Remove,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_database_knows_to_be_over_goes() {
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let stands = Known::Stands { referenced: ["mine".to_owned()].into(), changed_at: at(100) };
        for (key, modified, known, wanted) in [
            ("mine", 10, Some(&stands), Verdict::Keep),
            ("mine", 900, Some(&stands), Verdict::Keep),
            ("lost", 10, Some(&stands), Verdict::Remove),
            ("lost", 105, Some(&stands), Verdict::Remove),
            ("newer", 106, Some(&stands), Verdict::Undecided),
            ("deleted", 900, Some(&Known::Deleted), Verdict::Remove),
            ("strange", 10, None, Verdict::Unknown),
        ] {
            let entry = ObjectEntry { key: key.to_owned(), modified: at(modified) };
            assert_eq!(judge(&entry, known), wanted, "{key} at {modified}");
        }
    }
}
