//! Where somebody wanted to go before having to sign in.
//!
//! The text comes from a link that anybody can write, so a browser that follows it must stay on this
//! site. Browsers take `\` for `/`, drop tabs and line ends, and resolve `.` and `..` before they
//! look at what is left.

use axum::http::Uri;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// The longest that is taken, in characters.
const MAX_CHARS: usize = 1000;

/// What a header or a browser would not take as it stands. `%` stays: it begins an escape.
const UNSAFE: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{').add(b'}').add(b'\\');

/// `text` if it leads to a page of this site.
pub(crate) fn local(text: &str) -> Option<&str> {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let rest = path.strip_prefix('/')?;
    let leads_here = !rest.starts_with('/')
        && !path.contains('\\')
        && !rest.split('/').any(is_dots)
        && !text.chars().any(char::is_control)
        && text.chars().nth(MAX_CHARS).is_none();
    leads_here.then_some(text)
}

/// The target of a redirect to `text`, which is [`local`].
pub(crate) fn location(text: &str) -> String {
    utf8_percent_encode(text, UNSAFE).to_string()
}

/// The page to sign in, which leads back to `target`.
pub(crate) fn login(target: &Uri) -> String {
    let wanted = target.path_and_query().map_or("/", |wanted| wanted.as_str());
    match local(wanted) {
        Some(wanted) => format!("/login?next={}", parameter(wanted)),
        None => "/login".to_owned(),
    }
}

/// A value as it stands in a query.
pub(crate) fn parameter(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// `.` or `..`, however it is written.
fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_of_this_site_is_taken() {
        let longest = format!("/{}", "ä".repeat(MAX_CHARS - 1));
        let too_long = format!("{longest}x");
        for (text, taken) in [
            ("/", true),
            ("/account", true),
            ("/services/1?tab=2#x", true),
            ("/a//b", true),
            ("/a?next=//evil.example", true),
            ("/a?b=..\\c", true),
            ("/a.b/..c/...", true),
            ("/%2f%2fevil.example", true),
            ("/%5cevil.example", true),
            ("/größe", true),
            ("/a:b@c", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("", false),
            ("account", false),
            ("?a=b", false),
            ("#a", false),
            ("//evil.example", false),
            ("///evil.example", false),
            ("/\\evil.example", false),
            ("\\/evil.example", false),
            ("\\\\evil.example", false),
            ("/a\\b", false),
            ("/\t/evil.example", false),
            ("/\n/evil.example", false),
            ("/\r\nSet-Cookie: a=b", false),
            ("/a\u{0}", false),
            ("/a\u{7f}", false),
            ("/a\u{85}", false),
            (" /a", false),
            ("/.//evil.example", false),
            ("/a/..//evil.example", false),
            ("/%2e//evil.example", false),
            ("/a/%2E.//evil.example", false),
            ("/..", false),
            ("/.?a", false),
            ("https://evil.example", false),
            ("https:/evil.example", false),
            ("javascript:alert(1)", false),
            ("JaVaScRiPt:alert(1)", false),
            ("data:text/html,x", false),
            ("@evil.example", false),
        ] {
            assert_eq!(local(text), taken.then_some(text), "{text:?}");
        }
    }

    #[test]
    fn a_redirect_is_a_header_of_plain_characters() {
        assert_eq!(location("/a b/ä?c=%20&d=\"e\"#f"), "/a%20b/%C3%A4?c=%20&d=%22e%22#f");
    }

    #[test]
    fn the_page_to_sign_in_leads_back() {
        for (target, expected) in [
            ("/", "/login?next=%2F"),
            ("/a/b?c=d&e=%20", "/login?next=%2Fa%2Fb%3Fc%3Dd%26e%3D%2520"),
            ("//evil.example", "/login"),
            ("/a/../..//evil.example", "/login"),
        ] {
            assert_eq!(login(&target.parse().unwrap()), expected, "{target}");
        }
    }
}
