//! Who is calling: by the cookie of a session or by an API token.

use std::sync::Arc;

use mainstay_base::Timestamp;

use crate::accounts::Accounts;
use crate::decide::is_seen_due;
use crate::error::AccountsError;
use crate::model::{Caller, Means, UserStatus};
use crate::outcome::{
    SESSION_DISABLED, SESSION_EXPIRED, TOKEN_DISABLED, TOKEN_EXPIRED, TOKEN_UNKNOWN,
};
use crate::record::sessions::{self, Held};
use crate::record::tokens;
use crate::seen::Used;
use crate::token::{Kind, Token};

impl Accounts {
    /// The caller whose session has this token, if it is alive and its user may sign in.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn by_session(&self, text: &str) -> Result<Option<Caller>, AccountsError> {
        let Some(token) = Token::read(Kind::Session, text) else { return Ok(None) };
        let hash = token.hash(&self.shared.pepper);
        let Some(held) = self.held(hash).await? else { return Ok(None) };
        let now = self.now();
        if held.expires_at <= now {
            SESSION_EXPIRED.tell(Some(&held.id));
            return Ok(None);
        }
        if held.status != UserStatus::Active {
            SESSION_DISABLED.tell(Some(&held.id));
            return Ok(None);
        }
        if is_seen_due(Some(held.last_seen_at), now) {
            self.shared.seen.tell(Used::Session(held.id), now);
        }
        let means = Means::Session { id: held.id, expires_at: held.expires_at };
        Ok(Some(Caller { user: held.user.clone(), means }))
    }

    /// The caller whose API token this is, if it is alive and its owner may sign in.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn by_api_token(&self, text: &str) -> Result<Option<Caller>, AccountsError> {
        let held = match Token::read(Kind::ApiToken, text) {
            Some(token) => tokens::held(self.db(), &token.hash(&self.shared.pepper)).await?,
            None => None,
        };
        let Some(held) = held else {
            TOKEN_UNKNOWN.tell(None);
            return Ok(None);
        };
        let now = self.now();
        if is_over(held.expires_at, now) {
            TOKEN_EXPIRED.tell(Some(&held.id));
            return Ok(None);
        }
        if held.status != UserStatus::Active {
            TOKEN_DISABLED.tell(Some(&held.id));
            return Ok(None);
        }
        if is_seen_due(held.last_used_at, now) {
            self.shared.seen.tell(Used::Token(held.id), now);
        }
        let means = Means::Token { id: held.id, scope: held.scope };
        Ok(Some(Caller { user: held.user, means }))
    }

    async fn held(&self, hash: String) -> Result<Option<Arc<Held>>, AccountsError> {
        let cache = &self.shared.cache;
        if let Some(held) = cache.find(&hash) {
            return Ok(Some(held));
        }
        let begun = cache.begin();
        let Some(held) = sessions::held(self.db(), &hash).await? else { return Ok(None) };
        let held = Arc::new(held);
        cache.keep(hash, &held, begun);
        Ok(Some(held))
    }
}

fn is_over(expires_at: Option<Timestamp>, now: Timestamp) -> bool {
    expires_at.is_some_and(|end| end <= now)
}
