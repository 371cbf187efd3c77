//! When something was said, as it is written: from the beginning of the call, or a time of day. Nobody can tell
//! which of the two `21:04` is, so nothing is made of it.

use std::fmt;

/// A time as it is written, without a fraction of its seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timecode(Box<str>);

impl Timecode {
    /// Reads `1:02`, `01:02:03` or either with a fraction, which is dropped. Without hours there may be more
    /// minutes than an hour has: `75:30`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let whole = match text.split_once(['.', ',']) {
            Some((whole, fraction)) if is_number(fraction, 1..=9) => whole,
            Some(_) => return None,
            None => text,
        };
        let parts: Vec<&str> = whole.split(':').collect();
        let is_fit = |text: &str, digits| {
            is_number(text, digits) && text.parse::<u32>().is_ok_and(|number| number < 60)
        };
        let is_code = match parts.as_slice() {
            [minutes, seconds] => is_number(minutes, 1..=3) && is_fit(seconds, 2..=2),
            [hours, minutes, seconds] => {
                is_number(hours, 1..=3) && is_fit(minutes, 1..=2) && is_fit(seconds, 2..=2)
            }
            _ => false,
        };
        is_code.then(|| Self(whole.into()))
    }
}

impl fmt::Display for Timecode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_number(text: &str, digits: std::ops::RangeInclusive<usize>) -> bool {
    digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
