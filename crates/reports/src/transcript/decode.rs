//! The bytes of a file as text: UTF-8, or UTF-16 where its first bytes say so.

use std::borrow::Cow;

const UTF16_LITTLE: [u8; 2] = [0xFF, 0xFE];
const UTF16_BIG: [u8; 2] = [0xFE, 0xFF];
const BYTE_ORDER_MARK: char = '\u{FEFF}';

/// One in so many characters may be none, or none that is read or seen: more, and it is no text but a
/// picture, an archive, or text in another encoding.
const READABLE: usize = 3;

/// How files begin that are no text, however much of them reads as such: an archive may hold its files as they
/// are.
const OTHER_KINDS: [&[u8]; 14] = [
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"PK\x07\x08",
    b"\x1F\x8B",
    b"\xFD7zXZ\0",
    b"7z\xBC\xAF\x27\x1C",
    b"Rar!\x1A\x07",
    b"\x28\xB5\x2F\xFD",
    b"%PDF-",
    b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
    b"\x89PNG\r\n\x1A\n",
    b"\xFF\xD8\xFF",
    b"\x7FELF",
    b"SQLite format 3\0",
];

/// The text of a file; `None` when its bytes are none.
pub(super) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if OTHER_KINDS.iter().any(|kind| bytes.starts_with(kind)) {
        return None;
    }
    let text = match bytes.split_first_chunk() {
        Some((&UTF16_LITTLE, rest)) => Cow::Owned(utf16(rest, u16::from_le_bytes)),
        Some((&UTF16_BIG, rest)) => Cow::Owned(utf16(rest, u16::from_be_bytes)),
        _ => String::from_utf8_lossy(bytes),
    };
    is_text(&text).then_some(text)
}

fn utf16(bytes: &[u8], unit: impl Fn([u8; 2]) -> u16) -> String {
    let (pairs, odd) = bytes.as_chunks();
    let units = pairs.iter().map(|pair| unit(*pair));
    let decoded = char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER));
    decoded.chain(odd.first().map(|_| char::REPLACEMENT_CHARACTER)).collect()
}

fn is_text(text: &str) -> bool {
    let is_unread = |one: &char| {
        *one == char::REPLACEMENT_CHARACTER || (one.is_control() && !one.is_whitespace())
    };
    let unread = text.chars().filter(is_unread).count();
    let all = text.chars().filter(|one| *one != BYTE_ORDER_MARK).count();
    unread.saturating_mul(READABLE) <= all
}
