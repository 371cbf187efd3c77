//! Judges many addresses at once.

use std::net::IpAddr;
use std::time::Duration;

use axum::http::Uri;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use mainstay_monitor::{FailureKind, Fetch, PollFailure};
use tokio::time::sleep;

/// How many addresses are judged at once.
const JUDGED_AT_ONCE: usize = 32;

/// How long judging names may take. One that does not resolve by then is watched, as a single service
/// would be: each poll judges anew.
pub(super) const JUDGING_TIME: Duration = Duration::from_secs(10);

/// The first of these that would never be called. Addresses that need no name server come first, so
/// that slow names never let one of them pass.
pub(super) async fn first_blocked<T>(
    fetch: &dyn Fetch,
    addresses: Vec<(T, String)>,
    time: Duration,
) -> Option<(T, PollFailure)> {
    let numbered = addresses.into_iter().enumerate();
    let (literal, named): (Vec<_>, Vec<_>) = numbered.partition(|(_, (_, url))| is_literal(url));
    let mut blocked = Vec::new();
    for (place, (item, url)) in literal {
        blocked.extend(refusal(fetch, &url).await.map(|failure| (place, item, failure)));
    }
    let end = sleep(time).shared();
    let mut judging = stream::iter(named)
        .map(|(place, (item, url))| {
            let end = end.clone();
            async move {
                // What is known without waiting is told, however late it is.
                let judged = tokio::select! {
                    biased;
                    judged = refusal(fetch, &url) => judged,
                    () = end => None,
                };
                judged.map(|failure| (place, item, failure))
            }
        })
        .buffer_unordered(JUDGED_AT_ONCE);
    while let Some(judged) = judging.next().await {
        blocked.extend(judged);
    }
    let first = blocked.into_iter().min_by_key(|(place, ..)| *place);
    first.map(|(_, item, failure)| (item, failure))
}

async fn refusal(fetch: &dyn Fetch, url: &str) -> Option<PollFailure> {
    fetch.judge(url).await.err().filter(|failure| failure.kind == FailureKind::BlockedAddress)
}

fn is_literal(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else { return false };
    url.host().is_some_and(|host| host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use mainstay_monitor::polling::Answering;

    use super::*;

    /// Names that are called `slow` never resolve; what ends in 13 is blocked.
    struct Names;

    impl Fetch for Names {
        fn judge<'a>(&'a self, url: &'a str) -> Answering<'a, Result<(), PollFailure>> {
            Box::pin(async move {
                if url.contains("slow") {
                    pending::<()>().await;
                }
                if url.ends_with("13/") {
                    let kind = FailureKind::BlockedAddress;
                    return Err(PollFailure { kind, message: url.to_owned() });
                }
                Ok(())
            })
        }

        fn fetch<'a>(&'a self, _: &'a str) -> Answering<'a, Result<Vec<u8>, PollFailure>> {
            Box::pin(async { Ok(Vec::new()) })
        }
    }

    async fn first(urls: &[String]) -> Option<usize> {
        let addresses = urls.iter().cloned().enumerate().collect();
        first_blocked(&Names, addresses, Duration::ZERO).await.map(|(place, _)| place)
    }

    #[tokio::test]
    async fn slow_names_let_no_blocked_address_pass() {
        let slow = (0..2 * JUDGED_AT_ONCE).map(|n| format!("http://slow{n}.example/"));
        let mut urls: Vec<String> = slow.collect();
        assert_eq!(first(&urls).await, None, "they are judged anew by each poll");
        urls.push("http://10.0.0.13/".to_owned());
        assert_eq!(first(&urls).await, Some(2 * JUDGED_AT_ONCE));
        urls.pop();
        urls.push("http://quick13/".to_owned());
        assert_eq!(first(&urls).await, Some(2 * JUDGED_AT_ONCE), "its own time is not spent");
    }

    #[tokio::test]
    async fn the_first_in_the_document_is_told() {
        let urls = ["http://a/", "http://name13/", "http://10.0.0.13/", "http://[::2]/13/"];
        assert_eq!(first(&urls.map(str::to_owned)).await, Some(1));
        for (url, expected) in [
            ("http://10.0.0.13:80/a", true),
            ("https://[fd00::13]/", true),
            ("http://10.0.0.13.example/", false),
            ("nothing", false),
        ] {
            assert_eq!(is_literal(url), expected, "{url}");
        }
    }
}
