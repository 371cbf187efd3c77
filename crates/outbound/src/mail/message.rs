//! One mail, checked so that nothing in it can become a header, a recipient or a command.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue, MIME_VERSION_1_0};
use mainstay_base::{Id, Timestamp};

use super::address::MailAddress;
use super::error::MailError;

/// The longest subject, in characters.
pub const MAX_SUBJECT: usize = 200;

/// The longest text, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// The name beside the sender's address.
const SENDER_NAME: &str = "Mainstay";

/// The last second that the `Date` header has words for: the end of the year 9998.
const LAST_DATE: Duration = Duration::from_secs(253_370_764_799);

/// A plain-text mail to one person. Its debug print holds neither the text nor the recipient.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    to: MailAddress,
    subject: String,
    text: String,
}

impl Mail {
    /// Checks all three parts. Line breaks of the text may be of any kind.
    ///
    /// # Errors
    /// [`MailError`] names the part that does not do.
    pub fn new(to: &str, subject: &str, text: &str) -> Result<Self, MailError> {
        let to = to.parse()?;
        if subject.chars().nth(MAX_SUBJECT).is_some() {
            return Err(MailError::SubjectTooLong);
        }
        if subject.trim().is_empty() || subject.chars().any(breaks_a_line) {
            return Err(MailError::Subject);
        }
        if text.len() > MAX_TEXT {
            return Err(MailError::TextTooLong);
        }
        if text.chars().any(|one| one.is_control() && !matches!(one, '\r' | '\n' | '\t')) {
            return Err(MailError::Text);
        }
        // A bare carriage return is a line break to some servers and none to others.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        Ok(Self { to, subject: subject.to_owned(), text })
    }

    /// Where it goes: all of the recipient that is logged.
    pub(crate) fn domain(&self) -> &str {
        self.to.domain()
    }

    /// The mail as it goes over the wire, the same for every attempt: a receiver that sees it
    /// twice knows it by its id.
    pub(crate) fn letter(
        &self,
        from: &MailAddress,
        id: Id,
        written_at: Timestamp,
    ) -> Result<Letter, MailError> {
        let sender = Mailbox::new(Some(SENDER_NAME.to_owned()), from.as_lettre().clone());
        // So that no absence notice comes back (RFC 3834).
        let name = HeaderName::new_from_ascii_str("Auto-Submitted");
        let message = lettre::Message::builder()
            .from(sender)
            .to(Mailbox::new(None, self.to.as_lettre().clone()))
            .subject(self.subject.clone())
            .date(date(written_at))
            .message_id(Some(format!("<{id}@{}>", from.domain())))
            .raw_header(HeaderValue::new(name, "auto-generated".to_owned()))
            .header(MIME_VERSION_1_0)
            .header(ContentType::TEXT_PLAIN)
            .body(self.text.clone())
            .map_err(|_| MailError::Message)?;
        let envelope = message.envelope().clone();
        Ok(Letter { envelope, bytes: message.formatted() })
    }
}

impl fmt::Debug for Mail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mail").field("to", &self.to).finish_non_exhaustive()
    }
}

/// A mail that is ready to be sent.
pub(crate) struct Letter {
    pub(crate) envelope: lettre::address::Envelope,
    pub(crate) bytes: Vec<u8>,
}

fn breaks_a_line(one: char) -> bool {
    one.is_control() || matches!(one, '\u{2028}' | '\u{2029}')
}

