//! What the room sends by mail, queued in the transaction of what it tells of.

use std::pin::Pin;

use mainstay_store::Tx;

use crate::email::Email;
use crate::error::AccountsError;
use crate::model::Role;

/// Whether a mail is queued, once the transaction is committed.
pub type Posted<'a> = Pin<Box<dyn Future<Output = Result<bool, AccountsError>> + Send + 'a>>;

/// Queues mail, or does not because nobody configured it. It never waits for a mail server: a mail
/// is queued with what is committed, and with nothing that is not. An error rolls the whole
/// transaction back.
pub trait Post: Send + Sync + 'static {
    /// Queues an invite.
    fn invite<'a>(&'a self, tx: &'a mut Tx, to: &'a Email, role: Role, link: &'a str)
    -> Posted<'a>;

    /// Queues the notice to the admins that somebody asks for access.
    fn access_request<'a>(
        &'a self,
        tx: &'a mut Tx,
        admins: &'a [Email],
        from: &'a Email,
    ) -> Posted<'a>;
}

/// Nobody configured mail.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPost;

impl Post for NoPost {
    fn invite<'a>(&'a self, _: &'a mut Tx, _: &'a Email, _: Role, _: &'a str) -> Posted<'a> {
        Box::pin(async { Ok(false) })
    }

    fn access_request<'a>(&'a self, _: &'a mut Tx, _: &'a [Email], _: &'a Email) -> Posted<'a> {
        Box::pin(async { Ok(false) })
    }
}
