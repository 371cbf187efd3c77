//! What a machine is called: the same for the same order, and another for each new one.

use std::fmt;

use mainstay_base::Id;
use serde::{Deserialize, Deserializer, Serialize};

/// How the names of our machines begin.
pub const PREFIX: &str = "mainstay-";

/// The longest name: what every provider takes.
pub const MAX_NAME: usize = 63;

/// The name of a machine: letters, digits and dashes. It says which worker it is for, and which
/// generation of it, so that an order that is given again finds its own machine and no other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MachineName(String);

/// A text that is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the name of a machine; it begins with {PREFIX} and has letters, digits and dashes")]
pub struct NameError;

impl MachineName {
    /// The machine of this worker in this generation.
    #[must_use]
    pub fn of(worker: Id, generation: i64) -> Self {
        let worker = worker.to_string().replace('-', "");
        Self(format!("{PREFIX}{worker}-{}", generation.unsigned_abs()))
    }

    /// Reads a name.
    ///
    /// # Errors
    /// [`NameError`] when it is none of ours.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let fits = text.len() <= MAX_NAME && text.bytes().all(is_fit);
        let rest = text.strip_prefix(PREFIX).filter(|rest| fits && !rest.is_empty());
        rest.map(|_| Self(text.to_owned())).ok_or(NameError)
    }

    /// The worker that it is for, and the generation of it, where the name tells.
    #[must_use]
    pub fn order(&self) -> Option<(Id, i64)> {
        let (worker, generation) = self.0.strip_prefix(PREFIX)?.split_once('-')?;
        let dashed = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| worker.get(part));
        let [Some(a), Some(b), Some(c), Some(d), Some(e)] = dashed else { return None };
        let worker = format!("{a}-{b}-{c}-{d}-{e}").parse().ok()?;
        Some((worker, generation.parse().ok()?))
    }

    /// Whether it is of this worker, whichever order it was.
    #[must_use]
    pub fn is_of(&self, worker: Id) -> bool {
        self.order().is_some_and(|(own, _)| own == worker)
    }

    /// The name itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MachineName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for MachineName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKER: &str = "01a1e102-8087-7707-8707-070707070707";

    #[test]
    fn the_same_order_has_the_same_name_and_another_generation_another() {
        let worker: Id = WORKER.parse().unwrap();
        let name = MachineName::of(worker, 7);
        assert_eq!(name.as_str(), "mainstay-01a1e102808777078707070707070707-7");
        assert_ne!(name, MachineName::of(worker, 8));
        assert_eq!(name.order(), Some((worker, 7)));
        assert_eq!(MachineName::parse("mainstay-a-1").unwrap().order(), None);
        assert_eq!(MachineName::parse(name.as_str()), Ok(name));
    }

    #[test]
    fn every_provider_takes_the_longest_name() {
        let longest = MachineName::of(WORKER.parse().unwrap(), i64::MIN);
        assert!(longest.as_str().len() <= MAX_NAME, "{longest}");
        assert_eq!(MachineName::parse(longest.as_str()), Ok(longest));
    }

    #[test]
    fn what_is_not_ours_is_no_name() {
        for text in ["", "mainstay-", "web-1", "mainstay-../x", "mainstay-A", "mainstay-a b"] {
            assert_eq!(MachineName::parse(text), Err(NameError), "{text}");
        }
        assert_eq!(MachineName::parse(&format!("mainstay-{}", "a".repeat(60))), Err(NameError));
    }
}
