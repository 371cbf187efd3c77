use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::HeaderValue;
use proptest::prelude::*;

use super::super::error::FetchErrorKind;
use super::*;

fn packed(plain: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap().into()
}

fn packing(values: &[&'static str]) -> Result<Packing, FetchErrorKind> {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(CONTENT_ENCODING, HeaderValue::from_static(value));
    }
    Packing::of(&headers).map_err(|error| error.kind())
}

#[test]
fn only_what_was_offered_is_unpacked() {
    for plain in [&[] as &[&'static str], &[""], &["identity"], &["Identity, identity"]] {
        assert_eq!(packing(plain), Ok(Packing::Plain), "{plain:?}");
    }
    for gzip in [&["gzip"] as &[&'static str], &["GZIP"], &["x-gzip"], &["identity", " gzip "]] {
        assert_eq!(packing(gzip), Ok(Packing::Gzip), "{gzip:?}");
    }
    for other in [&["br"] as &[&'static str], &["gzip, gzip"], &["gzip", "deflate"], &["zstd"]] {
        assert_eq!(packing(other), Err(FetchErrorKind::BadBody), "{other:?}");
    }
}

#[test]
fn a_bomb_is_stopped_at_the_limit() {
    let bomb = packed(&vec![0; 50 * 1024 * 1024]);
    assert!(bomb.len() < 64 * 1024, "{}", bomb.len());
    let error = unpack(bomb, Packing::Gzip, 64 * 1024).unwrap_err();
    assert_eq!(error.kind(), FetchErrorKind::TooLarge);
    assert!(error.message().contains("65536 bytes"), "{error}");
}

#[test]
fn a_body_of_just_the_limit_fits() {
    let plain = vec![b'x'; 1_000];
    assert_eq!(unpack(packed(&plain), Packing::Gzip, 1_000).unwrap(), plain);
    let over = unpack(packed(&plain), Packing::Gzip, 999).unwrap_err();
    assert_eq!(over.kind(), FetchErrorKind::TooLarge);
}

#[test]
fn what_is_no_gzip_is_a_bad_body() {
    let mut cut = packed(b"hello, hello, hello").to_vec();
    cut.truncate(cut.len() - 4);
    let mut wrong = packed(b"hello, hello, hello").to_vec();
    let at = wrong.len() - 6;
    wrong[at] ^= 1;
    for bytes in [b"hello".to_vec(), cut, wrong] {
        let error = unpack(bytes.into(), Packing::Gzip, 1_000).unwrap_err();
        assert_eq!(error.kind(), FetchErrorKind::BadBody, "{error}");
    }
}

#[test]
fn several_members_are_one_body() {
    let both = [packed(b"one "), packed(b"two")].concat();
    assert_eq!(unpack(both.into(), Packing::Gzip, 100).unwrap(), "one two");
}

#[test]
fn one_part_alone_is_not_copied() {
    let part = Bytes::from_static(b"whole");
    let mut whole = Whole::default();
    whole.add(Bytes::new(), 10).unwrap();
    whole.add(part.clone(), 10).unwrap();
    assert_eq!(whole.done().as_ptr(), part.as_ptr());
}

proptest! {
    #[test]
    fn parts_make_the_whole(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..8)) {
        let expected: Vec<u8> = parts.concat();
        let mut whole = Whole::default();
        for part in &parts {
            whole.add(Bytes::from(part.clone()), expected.len()).unwrap();
        }
        prop_assert!(whole.add(Bytes::from_static(b"x"), expected.len()).is_err());
        prop_assert_eq!(whole.done(), expected);
    }

    #[test]
    fn any_bytes_are_unpacked_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(plain) = unpack(bytes.into(), Packing::Gzip, 1_000) {
            prop_assert!(plain.len() <= 1_000);
        }
    }
}
