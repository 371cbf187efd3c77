//! What the settings of providers (of machines, of language models) have in common: a token, and an address.

use mainstay_base::Secret;
use url::{Host, Url};

use super::problem::Reason;

/// A token. Fly's hold a space. No reason repeats the text: it is a secret.
pub(super) fn token(text: &str) -> Result<Secret<String>, Reason> {
    let token = text.trim();
    let is_fit = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    let fits = !token.is_empty() && token.bytes().all(is_fit);
    fits.then(|| Secret::new(token.to_owned()))
        .ok_or_else(|| "is no token; give the provider's, in one line".into())
}

/// The address that everything is below; `example` is one of its kind.
pub(super) fn base_url(text: &str, example: &str) -> Result<Url, Reason> {
    let is_fit = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    let url = Url::parse(text.trim()).ok().filter(is_fit);
    url.ok_or_else(|| {
        format!("is no web address without login and query; give one such as {example}").into()
    })
}

/// Whether a token would go over a network that others may read: plain http, unless on this host or in
/// a private network that encrypts by itself (`….internal`, Fly's).
pub(super) fn shows_token(url: &Url) -> bool {
    let is_near = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".internal"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    url.scheme() == "http" && !is_near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_this_host_readable_shows_the_token() {
        for (text, shows) in [
            ("https://api.machines.dev", false),
            ("http://127.0.0.1:1", false),
            ("http://[::1]:1", false),
            ("http://localhost:1", false),
            ("http://_api.internal:4280", false),
            ("http://10.0.0.1", true),
            ("http://internal.example", true),
        ] {
            assert_eq!(shows_token(&base_url(text, "").unwrap()), shows, "{text}");
        }
    }
}
