//! Reads a body as the letters that it is written in. Pure.

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT};

/// The body as a text: by the mark that it begins with, or else as UTF-8 where it is that, or else as its content type
/// says. What can't be read stands there as U+FFFD.
pub(crate) fn read<'a>(body: &'a [u8], content_type: Option<&str>) -> Cow<'a, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return encoding.decode_without_bom_handling(body.get(mark..).unwrap_or_default()).0;
    }
    let named = content_type.and_then(named);
    // Many a page is UTF-8 whatever is said of it; what has letters of its own for the signs of ASCII is not.
    if named.is_none_or(Encoding::is_ascii_compatible)
        && let Ok(text) = std::str::from_utf8(body)
    {
        return text.into();
    }
    match named {
        Some(encoding) => encoding.decode_without_bom_handling(body).0,
        None => String::from_utf8_lossy(body),
    }
}

fn named(content_type: &str) -> Option<&'static Encoding> {
    let parameters = content_type.split(';').skip(1).filter_map(|one| one.split_once('='));
    let charset = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    let mut encodings = charset
        .filter_map(|(_, label)| Encoding::for_label(label.trim().trim_matches('"').as_bytes()));
    encodings.find(|encoding| *encoding != REPLACEMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_as_it_is_written() {
        for (body, content_type, text) in [
            (b"Gr\xFC\xDFe" as &[u8], Some("text/html; charset=ISO-8859-1"), "Grüße"),
            (b"Gr\xFC\xDFe", Some("text/html; a=b; Charset = \"latin1\""), "Grüße"),
            ("Grüße".as_bytes(), Some("text/html; charset=ISO-8859-1"), "Grüße"),
            ("Grüße".as_bytes(), Some("text/html"), "Grüße"),
            ("Grüße".as_bytes(), None, "Grüße"),
            (b"\xEF\xBB\xBFok", Some("text/plain; charset=utf-8"), "ok"),
            (b"\xFF\xFEo\0k\0", None, "ok"),
            (b"o\0k\0", Some("text/plain; charset=utf-16le"), "ok"),
            (b"\x93\xFA\x96{", Some("text/plain; charset=Shift_JIS"), "日本"),
            (b"a\xFF", Some("text/plain; charset=klingon"), "a\u{FFFD}"),
            (b"a\xFF", Some("text/plain; charset=hz-gb-2312"), "a\u{FFFD}"),
            (b"", Some("text/plain; charset=utf-16"), ""),
        ] {
            assert_eq!(read(body, content_type), text, "{body:?} {content_type:?}");
        }
    }
}
