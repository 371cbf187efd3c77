//! What a try that failed says: about the mail, and about the server.

use lettre::transport::smtp;
use mainstay_breaker::Verdict;

/// The most characters of an error that are logged.
const MAX_DETAIL: usize = 200;

/// The answer of a server that is about to go away, whoever asks.
const SHUTTING_DOWN: u16 = 421;

/// Why a try failed. What the server wrote is not kept: it repeats the recipient.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server said no for good.
    #[error("the server refused it with {0}")]
    Refused(u16),
    /// The server said not now.
    #[error("the server put it off with {0}")]
    Deferred(u16),
    /// The server does not do what the configuration asks for.
    #[error("the server offers no STARTTLS, and nothing is sent in the clear")]
    NoStartTls,
    /// The conversation can't be held at all.
    #[error("the server and the configuration do not fit: {0}")]
    Unfit(String),
    /// No end in time.
    #[error("the server did not answer in time")]
    Timeout,
    /// No connection, a lost one, or no trust in its certificate.
    #[error("the server can't be reached: {0}")]
    Unreachable(String),
    /// What came back is no SMTP.
    #[error("the server does not speak SMTP as it should")]
    Garbled,
}

impl Failure {
    /// A stable word for logs.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Deferred(_) => "deferred",
            Self::NoStartTls => "no_starttls",
            Self::Unfit(_) => "unfit",
            Self::Timeout => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::Garbled => "garbled",
        }
    }

    /// Whether another try may do better.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Refused(_) | Self::NoStartTls | Self::Unfit(_) => false,
            Self::Deferred(_) | Self::Timeout | Self::Unreachable(_) | Self::Garbled => true,
        }
    }

    /// What it means to the breaker: a server that answers is well, also when it says no.
    pub(crate) const fn verdict(&self) -> Verdict {
        match self {
            Self::Refused(SHUTTING_DOWN) | Self::Deferred(SHUTTING_DOWN) => Verdict::Failure,
            Self::Refused(_) | Self::Deferred(_) | Self::NoStartTls | Self::Unfit(_) => {
                Verdict::Success
            }
            Self::Timeout | Self::Unreachable(_) | Self::Garbled => Verdict::Failure,
        }
    }

    /// From an error of the way to the server, which holds nothing of the mail.
    pub(crate) fn unreachable(error: &dyn std::error::Error) -> Self {
        Self::Unreachable(shortened(&error.to_string()))
    }
}

impl From<smtp::Error> for Failure {
    fn from(error: smtp::Error) -> Self {
        if let Some(code) = error.status() {
            let code = u16::from(code);
            return if error.is_permanent() { Self::Refused(code) } else { Self::Deferred(code) };
        }
        if error.is_response() {
            Self::Garbled
        } else if error.is_client() {
            Self::Unfit(shortened(&error.to_string()))
        } else {
            Self::unreachable(&error)
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_DETAIL).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_answers_is_well_and_only_another_answer_is_worth_a_try() {
        use Verdict::{Failure as Bad, Success as Well};
        for (failure, transient, verdict) in [
            (Failure::Refused(550), false, Well),
            (Failure::Refused(535), false, Well),
            (Failure::Deferred(451), true, Well),
            (Failure::Deferred(421), true, Bad),
            (Failure::NoStartTls, false, Well),
            (Failure::Unfit(String::new()), false, Well),
            (Failure::Timeout, true, Bad),
            (Failure::Unreachable(String::new()), true, Bad),
            (Failure::Garbled, true, Bad),
        ] {
            assert_eq!(failure.is_transient(), transient, "{failure}");
            assert_eq!(failure.verdict(), verdict, "{failure}");
        }
    }

    #[test]
    fn what_is_logged_of_an_error_is_short_and_one_line() {
        let error = std::io::Error::other(format!("a\r\n\u{1b}b{}", "x".repeat(1_000)));
        let shown = Failure::unreachable(&error).to_string();
        assert!(shown.starts_with(r"the server can't be reached: a\r\n\u{1b}bxxx"), "{shown}");
        assert!(shown.len() < 2 * MAX_DETAIL, "{shown}");
    }
}
