//! What admins do with users, and the audit log.

use mainstay_base::Id;
use serde_json::{Value, json};

use crate::accounts::Accounts;
use crate::decide::loses_admin;
use crate::error::AccountsError;
use crate::model::{By, Caller, PageAsk, Part, Role, Source, UserStatus};
use crate::record::audit::{self, AuditEntry, AuditFilter};
use crate::record::users::{self, User};
use crate::record::{invites, sessions, tokens};

/// What is to be changed about a user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserChange {
    /// The new role.
    pub role: Option<Role>,
    /// The new status.
    pub status: Option<UserStatus>,
}

impl Accounts {
    /// The users, oldest first.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn users(&self, ask: PageAsk) -> Result<Part<User>, AccountsError> {
        users::list(self.db(), ask).await
    }

    /// Changes a user's role or status. Whoever is disabled is signed out everywhere and loses the API
    /// tokens: enabling the user again brings neither back. Pending invites go with the
    /// right to make them.
    ///
    /// # Errors
    /// [`AccountsError::NotFound`], [`AccountsError::LastAdmin`], or the database's.
    pub async fn change_user(
        &self,
        admin: &Caller,
        id: Id,
        change: UserChange,
        source: Source,
    ) -> Result<User, AccountsError> {
        self.change_as(admin, Role::Admin, async |tx| {
            let mut user = users::find(tx, id).await?.ok_or(AccountsError::NotFound)?.user;
            let before = (user.role, user.status);
            let after = (change.role.unwrap_or(before.0), change.status.unwrap_or(before.1));
            if before == after {
                return Ok(user);
            }
            if loses_admin(before, after) && !users::has_other_admin(tx, id).await? {
                return Err(AccountsError::LastAdmin);
            }
            users::change(tx, id, after.0, after.1).await?;
            if loses_admin(before, after) {
                invites::revoke_of_admin(tx, id, self.now()).await?;
            }
            if after.1 == UserStatus::Disabled {
                sessions::end_all_of(tx, id).await?;
                tokens::revoke_all_of(tx, id).await?;
            }
            let by = By::caller(admin.clone(), source);
            self.audit(tx, &by, "user.change", ("user", Some(id)), changed(before, after)).await?;
            (user.role, user.status) = after;
            Ok(user)
        })
        .await
    }

    /// The audit log, newest first.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn audit_log(
        &self,
        filter: &AuditFilter,
        ask: PageAsk,
    ) -> Result<Part<AuditEntry>, AccountsError> {
        audit::list(self.db(), filter, ask).await
    }
}

fn changed(before: (Role, UserStatus), after: (Role, UserStatus)) -> Value {
    let mut detail = json!({});
    if before.0 != after.0
        && let Some(detail) = detail.as_object_mut()
    {
        detail.insert("role".to_owned(), json!({"from": before.0, "to": after.0}));
    }
    if before.1 != after.1
        && let Some(detail) = detail.as_object_mut()
    {
        detail.insert("status".to_owned(), json!({"from": before.1, "to": after.1}));
    }
    detail
}
