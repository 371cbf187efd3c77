//! Where an answer sends the asker, and what may be told there.

use hyper::StatusCode;
use hyper::header::{HOST, HeaderMap, LOCATION};

use super::error::FetchError;
use super::request::{Prepared, common_headers};
use super::target::Target;

/// Whether an answer sends the asker elsewhere.
pub(crate) fn is_redirect(status: StatusCode, headers: &HeaderMap) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) && headers.contains_key(LOCATION)
}

/// One stop on the way to the answer.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) target: Target,
    pub(crate) headers: HeaderMap,
    /// Whether every stop so far had the origin that the secrets are for.
    is_home: bool,
}

impl Stop {
    /// The stop that an answer from `from` names.
    pub(crate) fn after(
        from: &Target,
        was_home: bool,
        answer: &HeaderMap,
        prepared: &Prepared,
    ) -> Result<Self, FetchError> {
        let location =
            answer.get(LOCATION).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
        let url =
            location.and_then(|location| from.url.join(location).ok()).ok_or_else(unreadable)?;
        let target = Target::new(&url).map_err(|error| {
            FetchError::redirect(format!("the redirect is not followed: its target {error}"))
        })?;
        // Once away, no secret is told any more: the way back was chosen by a stranger.
        let is_home = was_home && target.origin == prepared.target.origin;
        let mut headers = common_headers(&target);
        if is_home {
            headers = prepared.headers.clone();
            headers.insert(HOST, target.host.clone());
        }
        Ok(Self { target, headers, is_home })
    }

    pub(crate) const fn is_home(&self) -> bool {
        self.is_home
    }
}

/// One redirect more than is followed.
pub(crate) fn too_many(most: u8) -> FetchError {
    if most == 0 {
        return FetchError::redirect(
            "the answer is a redirect, which is not followed; give the address that it leads to",
        );
    }
    FetchError::redirect(format!(
        "there are more than {most} redirects; give the address that they lead to"
    ))
}

fn unreadable() -> FetchError {
    FetchError::redirect("the redirect leads to an address that can't be read; check the endpoint")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::WebRequest;
    use hyper::header::HeaderValue;
    use mainstay_base::Secret;
    use url::Url;

    fn request() -> WebRequest {
        let url = Url::parse("https://user:hunter2@example.com/a/health").unwrap();
        let key = Secret::new("hunter2".to_owned());
        WebRequest::get("test", &url).header("x-key", key).build().unwrap()
    }

    fn after(location: &[u8], was_home: bool) -> Result<Stop, FetchError> {
        let request = request();
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_bytes(location).unwrap());
        Stop::after(&request.prepared().target, was_home, &headers, request.prepared())
    }

    #[test]
    fn a_target_may_be_relative() {
        for (location, url) in [
            ("../b?c#d", "https://example.com/b?c"),
            ("/x", "https://example.com/x"),
            ("//other.example/", "https://other.example/"),
            ("http://example.com/", "http://example.com/"),
            ("https://u:p@example.com/", "https://example.com/"),
            ("", "https://example.com/a/health"),
        ] {
            assert_eq!(after(location.as_bytes(), true).unwrap().target.url.as_str(), url);
        }
    }

    #[test]
    fn secrets_stay_at_home() {
        for (location, told) in [
            ("/x", true),
            ("https://EXAMPLE.com:443/", true),
            ("http://example.com/", false),
            ("https://example.com:8443/", false),
            ("https://a.example.com/", false),
            ("https://user:hunter2@other.example/", false),
        ] {
            let stop = after(location.as_bytes(), true).unwrap();
            assert_eq!(stop.headers.contains_key("x-key"), told, "{location}");
            assert_eq!(stop.headers.contains_key("authorization"), told, "{location}");
            assert_eq!(stop.headers[HOST], stop.target.host, "{location}");
        }
        let back = after(b"https://example.com/", false).unwrap();
        assert!(!back.is_home() && !back.headers.contains_key("x-key"));
    }

    #[test]
    fn a_target_that_is_none_is_told() {
        for location in
            [&b"http://"[..], b"http://[::1", b"\xff\xfe", b"https://example.com:99999/"]
        {
            let error = after(location, true).unwrap_err();
            assert!(error.message().contains("can't be read"), "{error}");
        }
        for location in ["file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)"] {
            let error = after(location.as_bytes(), true).unwrap_err();
            assert!(error.message().contains("neither http nor https"), "{error}");
        }
    }
}
