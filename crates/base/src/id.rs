//! Public ids: UUID version 7, so that they sort by the time they were made.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::clock::Clock;
use crate::rng::Rng;

/// The id of anything that has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(Uuid);

/// A text that is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id; ids look like 019a8b3c-0000-7000-8000-000000000000")]
pub struct IdError;

/// Makes ids from an injected clock and injected randomness.
#[derive(Clone)]
pub struct IdSource {
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
}

impl IdSource {
    /// Ids that carry the time of `clock` and the chance of `rng`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Self {
        Self { clock, rng }
    }

    /// A new id.
    #[must_use]
    pub fn next(&self) -> Id {
        let mut chance = [0_u8; 10];
        self.rng.fill(&mut chance);
        let millis = u64::try_from(self.clock.now().as_millis()).unwrap_or(0);
        Id(uuid::Builder::from_unix_timestamp_millis(millis, &chance).into_uuid())
    }
}

impl fmt::Debug for IdSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("IdSource")
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(formatter)
    }
}

impl FromStr for Id {
    type Err = IdError;

    /// Only the hyphenated lower-case form is an id, so that one thing has one spelling.
    fn from_str(text: &str) -> Result<Self, IdError> {
        let id = Uuid::try_parse(text).map(Self).map_err(|_| IdError)?;
        let mut buffer = Uuid::encode_buffer();
        if id.0.as_hyphenated().encode_lower(&mut buffer) == text { Ok(id) } else { Err(IdError) }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use crate::rng::SystemRng;
    use crate::time::{Moment, Timestamp};
    use std::time::Duration;

    struct Fixed(i64);

    impl Clock for Fixed {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0)
        }
        fn moment(&self) -> Moment {
            Moment::from_origin(Duration::ZERO)
        }
    }

    struct Sevens;

    impl Rng for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn an_id_is_made_of_the_given_time_and_chance() {
        let source = IdSource::new(Arc::new(Fixed(1_794_776_400_007)), Arc::new(Sevens));
        assert_eq!(source.next().to_string(), "01a1e102-8087-7707-8707-070707070707");
    }

    #[test]
    fn a_later_id_sorts_after_an_earlier_one() {
        let early = IdSource::new(Arc::new(Fixed(1_000)), Arc::new(SystemRng)).next();
        let late = IdSource::new(Arc::new(Fixed(1_001)), Arc::new(SystemRng)).next();
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
    }

    #[test]
    fn an_id_is_read_back_from_its_text() {
        let id = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next();
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn only_one_spelling_is_an_id() {
        for text in [
            "",
            "1",
            "01A1E102-8087-7707-8707-070707070707",
            "01a1e1028087770787070707070707070",
            "{01a1e102-8087-7707-8707-070707070707}",
            "urn:uuid:01a1e102-8087-7707-8707-070707070707",
            "01a1e102-8087-7707-8707-07070707070g",
        ] {
            assert_eq!(text.parse::<Id>(), Err(IdError), "{text}");
        }
    }
}
