//! When something was said, from the beginning of the call.

use std::fmt;

/// Whole seconds from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timecode(u32);

/// The most hours of a timecode.
const MAX_HOURS: u32 = 999;

impl Timecode {
    /// Reads `1:02`, `01:02:03` or either with a fraction, which is dropped.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let whole = match text.split_once(['.', ',']) {
            Some((whole, fraction)) if is_number(fraction, 1..=9) => whole,
            Some(_) => return None,
            None => text,
        };
        let parts: Vec<&str> = whole.split(':').collect();
        let (hours, minutes, seconds) = match parts.as_slice() {
            [minutes, seconds] => (0, *minutes, *seconds),
            [hours, minutes, seconds] if is_number(hours, 1..=3) => {
                (hours.parse::<u32>().ok()?, *minutes, *seconds)
            }
            _ => return None,
        };
        if !is_number(minutes, 1..=2) || !is_number(seconds, 2..=2) {
            return None;
        }
        let (minutes, seconds): (u32, u32) = (minutes.parse().ok()?, seconds.parse().ok()?);
        let is_fit = hours <= MAX_HOURS && minutes < 60 && seconds < 60;
        is_fit.then(|| Self(hours * 3_600 + minutes * 60 + seconds))
    }

    /// Seconds from the beginning.
    #[must_use]
    pub const fn as_seconds(self) -> u32 {
        self.0
    }
}

/// `01:02:03`.
impl fmt::Display for Timecode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hours, minutes, seconds) = (self.0 / 3_600, self.0 / 60 % 60, self.0 % 60);
        write!(formatter, "{hours:02}:{minutes:02}:{seconds:02}")
    }
}

fn is_number(text: &str, digits: std::ops::RangeInclusive<usize>) -> bool {
    digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
