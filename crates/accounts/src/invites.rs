//! Invites: an admin makes one, whoever has its link becomes a user.

use std::fmt;

use mainstay_base::{Id, Timestamp};
use mainstay_store::Tx;
use serde_json::json;

use crate::accounts::Accounts;
use crate::email::Email;
use crate::error::AccountsError;
use crate::model::{
    By, Caller, INVITE_TIME, Identity, InviteStatus, PageAsk, Part, RequestStatus, Role, Source,
};
use crate::outcome::{
    Ending, INVITE_ACCEPTED, INVITE_CREATED, INVITE_EXPIRED, INVITE_REVOKED, INVITE_TAKEN_BACK,
    INVITE_UNKNOWN, INVITE_USED, INVITE_USER_EXISTS,
};
use crate::password::Password;
use crate::record::invites::{self, Invite, NewInvite};
use crate::record::{access_requests, users};
use crate::sign_in::SignedIn;
use crate::token::{Kind, Token};

/// An invite that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InviteAsk {
    /// Who is invited.
    pub email: Email,
    /// What the user will be allowed to do.
    pub role: Role,
    /// The request that it answers.
    pub access_request_id: Option<Id>,
}

/// An invite that was made.
pub struct Invited {
    /// The invite.
    pub invite: Invite,
    /// Its link, shown once.
    pub link: String,
    /// Whether it is also queued as a mail.
    pub mailed: bool,
}

impl fmt::Debug for Invited {
    /// The link is for the invited alone.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Invited").field("invite", &self.invite).finish_non_exhaustive()
    }
}

impl Accounts {
    /// Invites somebody. Earlier invites of the same address are revoked; a request that it answers
    /// is approved.
    ///
    /// # Errors
    /// [`AccountsError::UserExists`], [`AccountsError::NotFound`] for the request, or the database's.
    pub async fn invite(
        &self,
        admin: &Caller,
        ask: InviteAsk,
        site: &str,
        source: Source,
    ) -> Result<Invited, AccountsError> {
        let token = Token::make(Kind::Invite, &*self.shared.rng);
        let (id, now) = (self.next_id(), self.now());
        let expires_at = now.plus(INVITE_TIME);
        let new = NewInvite {
            id,
            hash: &token.hash(&self.shared.pepper),
            email: ask.email.as_str(),
            role: ask.role,
            access_request_id: ask.access_request_id,
            created_by: admin.user.id,
            now,
            expires_at,
        };
        let by = By::caller(admin.clone(), source);
        let link = format!("{site}/invite#{}", token.reveal());
        let mailed = self
            .change_as(admin, Role::Admin, async |tx| {
                self.write_invite(tx, &new, &by).await?;
                self.shared.post.invite(tx, &ask.email, ask.role, &link).await
            })
            .await?;
        INVITE_CREATED.tell(Some(&id));
        let invite = Invite {
            id,
            email: ask.email.to_string(),
            role: ask.role,
            status: InviteStatus::Pending,
            created_at: now,
            expires_at,
            created_by: admin.user.email.to_string(),
        };
        Ok(Invited { invite, link, mailed })
    }

    async fn write_invite(
        &self,
        tx: &mut Tx,
        new: &NewInvite<'_>,
        by: &By,
    ) -> Result<(), AccountsError> {
        if users::find_by_email(tx, &new.email.parse()?).await?.is_some() {
            return Err(AccountsError::UserExists);
        }
        if let Some(id) = new.access_request_id {
            let request = access_requests::find(tx, id).await?;
            let request = request.ok_or(AccountsError::NotFound)?;
            if request.email != new.email {
                return Err(another_address());
            }
            let approved = RequestStatus::Approved;
            access_requests::handle(tx, id, approved, new.created_by, new.now).await?;
        }
        let replaced = invites::revoke_for_email(tx, new.email, new.now).await?;
        invites::insert(tx, new).await?;
        let detail = json!({
            "email": new.email,
            "role": new.role,
            "access_request_id": new.access_request_id,
            "replaced": replaced,
        });
        self.audit(tx, by, "invite.create", ("invite", Some(new.id)), detail).await
    }

