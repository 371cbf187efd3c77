//! What is refused before any route is asked.

use axum::extract::Request;
use percent_encoding::percent_decode_str;

use crate::code::Code;
use crate::error::Error;
use crate::host;
use crate::limits::MAX_HEADERS;

/// Refuses too many headers, an unfit host, and a path that is no text.
pub(crate) fn check(request: &Request, alone: bool) -> Result<(), Error> {
    // HTTP/1 connections stop at this number while reading; HTTP/2 limits only the bytes.
    if request.headers().len() > MAX_HEADERS {
        let detail = format!("A request may have {MAX_HEADERS} headers. Send fewer.");
        return Err(Error::new(Code::TooManyHeaders, detail));
    }
    host::check(request, alone)?;
    check_path(request.uri().path())
}

fn check_path(path: &str) -> Result<(), Error> {
    if !path.contains('%') {
        return Ok(());
    }
    let broken = path.split('%').skip(1).any(|after| {
        let mut digits = after.bytes();
        !(digits.next().is_some_and(|digit| digit.is_ascii_hexdigit())
            && digits.next().is_some_and(|digit| digit.is_ascii_hexdigit()))
    });
    if broken {
        let detail = "After each % in a path stand two hexadecimal digits. Write % itself as %25.";
        return Err(Error::new(Code::InvalidPath, detail));
    }
    match percent_decode_str(path).decode_utf8() {
        Ok(text) if !text.contains('\0') => Ok(()),
        Ok(_) => Err(Error::new(Code::InvalidPath, "A path holds no NUL. Leave %00 out.")),
        Err(_) => {
            let detail = "The path is not UTF-8 once its % parts are decoded. Encode it as UTF-8.";
            Err(Error::new(Code::InvalidPath, detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_a_path() {
        for (path, fine) in [
            ("/", true),
            ("/a%20b", true),
            ("/%E2%82%AC", true),
            ("/%25", true),
            ("/%2", false),
            ("/%", false),
            ("/%zz", false),
            ("/%+1", false),
            ("/%ff", false),
            ("/%c3%28", false),
            ("/%00", false),
        ] {
            let code = check_path(path).err().map(|error| error.code());
            assert_eq!(code, (!fine).then_some(Code::InvalidPath), "{path}");
        }
    }
}
