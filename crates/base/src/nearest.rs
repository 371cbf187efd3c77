//! The known name that was probably meant.

/// A name may differ from the meant one in one of this many characters…
const CHARACTERS_PER_MISTAKE: usize = 3;
/// …and never in more than this many.
const MAX_MISTAKES: usize = 3;
/// Longer names than this are nobody's slip, and comparing them costs time.
const MAX_COMPARED: usize = 80;

/// The closest of `known` to `name`, if it is close enough to be a slip of the pen.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["listen", "public_url", "level"];

    #[test]
    fn a_slip_finds_its_name_and_a_stranger_does_not() {
        for (name, expected) in [
            ("lisen", Some("listen")),
            ("lsiten", Some("listen")),
            ("publicurl", Some("public_url")),
            ("lvel", Some("level")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, KNOWN), expected, "{name}");
        }
    }

    #[test]
    fn a_huge_name_is_not_compared() {
        assert_eq!(nearest(&"listen".repeat(100_000), KNOWN), None);
    }
}
