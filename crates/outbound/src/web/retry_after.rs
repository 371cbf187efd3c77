//! How long a server asks to be left alone: in seconds, or until a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::{DATE, HeaderMap, RETRY_AFTER};
use mainstay_base::Timestamp;

/// What the headers of an answer ask for. A date is counted from the server's own, where it tells that:
/// its clock and ours may differ.
pub(crate) fn read(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    if !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number has ask for longer than anybody waits.
        return Some(Duration::from_secs(asked.parse().unwrap_or(u64::MAX)));
    }
    let until = date(asked)?;
    Some(until.since(text(DATE).and_then(date).unwrap_or(now)))
}

fn date(text: &str) -> Option<Timestamp> {
    let time: SystemTime = httpdate::parse_http_date(text).ok()?;
    let millis = time.duration_since(UNIX_EPOCH).ok()?.as_millis();
    i64::try_from(millis).ok().map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    /// 2026-11-18 03:00:00 UTC.
    const NOW: Timestamp = Timestamp::from_millis(1_794_970_800_000);

    fn asked(retry_after: &'static str, date: Option<&'static str>) -> Option<u64> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static(retry_after));
        if let Some(date) = date {
            headers.insert(DATE, HeaderValue::from_static(date));
        }
        read(&headers, NOW).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_and_dates_are_understood_and_nothing_else() {
        let cases = [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Wed, 18 Nov 2026 03:01:30 GMT", Some(90)),
            // The two old forms of a date, which are still to be read.
            ("Wednesday, 18-Nov-26 03:01:30 GMT", Some(90)),
            ("Wed Nov 18 03:01:30 2026", Some(90)),
            ("Wed, 18 Nov 2026 02:00:00 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("+5", None),
            ("1.5", None),
            ("soon", None),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Wed, 41 Nov 2026 03:01:30 GMT", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(asked(text, None), wanted, "{text:?}");
        }
        assert_eq!(read(&HeaderMap::new(), NOW), None);
    }

    #[test]
    fn a_date_is_counted_from_the_servers_own_clock() {
        let until = "Wed, 18 Nov 2026 09:01:30 GMT";
        assert_eq!(asked(until, Some("Wed, 18 Nov 2026 09:01:00 GMT")), Some(30));
        assert_eq!(asked(until, Some("garbage")), Some(6 * 3_600 + 90));
    }
}
