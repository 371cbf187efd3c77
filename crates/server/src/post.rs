//! What accounts send by mail: invites, and notices to the admins.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainstay_accounts::{Email, INVITE_TIME, Post, Role};
use mainstay_base::{Clock, Moment};
use mainstay_outbound::{Mail, Mailer};

/// Requests for access that the admins are told of in [`NOTICE_SPAN`]: whoever makes up requests
/// must not fill their mailboxes. All of them are in the dashboard.
const MAX_NOTICES: usize = 10;
const NOTICE_SPAN: Duration = Duration::from_hours(1);

/// Sends by mail.
pub(crate) struct MailPost {
    mailer: Mailer,
    clock: Arc<dyn Clock>,
    /// The site's address, where it is known without a request.
    site: Option<String>,
    notices: Mutex<VecDeque<Moment>>,
}

impl MailPost {
    pub(crate) fn new(mailer: Mailer, clock: Arc<dyn Clock>, site: Option<String>) -> Self {
        Self { mailer, clock, site, notices: Mutex::default() }
    }

    /// The mailer tells the log of every mail that it does not take.
    fn send(&self, to: &Email, subject: &str, text: &str) -> bool {
        match Mail::new(to.as_str(), subject, text) {
            Ok(mail) => self.mailer.send(mail).is_ok(),
            Err(error) => {
                tracing::warn!(%error, "a mail could not be written");
                false
            }
        }
    }
}

impl Post for MailPost {
    fn invite(&self, to: &Email, role: Role, link: &str) -> bool {
        self.send(to, "You are invited to Mainstay", &invite_text(role, link))
    }

    fn access_request(&self, admins: &[Email], from: &Email) {
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_noticed(&mut notices, self.clock.moment()) {
            tracing::warn!("many ask for access; the admins get no more mail about it for now");
            return;
        }
        drop(notices);
        let text = request_text(from, self.site.as_deref());
        for admin in admins {
            self.send(admin, "Somebody asks for access to Mainstay", &text);
        }
    }
}

/// Whether one more notice fits.
fn is_noticed(notices: &mut VecDeque<Moment>, now: Moment) -> bool {
    while notices.front().is_some_and(|&first| now.since(first) >= NOTICE_SPAN) {
        notices.pop_front();
    }
    let fits = notices.len() < MAX_NOTICES;
    if fits {
        notices.push_back(now);
    }
    fits
}

fn invite_text(role: Role, link: &str) -> String {
    let days = INVITE_TIME.as_secs() / (24 * 60 * 60);
    format!(
        "You are invited to Mainstay as {role}.\n\nOpen this link within {days} days and choose a \
         password:\n\n{link}\n\nThe link works once. If you did not expect it, ignore this mail.\n"
    )
}

fn request_text(from: &Email, site: Option<&str>) -> String {
    let place = match site {
        Some(site) => format!("{site}/admin/access-requests"),
        None => "the dashboard, under Admin, Access requests".to_owned(),
    };
    format!("{from} asks for access to Mainstay.\n\nDecide at {place}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_hold_what_their_reader_needs() {
        let text = invite_text(Role::Editor, "https://mainstay.example.com/invite#abc");
        assert!(text.contains("as editor") && text.contains("within 7 days"), "{text}");
        assert!(text.contains("\nhttps://mainstay.example.com/invite#abc\n"), "on its own line");
        let from = "ada@example.com".parse().unwrap();
        let text = request_text(&from, Some("https://mainstay.example.com"));
        assert!(text.contains("https://mainstay.example.com/admin/access-requests"), "{text}");
        assert!(request_text(&from, None).contains("under Admin"));
    }

    #[test]
    fn the_admins_get_a_bounded_number_of_notices() {
        let mut notices = VecDeque::new();
        let at = |minutes| Moment::from_origin(Duration::from_mins(minutes));
        let told = (0..20).filter(|_| is_noticed(&mut notices, at(0))).count();
        assert_eq!(told, MAX_NOTICES);
        assert!(!is_noticed(&mut notices, at(59)));
        assert!(is_noticed(&mut notices, at(60)));
    }
}