fn date(written_at: Timestamp) -> SystemTime {
    let since_epoch = Duration::from_millis(u64::try_from(written_at.as_millis()).unwrap_or(0));
    UNIX_EPOCH + since_epoch.min(LAST_DATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::{IdSource, SystemClock, SystemRng};
    use std::sync::Arc;

    const OUR_HEADERS: [&str; 9] = [
        "Auto-Submitted",
        "Content-Transfer-Encoding",
        "Content-Type",
        "Date",
        "From",
        "MIME-Version",
        "Message-ID",
        "Subject",
        "To",
    ];

    fn mail(subject: &str, text: &str) -> Result<Mail, MailError> {
        Mail::new("ada@example.com", subject, text)
    }

    fn id() -> Id {
        IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next()
    }

    fn wire_of(mail: &Mail, id: Id, written_at: i64) -> String {
        let from = "mainstay@example.org".parse().unwrap();
        let letter = mail.letter(&from, id, Timestamp::from_millis(written_at)).unwrap();
        assert_eq!(letter.envelope.to().len(), 1);
        String::from_utf8(letter.bytes).unwrap()
    }

    fn wire(mail: &Mail) -> String {
        wire_of(mail, id(), 1_794_776_400_007)
    }

    #[test]
    fn a_subject_that_is_not_one_line_is_refused() {
        for subject in [
            "",
            "   ",
            "Hello\r\nBcc: eve@example.com",
            "Hello\nBcc: eve@example.com",
            "Hello\rBcc: eve@example.com",
            "Hello\n",
            "Hel\0lo",
            "Hel\tlo",
            "Hello\u{7f}",
            "Hello\u{85}Bcc: eve@example.com",
            "Hello\u{2028}Bcc: eve@example.com",
            "Hello\u{b}x",
        ] {
            assert_eq!(mail(subject, "text"), Err(MailError::Subject), "{subject:?}");
        }
    }

    #[test]
    fn the_lengths_are_bounded() {
        assert!(mail(&"ä".repeat(MAX_SUBJECT), "text").is_ok());
        for length in [MAX_SUBJECT + 1, 1_000, 100_000] {
            let long = "ä".repeat(length);
            assert_eq!(mail(&long, "text"), Err(MailError::SubjectTooLong), "{length}");
        }
        assert!(mail("Hello", &"x".repeat(MAX_TEXT)).is_ok());
        assert_eq!(mail("Hello", &"x".repeat(MAX_TEXT + 1)), Err(MailError::TextTooLong));
    }

    #[test]
    fn a_text_holds_lines_and_nothing_that_steers_a_terminal() {
        assert!(mail("Hello", "").is_ok());
        assert!(mail("Hello", "a\n\tb\r\nc\u{1F600}").is_ok());
        for text in ["a\0b", "\u{1b}[31m", "a\u{8}", "a\u{9b}31m"] {
            assert_eq!(mail("Hello", text), Err(MailError::Text), "{text:?}");
        }
    }

    #[test]
    fn a_refusal_does_not_repeat_what_it_was_given() {
        let refused = Mail::new("hunter2@@x", "Hello", "text").unwrap_err().to_string();
        assert!(refused.starts_with("the recipient is not one mail address"), "{refused}");
        assert!(!refused.contains("hunter2"), "{refused}");
    }

    #[test]
    fn the_headers_are_ours_alone() {
        let text = wire(&mail("Grüße – 你好", "Bcc: eve@example.com\n\nEnd").unwrap());
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let mut names: Vec<_> = head
            .split("\r\n")
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| line.split(':').next())
            .collect();
        names.sort_unstable();
        assert_eq!(names, OUR_HEADERS, "{head}");
        assert!(head.contains("From: Mainstay <mainstay@example.org>\r\n"), "{head}");
        assert!(head.contains("Date: Sun, 15 Nov 2026 21:00:00 +0000"), "{head}");
        assert!(body.contains("Bcc: eve@example.com\r\n\r\nEnd"), "{body}");
        assert!(text.is_ascii(), "{text}");
    }

    #[test]
    fn every_line_break_becomes_the_one_of_mail() {
        let text = wire(&mail("Hello", "one\rtwo\nthree\r\nfour").unwrap());
        assert!(text.ends_with("one\r\ntwo\r\nthree\r\nfour"), "{text:?}");
    }

    #[test]
    fn no_clock_is_too_wrong_for_a_date() {
        let mail = mail("Hello", "text").unwrap();
        for written_at in [i64::MIN, -1, 0, i64::MAX] {
            assert!(wire_of(&mail, id(), written_at).contains("\r\nDate: "));
        }
    }

    #[test]
    fn each_try_is_the_same_mail_to_its_receiver() {
        let (mail, id) = (mail("Hello", "text").unwrap(), id());
        let first = wire_of(&mail, id, 1_794_776_400_007);
        assert_eq!(first, wire_of(&mail, id, 1_794_776_400_007));
        assert!(first.contains(&format!("Message-ID: <{id}@example.org>\r\n")), "{first}");
    }

    #[test]
    fn the_debug_print_holds_neither_recipient_nor_subject_nor_text() {
        let shown = format!("{:?}", mail("hunter1", "hunter2").unwrap());
        assert_eq!(shown, "Mail { to: …@example.com, .. }");
    }
}
