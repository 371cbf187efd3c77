//! What an edit of an alias changes. Pure.

use mainstay_base::{Id, Timestamp};

use super::handle::Alias;
use super::name::{AliasName, CanonicalName};

/// An edit of one alias.
#[derive(Debug)]
pub(crate) enum AliasEdit {
    /// A name is mapped to another one.
    Add(AliasName, CanonicalName),
    /// An alias is changed; what is `None` stays.
    Change(Alias, Option<AliasName>, Option<CanonicalName>),
    /// An alias is deleted.
    Remove(Alias),
}

/// An alias as it was and as it will be.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) before: Option<Alias>,
    pub(super) after: Option<Alias>,
}

/// Dependencies of this name go by another one.
#[derive(Debug)]
pub(super) struct Rename {
    pub(super) name: String,
    pub(super) before: String,
    pub(super) after: String,
}

impl AliasEdit {
    pub(super) fn pair(self, new_id: impl FnOnce() -> Id, now: Timestamp) -> Pair {
        match self {
            Self::Add(alias, canonical) => {
                let (alias, canonical) = (alias.as_str(), canonical.as_str());
                let after = Alias {
                    id: new_id(),
                    alias: alias.to_owned(),
                    canonical_name: canonical.to_owned(),
                    created_at: now,
                    updated_at: now,
                };
                Pair { before: None, after: Some(after) }
            }
            Self::Change(before, alias, canonical) => {
                let mut after = before.clone();
                if let Some(alias) = alias {
                    alias.as_str().clone_into(&mut after.alias);
                }
                if let Some(canonical) = canonical {
                    canonical.as_str().clone_into(&mut after.canonical_name);
                }
                if after != before {
                    after.updated_at = now;
                }
                Pair { before: Some(before), after: Some(after) }
            }
            Self::Remove(before) => Pair { before: Some(before), after: None },
        }
    }
}

impl Pair {
    pub(super) fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// As it is now, or as it was.
    pub(super) fn shown(self) -> Option<Alias> {
        self.after.or(self.before)
    }

    /// The alias whose name is nobody's any more.
    fn given_back(&self) -> Option<&Alias> {
        let after = self.after.as_ref().map(|after| &after.alias);
        self.before.as_ref().filter(|before| Some(&before.alias) != after)
    }

    /// By which names dependencies go from now on.
    pub(super) fn renames(&self) -> impl Iterator<Item = Rename> {
        let back = self.given_back();
        let given_back = back.map(|before| Rename {
            name: before.alias.clone(),
            before: before.canonical_name.clone(),
            after: before.alias.clone(),
        });
        let kept = self.before.as_ref().filter(|_| back.is_none());
        let taken = self.after.as_ref().map(|after| Rename {
            name: after.alias.clone(),
            before: kept.map_or(&after.alias, |before| &before.canonical_name).clone(),
            after: after.canonical_name.clone(),
        });
        given_back.into_iter().chain(taken)
    }

    /// What is told: a name, and what it stands for now.
    pub(super) fn news(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let given_back = self.given_back().map(|before| (before.alias.as_str(), None));
        let after = self.after.as_ref();
        let taken = after.map(|after| (&*after.alias, Some(&*after.canonical_name)));
        given_back.into_iter().chain(taken)
    }
}
