//! What a part of a form calls its file: `Content-Disposition` as clients really write it. Pure.

use percent_encoding::percent_decode;

/// The name in `filename*` (RFC 5987), else the one in `filename`; `None` for what is no file. Bytes that
/// are no UTF-8 are read as Latin-1, which has a character for each.
pub(super) fn file_name(header: &[u8]) -> Option<String> {
    let (mut plain, mut extended) = (None, None);
    let mut rest = after(header, b';');
    while let Some(parameter) = rest {
        let (name, value, more) = split(parameter);
        if name.eq_ignore_ascii_case(b"filename") {
            plain = plain.or_else(|| Some(text(&value)));
        } else if name.eq_ignore_ascii_case(b"filename*") {
            extended = extended.or_else(|| decoded(&value));
        }
        rest = more;
    }
    extended.or(plain)
}

/// The first parameter, with its value unquoted, and what comes behind it.
fn split(parameter: &[u8]) -> (&[u8], Vec<u8>, Option<&[u8]>) {
    let end = parameter.iter().position(|byte| matches!(byte, b'=' | b';'));
    let (name, rest) =
        end.and_then(|end| parameter.split_at_checked(end)).unwrap_or((parameter, b""));
    let name = name.trim_ascii();
    let Some(value) = rest.strip_prefix(b"=").map(<[u8]>::trim_ascii_start) else {
        return (name, Vec::new(), after(rest, b';'));
    };
    let Some(quoted) = value.strip_prefix(b"\"") else {
        let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
        let (word, rest) = value.split_at_checked(end).unwrap_or((value, b""));
        return (name, word.trim_ascii().to_vec(), after(rest, b';'));
    };
    let (text, rest) = unquoted(quoted);
    (name, text, after(rest, b';'))
}

/// Up to the quote that ends it. Only a quote is escaped: some send whole paths, with their backslashes.
fn unquoted(quoted: &[u8]) -> (Vec<u8>, &[u8]) {
    let (mut text, mut rest) = (Vec::new(), quoted);
    loop {
        rest = match rest {
            [] | [b'"'] => return (text, b""),
            [b'"', rest @ ..] => return (text, rest),
            [b'\\', b'"', rest @ ..] => {
                text.push(b'"');
                rest
            }
            [byte, rest @ ..] => {
                text.push(*byte);
                rest
            }
        };
    }
}

fn after(bytes: &[u8], end: u8) -> Option<&[u8]> {
    let at = bytes.iter().position(|byte| *byte == end)?;
    bytes.get(at.saturating_add(1)..)
}

/// `UTF-8''call%20one.txt`; `None` for a character set that nobody has to know.
fn decoded(value: &[u8]) -> Option<String> {
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    let (set, _language, name) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes: Vec<u8> = percent_decode(name).collect();
    if set.eq_ignore_ascii_case(b"utf-8") {
        Some(text(&bytes))
    } else {
        set.eq_ignore_ascii_case(b"iso-8859-1").then(|| latin(&bytes))
    }
}

fn text(bytes: &[u8]) -> String {
    std::str::from_utf8(bytes).map_or_else(|_| latin(bytes), str::to_owned)
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_however_it_is_written() {
        for (header, name) in [
            (&b"form-data; name=\"file\"; filename=\"call.txt\""[..], Some("call.txt")),
            (b"form-data; name=file; filename=call.txt", Some("call.txt")),
            (b"form-data; name=\"file\"; FileName = \"a b;c.txt\" ", Some("a b;c.txt")),
            (b"form-data; name=\"file\"; filename*=UTF-8''call.txt", Some("call.txt")),
            (
                b"form-data; name=\"file\"; filename*=utf-8'en'caf%C3%A9%20one.txt",
                Some("café one.txt"),
            ),
            (
                b"form-data; filename*=UTF-8''b.vtt; filename=\"a.txt\"; name=\"file\"",
                Some("b.vtt"),
            ),
            (
                b"form-data; filename=\"a.txt\"; filename*=UTF-8''b.vtt; name=\"file\"",
                Some("b.vtt"),
            ),
            (b"form-data; filename=\"a.txt\"; filename*=koi8-r''b.vtt", Some("a.txt")),
            (b"form-data; filename*=ISO-8859-1''caf%E9.txt", Some("café.txt")),
            (b"form-data; name=\"file\"; filename=\"caf\xE9.txt\"", Some("café.txt")),
            ("form-data; filename=\"звонок.txt\"".as_bytes(), Some("звонок.txt")),
            (b"form-data; filename=\"C:\\Users\\ada\\call.vtt\"", Some("C:\\Users\\ada\\call.vtt")),
            (b"form-data; filename=\"a \\\"b\\\".txt\"", Some("a \"b\".txt")),
            (b"form-data; name=\"x; filename=evil.txt\"", None),
            (b"form-data; name=\"file\"; filename*=call.txt", None),
            (b"form-data; name=\"file\"", None),
            (b"form-data; filename", Some("")),
            (b"form-data; filename=\"open", Some("open")),
            (b"", None),
        ] {
            let shown = String::from_utf8_lossy(header);
            assert_eq!(file_name(header).as_deref(), name, "{shown}");
        }
    }

    #[test]
    fn wherever_it_is_cut_it_is_read_to_its_end() {
        let header =
            b"form-data; name=\"a\"; filename=\"b\\\"c.txt\"; filename*=UTF-8'en'%C3%A9.txt";
        for end in 0..header.len() {
            let _ = file_name(&header[..end]);
            let _ = file_name(&header[end..]);
        }
    }
}
