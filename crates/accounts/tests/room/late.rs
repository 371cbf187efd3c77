//! A caller was known when the request began, and is not any more when it acts.

use mainstay_accounts::{
    AccountsError, InviteAsk, Means, RequestStatus, Role, Scope, SignedIn, TokenAsk, UserChange,
    UserStatus,
};
use mainstay_testkit::each_database;

use crate::house::{House, PASSWORD, SITE, id_of, source};

/// Everything that a caller can change, and how it ended.
async fn everything(
    house: &House,
    late: &SignedIn,
    root: &SignedIn,
) -> Vec<(&'static str, AccountsError)> {
    let (accounts, caller) = (&house.accounts, &late.caller);
    let Means::Session { id: session, .. } = caller.means else { panic!("by session") };
    let role = UserChange { role: Some(Role::Admin), status: Some(UserStatus::Active) };
    let demote = UserChange { role: Some(Role::Viewer), status: None };
    let ask = TokenAsk { name: "late".to_owned(), scope: Scope::Write, lives: None };
    let email = "thief@example.com".parse().unwrap();
    let invite = InviteAsk { email, role: Role::Admin, access_request_id: None };
    let mut refused = Vec::new();
    let mut note = |what, result: Result<(), AccountsError>| match result {
        Err(error) => refused.push((what, error)),
        Ok(()) => panic!("{what} was done"),
    };
    note(
        "make oneself an admin",
        accounts.change_user(caller, id_of(late), role, source()).await.map(drop),
    );
    note(
        "demote another",
        accounts.change_user(caller, id_of(root), demote, source()).await.map(drop),
    );
    note("invite", accounts.invite(caller, invite, SITE, source()).await.map(drop));
    note("revoke an invite", accounts.revoke_invite(caller, session, source()).await);
    let handled = accounts.handle_request(caller, session, RequestStatus::New, source()).await;
    note("handle a request", handled.map(drop));
    note("make a token", accounts.create_token(caller, ask, source()).await.map(drop));
    note("revoke a token", accounts.revoke_token(caller, session, source()).await);
    note("end sessions", accounts.end_other_sessions(caller, source()).await.map(drop));
    note("end a session", accounts.end_session(caller, session, source()).await);
    let new = "another long password";
    note("change the password", accounts.change_password(caller, PASSWORD, new, source()).await);
    refused
}

each_database! {
    async fn whoever_was_disabled_meanwhile_changes_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        let mal = house.user(&root.caller, "mal@example.com", Role::Admin).await;
        let change = UserChange { role: None, status: Some(UserStatus::Disabled) };
        house.accounts.change_user(&root.caller, id_of(&mal), change, source()).await.unwrap();
        for (what, error) in everything(&house, &mal, &root).await {
            assert!(matches!(error, AccountsError::NotSignedIn), "{what}: {error:?}");
        }
    }

    async fn whoever_was_signed_out_meanwhile_changes_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        let mal = house.user(&root.caller, "mal@example.com", Role::Admin).await;
        house.accounts.sign_out(&mal.token.reveal(), source()).await.unwrap();
        for (what, error) in everything(&house, &mal, &root).await {
            assert!(matches!(error, AccountsError::NotSignedIn), "{what}: {error:?}");
        }
    }

    async fn whoever_was_demoted_meanwhile_is_no_admin(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        let mal = house.user(&root.caller, "mal@example.com", Role::Admin).await;
        let demote = UserChange { role: Some(Role::Editor), status: None };
        house.accounts.change_user(&root.caller, id_of(&mal), demote, source()).await.unwrap();
        let promote = UserChange { role: Some(Role::Admin), status: None };
        let again = house.accounts.change_user(&mal.caller, id_of(&mal), promote, source()).await;
        assert!(matches!(again, Err(AccountsError::NotAllowed)), "{again:?}");
        let email = "thief@example.com".parse().unwrap();
        let ask = InviteAsk { email, role: Role::Admin, access_request_id: None };
        let invited = house.accounts.invite(&mal.caller, ask, SITE, source()).await;
        assert!(matches!(invited, Err(AccountsError::NotAllowed)), "{invited:?}");
        let ask = TokenAsk { name: "own".to_owned(), scope: Scope::Read, lives: None };
        house.accounts.create_token(&mal.caller, ask, source()).await.unwrap();
    }
}
