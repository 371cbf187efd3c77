//! What accounts send by mail: invites, and notices to the admins. A letter is sealed before it is
//! queued, because it holds a link that lets somebody in, and opened when it is delivered.

use std::sync::Arc;

use mainstay_accounts::{AccountsError, Email, INVITE_TIME, Pepper, Post, Posted, Role};
use mainstay_base::{Id, Rng, Timestamp};
use mainstay_outbound::{Mail, Mailer, SendError};
use mainstay_store::Tx;
use serde::{Deserialize, Serialize};

/// What letters are sealed for.
const PURPOSE: &str = "mail";

/// Keeps letters until they are delivered.
pub(crate) trait Letterbox: Send + Sync + 'static {
    /// Puts a letter in with what `tx` commits. Whether it is taken.
    fn put<'a>(&'a self, tx: &'a mut Tx, letter: SealedLetter) -> Posted<'a>;
}

/// A letter that nobody can read without the pepper: what a letterbox keeps, and what [`deliver`]
/// takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealedLetter(pub(crate) String);

/// Why a letter was not delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Undelivered {
    /// It can't be opened, now or ever.
    #[error(
        "the mail was sealed under another TOKEN_HASH_PEPPER, or is damaged, and can't be read; \
         send it again"
    )]
    Unreadable,
    /// It was not sent.
    #[error(transparent)]
    Unsent(#[from] SendError),
}

/// Tries once to deliver. Whoever tries again gives the same `id` and `written_at`.
pub(crate) async fn deliver(
    mailer: &Mailer,
    pepper: &Pepper,
    letter: &SealedLetter,
    id: Id,
    written_at: Timestamp,
) -> Result<(), Undelivered> {
    let letter = Letter::open(pepper, letter).ok_or(Undelivered::Unreadable)?;
    let mail = letter.mail().map_err(SendError::Mail)?;
    Ok(mailer.send(id, written_at, &mail).await?)
}

impl Undelivered {
    /// A stable word for logs and job lists.
    pub(crate) const fn reason(&self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Unsent(error) => error.reason(),
        }
    }
}

/// Queues letters.
pub(crate) struct MailPost {
    pub(crate) letterbox: Arc<dyn Letterbox>,
    pub(crate) pepper: Pepper,
    pub(crate) rng: Arc<dyn Rng>,
    /// The site's address, where it is known without a request.
    pub(crate) site: Option<String>,
}

impl MailPost {
    async fn put(&self, tx: &mut Tx, letter: Letter) -> Result<bool, AccountsError> {
        // What could never be sent is not queued, and whoever asked for it learns so at once.
        if let Err(error) = letter.mail() {
            tracing::warn!(%error, "a mail could not be written");
            return Ok(false);
        }
        self.letterbox.put(tx, letter.seal(&self.pepper, &*self.rng)).await
    }
}

impl Post for MailPost {
    fn invite<'a>(
        &'a self,
        tx: &'a mut Tx,
        to: &'a Email,
        role: Role,
        link: &'a str,
    ) -> Posted<'a> {
        let letter = Letter::new(to, "You are invited to Mainstay", invite_text(role, link));
        Box::pin(self.put(tx, letter))
    }

    fn access_request<'a>(
        &'a self,
        tx: &'a mut Tx,
        admins: &'a [Email],
        from: &'a Email,
    ) -> Posted<'a> {
        Box::pin(async move {
            let text = request_text(from, self.site.as_deref());
            let mut is_queued = false;
            for admin in admins {
                let subject = "Somebody asks for access to Mainstay";
                is_queued |= self.put(tx, Letter::new(admin, subject, text.clone())).await?;
            }
            Ok(is_queued)
        })
    }
}

/// A mail as it waits.
#[derive(Serialize, Deserialize)]
struct Letter {
    to: String,
    subject: String,
    text: String,
}

impl Letter {
    fn new(to: &Email, subject: &str, text: String) -> Self {
        Self { to: to.to_string(), subject: subject.to_owned(), text }
    }

    fn mail(&self) -> Result<Mail, mainstay_outbound::MailError> {
        Mail::new(&self.to, &self.subject, &self.text)
    }

    fn seal(&self, pepper: &Pepper, rng: &dyn Rng) -> SealedLetter {
        let plain = serde_json::to_vec(self).unwrap_or_default();
        SealedLetter(pepper.seal(PURPOSE, &plain, rng))
    }

    fn open(pepper: &Pepper, sealed: &SealedLetter) -> Option<Self> {
        let plain = pepper.open(PURPOSE, &sealed.0)?;
        serde_json::from_slice(&plain).ok()
    }
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
#[path = "post_tests.rs"]
mod tests;
