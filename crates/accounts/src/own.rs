//! What a user does with the own account: sessions, password, API tokens.

use std::time::Duration;

use mainstay_base::{BoundedText, Id};
use serde_json::json;

use crate::accounts::Accounts;
use crate::error::AccountsError;
use crate::model::{By, Caller, MAX_TOKENS, Means, PageAsk, Part, Role, Scope, Source};
use crate::outcome::{
    PASSWORD_CHANGED, PASSWORD_INVALID, SESSION_REVOKED, TOKEN_CREATED, TOKEN_REVOKED,
};
use crate::password::Password;
use crate::record::sessions::{self, Session};
use crate::record::tokens::{self, ApiToken};
use crate::record::users;
use crate::sign_in::take_back;
use crate::text::plain;
use crate::token::{Kind, Token};

/// Characters of an API token's name.
pub const MAX_TOKEN_NAME: usize = 100;

/// An API token that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenAsk {
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// How long it lives; without, for ever.
    pub lives: Option<Duration>,
}

impl Accounts {
    /// The sessions of a user that are alive, the last used first.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn sessions(&self, user_id: Id) -> Result<Vec<Session>, AccountsError> {
        Ok(sessions::list(self.db(), user_id, self.now()).await?)
    }

    /// Ends one of the caller's own sessions.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`] when it is not the caller's, or the database's.
    pub async fn end_session(
        &self,
        caller: &Caller,
        id: Id,
        source: Source,
    ) -> Result<(), AccountsError> {
        self.change_as(caller, Role::Viewer, async |tx| {
            if !sessions::end_one(tx, id, caller.user.id).await? {
                return Err(AccountsError::NotFound);
            }
            let by = By::caller(caller.clone(), source);
            self.audit(tx, &by, "session.end", ("session", Some(id)), json!({})).await
        })
        .await?;
        SESSION_REVOKED.tell(Some(&id));
        Ok(())
    }

    /// Ends every session of the caller but the one that asks.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn end_other_sessions(
        &self,
        caller: &Caller,
        source: Source,
    ) -> Result<u64, AccountsError> {
        let user = caller.user.id;
        let ended = self
            .change_as(caller, Role::Viewer, async |tx| {
                let ended = match caller.means {
                    Means::Session { id, .. } => sessions::end_others(tx, user, id).await?,
                    Means::Token { .. } => sessions::end_all_of(tx, user).await?,
                };
                if ended > 0 {
                    let by = By::caller(caller.clone(), source);
                    let detail = json!({"ended": ended});
                    self.audit(tx, &by, "session.end_others", ("user", Some(user)), detail).await?;
                }
                Ok(ended)
            })
            .await?;
        if ended > 0 {
            SESSION_REVOKED.tell(Some(&user));
        }
        Ok(ended)
    }

    /// Changes the caller's password; every other session of the user ends.
    ///
    /// # Errors
    /// [`AccountsError::InvalidCredentials`] when `current` is wrong,
    /// [`AccountsError::WeakPassword`], [`AccountsError::TooManyAttempts`], or the database's.
    pub async fn change_password(
        &self,
        caller: &Caller,
        current: &str,
        new: &str,
        source: Source,
    ) -> Result<(), AccountsError> {
        let new = Password::new(new)?;
        let user = &caller.user;
        let kept = users::by_email(self.db(), &user.email).await?;
        let hash = kept.map(|kept| kept.password_hash);
        let counted = self.counted_password_change(user.id);
        self.count_attempt(&counted, source.address).await?;
        let new_hash = match self.checked_hash(current, hash.clone(), new).await {
            Ok(Some(new_hash)) => new_hash,
            Ok(None) => {
                PASSWORD_INVALID.tell(Some(&user.id));
                return Err(AccountsError::InvalidCredentials);
            }
            Err(error) => {
                self.take_back(&counted).await?;
                return Err(error);
            }
        };
        self.change_as(caller, Role::Viewer, async |tx| {
            take_back(tx, &counted).await?;
            let fresh = users::find(tx, user.id).await?;
            if fresh.map(|fresh| fresh.password_hash) != hash {
                return Err(AccountsError::InvalidCredentials);
            }
            users::set_password(tx, user.id, &new_hash).await?;
            if let Means::Session { id, .. } = caller.means {
                sessions::end_others(tx, user.id, id).await?;
            }
            let by = By::caller(caller.clone(), source);
            self.audit(tx, &by, "password.change", ("user", Some(user.id)), json!({})).await
        })
        .await?;
        PASSWORD_CHANGED.tell(Some(&user.id));
        Ok(())
    }

    /// The hash of the new password, if the current one is right.
    async fn checked_hash(
        &self,
        current: &str,
        kept: Option<String>,
        new: Password,
    ) -> Result<Option<String>, AccountsError> {
        if !self.shared.gate.is_right(Password::new(current).ok(), kept).await? {
            return Ok(None);
        }
        Ok(Some(self.shared.gate.hash(new).await?))
    }

    /// The caller's API tokens.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn tokens(&self, user_id: Id, ask: PageAsk) -> Result<Part<ApiToken>, AccountsError> {
        tokens::list(self.db(), user_id, ask).await
    }

    /// Makes an API token. The token itself is given out here and never again.
    ///
    /// # Errors
    /// [`AccountsError::InvalidText`], [`AccountsError::TooManyTokens`], or the database's.
    pub async fn create_token(
        &self,
        caller: &Caller,
        ask: TokenAsk,
        source: Source,
    ) -> Result<(Token, ApiToken), AccountsError> {
        let name: BoundedText<MAX_TOKEN_NAME> = plain("name", &ask.name)?;
        let token = Token::make(Kind::ApiToken, &*self.shared.rng);
        let now = self.now();
        let item = ApiToken {
            id: self.next_id(),
            name: name.to_string(),
            scope: ask.scope,
            prefix: token.shown(),
            created_at: now,
            expires_at: ask.lives.map(|lives| now.plus(lives)),
            last_used_at: None,
        };
        let (user, hash) = (caller.user.id, token.hash(&self.shared.pepper));
        self.change_as(caller, Role::Viewer, async |tx| {
            if tokens::count(tx, user).await? >= MAX_TOKENS {
                return Err(AccountsError::TooManyTokens);
            }
            tokens::insert(tx, &item, &hash, user).await?;
            let by = By::caller(caller.clone(), source);
            let detail = json!({"name": item.name, "scope": item.scope});
            self.audit(tx, &by, "api_token.create", ("api_token", Some(item.id)), detail).await
        })
        .await?;
        TOKEN_CREATED.tell(Some(&item.id));
        Ok((token, item))
    }

    /// Revokes one of the caller's own API tokens.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`] when it is not the caller's, or the database's.
    pub async fn revoke_token(
        &self,
        caller: &Caller,
        id: Id,
        source: Source,
    ) -> Result<(), AccountsError> {
        self.change_as(caller, Role::Viewer, async |tx| {
            if !tokens::revoke(tx, id, caller.user.id).await? {
                return Err(AccountsError::NotFound);
            }
            let by = By::caller(caller.clone(), source);
            self.audit(tx, &by, "api_token.revoke", ("api_token", Some(id)), json!({})).await
        })
        .await?;
        TOKEN_REVOKED.tell(Some(&id));
        Ok(())
    }
}