    /// The invites, newest first.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn list_invites(&self, ask: PageAsk) -> Result<Part<Invite>, AccountsError> {
        invites::list(self.db(), ask, self.now()).await
    }

    /// Takes a pending invite back.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`], [`AccountsError::InviteNotPending`], or the database's.
    pub async fn revoke_invite(
        &self,
        admin: &Caller,
        id: Id,
        source: Source,
    ) -> Result<(), AccountsError> {
        let now = self.now();
        self.change_as(admin, Role::Admin, async |tx| {
            let invite = invites::find(tx, id, now).await?.ok_or(AccountsError::NotFound)?;
            if !invites::revoke(tx, id, now).await? {
                return Err(AccountsError::InviteNotPending);
            }
            let by = By::caller(admin.clone(), source);
            let detail = json!({"email": invite.email});
            self.audit(tx, &by, "invite.revoke", ("invite", Some(id)), detail).await
        })
        .await?;
        INVITE_TAKEN_BACK.tell(Some(&id));
        Ok(())
    }

    /// The pending invite with this token.
    ///
    /// # Errors
    /// [`AccountsError::InvalidToken`] for every bad case alike, or the database's.
    pub async fn look_at_invite(&self, token: &str) -> Result<Invite, AccountsError> {
        let hash = Token::read(Kind::Invite, token).map(|token| token.hash(&self.shared.pepper));
        let found = match &hash {
            Some(hash) => invites::by_hash(self.db(), hash, self.now()).await?,
            None => None,
        };
        match found {
            Some(invite) if invite.status == InviteStatus::Pending => Ok(invite),
            other => {
                ending(other.as_ref()).tell(other.as_ref().map(|invite| &invite.id as _));
                Err(AccountsError::InvalidToken)
            }
        }
    }

    /// Accepts an invite: makes the user with this password and signs in.
    ///
    /// # Errors
    /// [`AccountsError::InvalidToken`] for every bad case alike,
    /// [`AccountsError::WeakPassword`], or the database's.
    pub async fn accept_invite(
        &self,
        token: &str,
        password: &str,
        source: Source,
    ) -> Result<SignedIn, AccountsError> {
        // Looked at first, so that a made-up token does not cost a hashing.
        let invite = self.look_at_invite(token).await?;
        let password_hash = self.shared.gate.hash(Password::new(password)?).await?;
        let hash = Token::read(Kind::Invite, token).map(|token| token.hash(&self.shared.pepper));
        let hash = hash.ok_or(AccountsError::InvalidToken)?;
        let (ending, accepted) = match self.claim(&invite, &hash, &password_hash, &source).await {
            Ok(signed_in) => (INVITE_ACCEPTED, Ok(signed_in)),
            Err(AccountsError::InvalidToken) => (INVITE_USED, Err(AccountsError::InvalidToken)),
            Err(AccountsError::UserExists) => {
                (INVITE_USER_EXISTS, Err(AccountsError::InvalidToken))
            }
            Err(error) => return Err(error),
        };
        ending.tell(Some(&invite.id));
        accepted
    }

    async fn claim(
        &self,
        invite: &Invite,
        hash: &str,
        password_hash: &str,
        source: &Source,
    ) -> Result<SignedIn, AccountsError> {
        let now: Timestamp = self.now();
        self.change(async |tx| {
            if !invites::claim(tx, hash, now).await? {
                return Err(AccountsError::InvalidToken);
            }
            let email = invite.email.parse()?;
            let user = Identity { id: self.next_id(), email, role: invite.role };
            if !users::insert(tx, &user, password_hash, now).await? {
                return Err(AccountsError::UserExists);
            }
            let signed_in = self.open_session(tx, user, source).await?;
            let by = By::caller(signed_in.caller.clone(), source.clone());
            let target = ("invite", Some(invite.id));
            let detail = json!({"role": invite.role, "user_id": signed_in.caller.user.id});
            self.audit(tx, &by, "invite.accept", target, detail).await?;
            Ok(signed_in)
        })
        .await
    }
}

fn another_address() -> AccountsError {
    let reason = "that of a request of another e-mail address; invite the one who asked";
    AccountsError::InvalidText { field: "access_request_id", reason: reason.to_owned() }
}

fn ending(invite: Option<&Invite>) -> Ending {
    match invite.map(|invite| invite.status) {
        Some(InviteStatus::Accepted) => INVITE_USED,
        Some(InviteStatus::Expired) => INVITE_EXPIRED,
        Some(InviteStatus::Revoked) => INVITE_REVOKED,
        Some(InviteStatus::Pending) | None => INVITE_UNKNOWN,
    }
}
