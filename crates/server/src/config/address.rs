//! How a web address is shown: never with the user and the password that somebody put into it.

use mainstay_base::secret::MASK;
use url::Url;

/// The address with its user and password masked. Where those can't be told from the rest for
/// sure, nothing of it is shown.
pub(super) fn masked(text: &str) -> String {
    if !text.contains(['@', '?', '#']) {
        return text.to_owned();
    }
    Url::parse(text.trim()).ok().and_then(|url| show(&url)).unwrap_or_else(|| MASK.to_owned())
}

/// A password with a bare `/`, `?` or `#` reads as a path, a query or a fragment.
fn show(url: &Url) -> Option<String> {
    let is_clear =
        url.query().is_none() && url.fragment().is_none() && !url.path().contains(['@', '%']);
    let host = url.host_str().filter(|_| is_clear)?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{MASK}@{host}{port}{}", url.scheme(), url.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_and_the_password_are_masked_and_the_rest_stays_visible() {
        for (text, expected) in [
            ("http://c:4318/base", "http://c:4318/base"),
            ("mainstay.example.com", "mainstay.example.com"),
            ("http://u:hunter2@c:4318/base", "http://[secret]@c:4318/base"),
            ("http://hunter2@c", "http://[secret]@c/"),
            ("http://u:hun@ter2@c", "http://[secret]@c/"),
            ("https://u:hunter2@[::1]:1", "https://[secret]@[::1]:1/"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn an_address_that_can_be_read_in_two_ways_is_not_shown() {
        for text in [
            "u:hunter2@c",
            "http://u:hunter2/x@c",
            "http://u:12/hunter2@c",
            "http://u:12?hunter2@c",
            "http://u:12#hunter2@c",
            "http://c?token=hunter2",
            "http://@",
        ] {
            assert_eq!(masked(text), MASK, "{text}");
        }
    }
}
