//! Hosts in texts.

use std::collections::BTreeSet;
use std::sync::Arc;

/// The most hosts that are taken out of one dependency.
pub const MOST_HOSTS: usize = 4;

/// How much of a text is looked at.
const MOST_BYTES: usize = 4_096;

/// The longest name that a host can have.
const LONGEST: usize = 253;

/// The hosts that texts name, in lower case: in a URL any name, elsewhere one with a dot in it.
#[must_use]
pub fn named_in<'a>(texts: impl IntoIterator<Item = &'a str>) -> Box<[Arc<str>]> {
    let mut hosts = BTreeSet::new();
    for text in texts {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        let mut before = "";
        let mut rest = cut(text);
        while let Some(start) = rest.find(is_part) {
            let (between, word) = rest.split_at(start);
            if !between.is_empty() {
                before = between;
            }
            let end = word.find(|letter| !is_part(letter)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            rest = after;
            if hosts.len() < MOST_HOSTS && is_host(word, before.ends_with("//")) {
                hosts.insert(Arc::from(word.trim_matches('.').to_ascii_lowercase()));
            }
            before = "";
        }
    }
    hosts.into_iter().filter(|host: &Arc<str>| tells_something(host)).collect()
}

/// Whether a host is one, and the same for everybody.
#[must_use]
pub fn tells_something(host: &str) -> bool {
    let is_own = matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0" | "::1" | "[::1]");
    !is_own && !host.is_empty() && !host.ends_with(".localhost")
}

fn cut(text: &str) -> &str {
    let end = (0..=MOST_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

fn is_host(word: &str, follows_scheme: bool) -> bool {
    let word = word.trim_matches('.');
    if word.is_empty() || word.len() > LONGEST || word.split('.').any(str::is_empty) {
        return false;
    }
    let is_address =
        word.split('.').count() == 4 && word.split('.').all(|part| part.parse::<u8>().is_ok());
    let last = word.rsplit('.').next().unwrap_or_default();
    let ends_like_a_name = last.len() >= 2 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
    follows_scheme || is_address || (word.contains('.') && ends_like_a_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_urls_and_in_words_with_a_dot() {
        for (text, hosts) in [
            ("https://Payments.Example.org:8443/health", &["payments.example.org"] as &[_]),
            ("http://payments:8080/health", &["payments"]),
            ("at db-1.internal, port 5432", &["db-1.internal"]),
            (r#"{"host":"10.0.0.7","version":"1.2.3"}"#, &["10.0.0.7"]),
            ("See docs. Version 1.2 of it.", &[]),
            ("http://localhost:3000 and 127.0.0.1", &[]),
            ("a..b .. -", &[]),
            ("", &[]),
        ] {
            let found = named_in([text]);
            assert_eq!(found.iter().map(|host| &**host).collect::<Vec<_>>(), hosts, "{text}");
        }
    }

    #[test]
    fn a_dependency_names_few_hosts() {
        let texts: Vec<String> = (0..100).map(|n| format!("host{n}.example.org")).collect();
        assert_eq!(named_in(texts.iter().map(String::as_str)).len(), MOST_HOSTS);
        let long = "ä".repeat(MOST_BYTES);
        assert!(named_in([long.as_str()]).is_empty());
    }
}
