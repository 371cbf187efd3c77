//! The known name that was probably meant.

/// A name may differ from the meant one in one of this many characters…
const CHARACTERS_PER_MISTAKE: usize = 4;

/// …and never in more than this many.
const MAX_MISTAKES: usize = 3;

/// Longer names than this are nobody's slip, and comparing them costs time.
const MAX_COMPARED: usize = 80;

/// The closest of `known` to `name`, if it is close enough to be a slip of the pen.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.chars().nth(MAX_COMPARED).is_some() {
        return None;
    }
    let allowed = (name.chars().count() / CHARACTERS_PER_MISTAKE).clamp(1, MAX_MISTAKES);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// As [`nearest`] for dotted keys; the right name under the wrong table is close too.
pub(super) fn nearest_key<'a>(
    key: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    nearest(key, known.iter().copied()).or_else(|| {
        let name = last_part(key);
        let mut same = known.into_iter().filter(|candidate| last_part(candidate) == name);
        // Two tables that hold this name leave nothing to say.
        same.next().filter(|_| same.next().is_none())
    })
}

fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["http.listen", "http.public_url", "log.level", "metrics.public"];

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_does_not() {
        for (name, expected) in [
            ("http.lisen", Some("http.listen")),
            ("htpp.listen", Some("http.listen")),
            ("http.publicurl", Some("http.public_url")),
            ("listen", Some("http.listen")),
            ("server.listen", Some("http.listen")),
            ("log.colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest_key(name, KNOWN), expected, "{name}");
        }
    }

    #[test]
    fn a_huge_name_is_not_compared() {
        assert_eq!(nearest(&"http.listen".repeat(100_000), KNOWN), None);
    }
}
