//! The known name that was probably meant.

pub(crate) use mainstay_base::nearest;

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
}
