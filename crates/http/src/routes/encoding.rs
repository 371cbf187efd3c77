//! Which form of an asset a client prefers.

use axum::http::{HeaderMap, header};

/// How the bytes of an asset are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Brotli,
    Gzip,
    Identity,
}

impl Encoding {
    /// The word in `Accept-Encoding` and `Content-Encoding`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Identity => "identity",
        }
    }
}

/// The weight of what a client did not name: acceptable, but less than anything it did.
const UNNAMED_IDENTITY: u16 = 1;

/// The encoding that the client likes best among what there is; on a tie the smallest.
///
/// A client that refuses everything gets the plain bytes: a page is better than none.
pub(super) fn choose(headers: &HeaderMap, brotli: bool, gzip: bool) -> Encoding {
    let weights = Weights::read(headers);
    let candidates = [
        (Encoding::Brotli, if brotli { weights.brotli } else { 0 }),
        (Encoding::Gzip, if gzip { weights.gzip } else { 0 }),
        (Encoding::Identity, weights.identity),
    ];
    let mut best = (Encoding::Identity, 0);
    for (encoding, weight) in candidates {
        if weight > best.1 {
            best = (encoding, weight);
        }
    }
    best.0
}

/// Weights in thousandths.
struct Weights {
    brotli: u16,
    gzip: u16,
    identity: u16,
}

impl Weights {
    fn read(headers: &HeaderMap) -> Self {
        let (mut brotli, mut gzip, mut identity, mut others) = (None, None, None, None);
        let values = headers.get_all(header::ACCEPT_ENCODING).iter();
        for item in values.filter_map(|value| value.to_str().ok()).flat_map(|v| v.split(',')) {
            let mut parts = item.split(';');
            let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
            let slot = match name.as_str() {
                "br" => &mut brotli,
                "gzip" | "x-gzip" => &mut gzip,
                "identity" => &mut identity,
                "*" => &mut others,
                _ => continue,
            };
            *slot = Some(parts.find_map(weight).unwrap_or(1000));
        }
        Self {
            brotli: brotli.or(others).unwrap_or(0),
            gzip: gzip.or(others).unwrap_or(0),
            identity: identity.or(others.filter(|&all| all == 0)).unwrap_or(UNNAMED_IDENTITY),
        }
    }
}

/// `q=0.5` as 500. What is no weight counts as a refusal, the careful reading.
pub(super) fn weight(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("q") {
        return None;
    }
    let (whole, fraction) = value.trim().split_once('.').unwrap_or((value.trim(), ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(0);
    }
    let thousandths = format!("{fraction:0<3}").parse::<u16>().unwrap_or(0);
    Some(match whole {
        "0" => thousandths,
        "1" if thousandths == 0 => 1000,
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Encoding::{Brotli, Gzip, Identity};

    fn chosen(accept: &[&str], brotli: bool, gzip: bool) -> Encoding {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT_ENCODING, value.parse().unwrap());
        }
        choose(&headers, brotli, gzip)
    }

    #[test]
    fn the_client_gets_what_it_likes_best() {
        let cases: [(&[&str], Encoding); 17] = [
            (&[], Identity),
            (&[""], Identity),
            (&["gzip, deflate, br, zstd"], Brotli),
            (&["gzip"], Gzip),
            (&["x-gzip"], Gzip),
            (&["GZIP"], Gzip),
            (&["br;q=0.5, gzip;q=0.8"], Gzip),
            (&["br;q=0, gzip"], Gzip),
            (&["br;q=0,gzip;q=0.000"], Identity),
            (&["*"], Brotli),
            (&["*;q=0"], Identity),
            (&["*;q=0.2, br;q=0"], Gzip),
            (&["identity, br;q=0.4"], Identity),
            (&["br ; q=0.001"], Brotli),
            (&["br;q=7, gzip;q=nonsense"], Identity),
            (&["gzip", "br"], Brotli),
            (&["zstd"], Identity),
        ];
        for (accept, expected) in cases {
            assert_eq!(chosen(accept, true, true), expected, "{accept:?}");
        }
    }

    #[test]
    fn only_what_there_is_is_chosen() {
        assert_eq!(chosen(&["br, gzip"], false, true), Gzip);
        assert_eq!(chosen(&["br"], false, true), Identity);
        assert_eq!(chosen(&["identity;q=0, br"], false, false), Identity);
    }
}
