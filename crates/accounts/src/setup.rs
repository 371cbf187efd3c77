//! The first account, and what somebody at the machine can do: make an admin, bring one back, and
//! change the pepper.

use serde_json::json;

use crate::accounts::Accounts;
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{By, Identity, Role, SETUP_TIME, Source, UserStatus};
use crate::outcome::{SETUP_CREATED, SETUP_DONE, SETUP_EXPIRED, SETUP_UNKNOWN};
use crate::password::Password;
use crate::record::{buckets, invites, pepper, sessions, setup_links, tokens, users};
use crate::sign_in::{ACCOUNT_SCOPE, ADDRESS_SCOPE, SignedIn};
use crate::token::{Kind, Token};

/// What became of an asked-for admin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdminMade {
    /// It is new.
    Created,
    /// It was there, and nothing was changed.
    WasThere,
    /// An account with this address is there, but it is no admin or disabled. Nothing was changed.
    IsNoAdmin,
}

/// Whether this database was used with the same pepper before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PepperCheck {
    /// Yes, or never with any.
    Same,
    /// With another one.
    Other,
}

impl Accounts {
    /// Whether there is no account yet.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn needs_setup(&self) -> Result<bool, AccountsError> {
        Ok(!users::any(self.db()).await?)
    }

    /// A one-time token for the first account, if there is no account yet.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn setup_token(&self) -> Result<Option<Token>, AccountsError> {
        if !self.needs_setup().await? {
            return Ok(None);
        }
        let token = Token::make(Kind::Setup, &*self.shared.rng);
        let (hash, now) = (token.hash(&self.shared.pepper), self.now());
        let written = self
            .db()
            .write(async |tx| setup_links::insert(tx, &hash, now, now.plus(SETUP_TIME)).await);
        written.await?;
        Ok(Some(token))
    }

    /// Makes the first account and signs it in.
    ///
    /// # Errors
    /// [`AccountsError::InvalidToken`], [`AccountsError::SetupDone`],
    /// [`AccountsError::WeakPassword`], [`AccountsError::InvalidEmail`], or the database's.
    pub async fn set_up(
        &self,
        token: &str,
        email: &str,
        password: &str,
        source: Source,
    ) -> Result<SignedIn, AccountsError> {
        let hash = Token::read(Kind::Setup, token).map(|token| token.hash(&self.shared.pepper));
        let hash = match hash {
            Some(hash) => self.check_setup_link(hash).await?,
            None => return Err(self.refuse_setup().await?),
        };
        let (email, password): (Email, _) = (email.parse()?, Password::new(password)?);
        let password_hash = self.shared.gate.hash(password).await?;
        let made = self
            .change(async |tx| {
                users::alone(tx).await?;
                if users::any_in(tx).await? {
                    return Ok(None);
                }
                if setup_links::expiry_in(tx, &hash).await?.is_none() {
                    return Err(AccountsError::InvalidToken);
                }
                let user = Identity { id: self.next_id(), email, role: Role::Admin };
                users::insert(tx, &user, &password_hash, self.now()).await?;
                setup_links::clear(tx).await?;
                let signed_in = self.open_session(tx, user, &source).await?;
                let by = By::caller(signed_in.caller.clone(), source.clone());
                let target = ("user", Some(signed_in.caller.user.id));
                self.audit(tx, &by, "user.set_up", target, json!({"role": "admin"})).await?;
                Ok(Some(signed_in))
            })
            .await?;
        match made {
            Some(signed_in) => {
                SETUP_CREATED.tell(Some(&signed_in.caller.user.id));
                Ok(signed_in)
            }
            None => Err(self.refuse_setup().await?),
        }
    }

    async fn check_setup_link(&self, hash: String) -> Result<String, AccountsError> {
        match setup_links::expiry(self.db(), &hash).await? {
            Some(end) if end > self.now() => Ok(hash),
            Some(_) => {
                SETUP_EXPIRED.tell(None);
                Err(AccountsError::InvalidToken)
            }
            None => Err(self.refuse_setup().await?),
        }
    }

    /// Why a link that is not known is refused.
    async fn refuse_setup(&self) -> Result<AccountsError, AccountsError> {
        if self.needs_setup().await? {
            SETUP_UNKNOWN.tell(None);
            Ok(AccountsError::InvalidToken)
        } else {
            SETUP_DONE.tell(None);
            Ok(AccountsError::SetupDone)
        }
    }

    /// Makes an admin. One that is there stays as it is.
    ///
    /// # Errors
    /// [`AccountsError::WeakPassword`], or the database's.
    pub async fn create_admin(
        &self,
        email: Email,
        password: &str,
    ) -> Result<AdminMade, AccountsError> {
        if let Some(kept) = users::by_email(self.db(), &email).await? {
            let is_admin = kept.user.role == Role::Admin && kept.is_active();
            return Ok(if is_admin { AdminMade::WasThere } else { AdminMade::IsNoAdmin });
        }
        let password_hash = self.shared.gate.hash(Password::new(password)?).await?;
        self.change(async |tx| {
            users::alone(tx).await?;
            let user = Identity { id: self.next_id(), email, role: Role::Admin };
            if !users::insert(tx, &user, &password_hash, self.now()).await? {
                return Ok(AdminMade::WasThere);
            }
            setup_links::clear(tx).await?;
            let detail = json!({"role": "admin", "email": user.email});
            self.audit(tx, &By::cli(), "user.create", ("user", Some(user.id)), detail).await?;
            Ok(AdminMade::Created)
        })
        .await
    }

    /// Brings a user back as an active admin with a new password. Whoever had a hand in the account
    /// loses it: its sessions and API tokens end and its pending invites are revoked. Failed attempts
    /// are forgotten, those of addresses too.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`], [`AccountsError::WeakPassword`], or the database's.
    pub async fn recover_admin(&self, email: Email, password: &str) -> Result<(), AccountsError> {
        if users::by_email(self.db(), &email).await?.is_none() {
            return Err(AccountsError::NotFound);
        }
        let password_hash = self.shared.gate.hash(Password::new(password)?).await?;
        self.change(async |tx| {
            users::alone(tx).await?;
            let kept = users::find_by_email(tx, &email).await?.ok_or(AccountsError::NotFound)?;
            let id = kept.user.id;
            users::lock(tx, id).await?;
            users::change(tx, id, Role::Admin, UserStatus::Active).await?;
            users::set_password(tx, id, &password_hash).await?;
            sessions::end_all_of(tx, id).await?;
            tokens::revoke_all_of(tx, id).await?;
            invites::revoke_of_admin(tx, id, self.now()).await?;
            buckets::clear(tx, ACCOUNT_SCOPE, &self.account_subject(&email)).await?;
            let change = self.counted_password_change(id);
            buckets::clear(tx, ACCOUNT_SCOPE, change.account_subject()).await?;
            // Which address was closed is not known here, and all of them are only counts.
            buckets::clear_scope(tx, ADDRESS_SCOPE).await?;
            let detail = json!({"role": {"from": kept.user.role, "to": "admin"}});
            self.audit(tx, &By::cli(), "user.recover", ("user", Some(id)), detail).await
        })
        .await
    }

    /// Whether the database was used with this pepper before; the first one is kept in mind.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn check_pepper(&self) -> Result<PepperCheck, AccountsError> {
        let ours = self.shared.pepper.fingerprint();
        let kept = pepper::find_or_keep(self.db(), &ours).await?;
        Ok(if kept == ours { PepperCheck::Same } else { PepperCheck::Other })
    }

    /// Goes over to this pepper: every session and API token ends, every pending invite is revoked.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn rotate_pepper(&self) -> Result<(), AccountsError> {
        let fingerprint = self.shared.pepper.fingerprint();
        self.change(async |tx| {
            let sessions = sessions::end_all(tx).await?;
            let tokens = tokens::revoke_all(tx).await?;
            let invites = invites::revoke_all(tx, self.now()).await?;
            setup_links::clear(tx).await?;
            buckets::clear_all(tx).await?;
            pepper::replace(tx, &fingerprint).await?;
            let detail = json!({"sessions": sessions, "api_tokens": tokens, "invites": invites});
            self.audit(tx, &By::cli(), "pepper.rotate", ("pepper", None), detail).await
        })
        .await
    }
}
