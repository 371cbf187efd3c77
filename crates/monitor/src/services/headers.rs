//! Further headers of a service's requests. Their values are secrets: no error repeats one.

use mainstay_base::Secret;
use mainstay_outbound::web::request::{MAX_HEADER_BYTES, REFUSED_HEADERS};

/// The most headers of one service.
pub const MAX_HEADERS: usize = 20;
/// The longest name of a header, in bytes.
pub const MAX_HEADER_NAME_BYTES: usize = 256;
/// The longest value of a header, in bytes.
pub const MAX_HEADER_VALUE_BYTES: usize = 4 * 1024;

/// A header's name and its value.
pub type Header = (String, Secret<String>);

/// Headers that can't be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// More than one service has.
    #[error("more than {MAX_HEADERS}; leave some out")]
    TooMany,
    /// A name that is none.
    #[error(
        "with the name {0:?}, which is none: use 1 to {MAX_HEADER_NAME_BYTES} letters, digits \
         and hyphens"
    )]
    Name(String),
    /// A name that is not for people to set.
    #[error(
        "with the name {0:?}, which Mainstay sets itself or which has no place here; leave it out"
    )]
    Reserved(String),
    /// A name that stands there twice.
    #[error("with the name {0:?} twice; give it once")]
    Twice(String),
    /// More bytes than a request carries.
    #[error("of more than {MAX_HEADER_BYTES} bytes in all; leave some out, or shorten them")]
    TooLarge,
    /// A value that can't be sent.
    #[error(
        "with a value of {0:?} that can't be sent: use visible ASCII characters and spaces \
         between them, at most {MAX_HEADER_VALUE_BYTES} bytes"
    )]
    Value(String),
}

/// The headers, checked and in the order of their names.
pub(super) fn check(mut headers: Vec<Header>) -> Result<Vec<Header>, HeaderError> {
    if headers.len() > MAX_HEADERS {
        return Err(HeaderError::TooMany);
    }
    headers.sort_by_key(|(name, _)| name.to_ascii_lowercase());
    for (name, value) in &headers {
        if !is_token(name) {
            return Err(HeaderError::Name(shown(name)));
        }
        if is_reserved(name) {
            return Err(HeaderError::Reserved(shown(name)));
        }
        if !is_value(value.expose()) {
            return Err(HeaderError::Value(shown(name)));
        }
    }
    let bytes = headers.iter().map(|(name, value)| name.len().saturating_add(value.expose().len()));
    if bytes.fold(0_usize, usize::saturating_add) > MAX_HEADER_BYTES {
        return Err(HeaderError::TooLarge);
    }
    let twice = headers.windows(2).find_map(|pair| match pair {
        [(one, _), (other, _)] if one.eq_ignore_ascii_case(other) => Some(shown(other)),
        _ => None,
    });
    twice.map_or(Ok(headers), |name| Err(HeaderError::Twice(name)))
}

/// Mainstay says who it is, and what a request can't carry is refused here already.
fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "user-agent" || REFUSED_HEADERS.contains(&name.as_str())
}

/// Somebody's name of a header, as an error repeats it.
fn shown(name: &str) -> String {
    crate::formats::bounds::clip(name, crate::formats::bounds::MAX_EXCERPT_CHARS)
}

fn is_token(name: &str) -> bool {
    (1..=MAX_HEADER_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_value(value: &str) -> bool {
    let is_visible = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    value.len() <= MAX_HEADER_VALUE_BYTES
        && value.trim() == value
        && !value.is_empty()
        && value.bytes().all(is_visible)
}

#[cfg(test)]
mod tests {
    use mainstay_outbound::web::WebRequest;
    use url::Url;

    use super::*;

    fn header(name: &str, value: &str) -> Header {
        (name.to_owned(), Secret::new(value.to_owned()))
    }

    #[test]
    fn headers_come_in_the_order_of_their_names() {
        let given =
            vec![header("x-b", "2"), header("Authorization", "Bearer a b"), header("X-a", "1")];
        let names: Vec<_> = check(given).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Authorization", "X-a", "x-b"]);
    }

    #[test]
    fn what_can_not_be_sent_is_refused_without_its_value() {
        let long = "v".repeat(MAX_HEADER_VALUE_BYTES + 1);
        for (name, value, says) in [
            ("", "hunter2", "is none"),
            ("a b", "hunter2", "is none"),
            ("a:", "hunter2", "is none"),
            ("ä", "hunter2", "is none"),
            ("Host", "hunter2", "sets itself"),
            ("user-agent", "hunter2", "sets itself"),
            ("Content-Length", "hunter2", "sets itself"),
            ("Transfer-Encoding", "hunter2", "no place here"),
            ("Accept-Encoding", "hunter2", "sets itself"),
            ("Range", "hunter2", "no place here"),
            ("x", "", "can't be sent"),
            ("x", " hunter2", "can't be sent"),
            ("x", "hunter2\r\nb: c", "can't be sent"),
            ("x", "hunter2\0", "can't be sent"),
            ("x", "hünter2", "can't be sent"),
            ("x", &long, "can't be sent"),
        ] {
            let told = check(vec![header(name, value)]).unwrap_err().to_string();
            assert!(told.contains(says), "{name}: {told}");
            assert!(!told.contains("nter2"), "{told}");
        }
        assert!(check(vec![header("x", &long[1..])]).is_ok());
    }

    /// What is accepted here must not fail at each poll.
    #[test]
    fn whatever_is_accepted_can_be_sent() {
        let value = "v".repeat(MAX_HEADER_VALUE_BYTES);
        let two = vec![header("x-a", &value[4..]), header("x-b", &value[4..])];
        assert_eq!(
            check([two.clone(), vec![header("x-c", "v")]].concat()),
            Err(HeaderError::TooLarge)
        );
        let mut request = WebRequest::get("test", &Url::parse("http://a.example/").unwrap());
        for (name, value) in check(two).unwrap() {
            request = request.header(&name, value);
        }
        assert!(request.build().is_ok());
        for name in REFUSED_HEADERS {
            assert!(
                matches!(check(vec![header(name, "v")]), Err(HeaderError::Reserved(_))),
                "{name}"
            );
        }
    }

    #[test]
    fn headers_are_few_and_each_is_there_once() {
        let many = |count: usize| (0..count).map(|n| header(&format!("x-{n}"), "v")).collect();
        assert!(check(many(MAX_HEADERS)).is_ok());
        assert_eq!(check(many(MAX_HEADERS + 1)), Err(HeaderError::TooMany));
        let twice = check(vec![header("X-One", "1"), header("x-one", "2")]);
        assert!(matches!(twice, Err(HeaderError::Twice(_))));
    }
}
