//! Invites.

use std::time::Duration;

use mainstay_accounts::{
    AccountsError, INVITE_TIME, InviteAsk, InviteStatus, RequestStatus, Role, Scope, TokenAsk,
};
use mainstay_testkit::each_database;

use crate::access_requests::filled;
use crate::house::{ALL, House, PASSWORD, ROOT, SITE, from, source, token_of};

fn is_invalid<T>(result: &Result<T, AccountsError>) -> bool {
    matches!(result, Err(AccountsError::InvalidToken))
}

each_database! {
    async fn an_invite_makes_a_user_once(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ask = InviteAsk { email: "ada@example.com".parse().unwrap(), role: Role::Editor, access_request_id: None };
        let invited = accounts.invite(&admin.caller, ask, SITE, source()).await.unwrap();
        assert!(invited.link.starts_with("https://mainstay.example.com/invite#"), "{}", invited.link);
        assert!(invited.mailed);
        assert_eq!(house.post.sent(), [format!("invite ada@example.com editor {}", invited.link)]);
        let token = token_of(&invited.link);
        let look = accounts.look_at_invite(&token).await.unwrap();
        assert_eq!((look.email.as_str(), look.role, look.status), ("ada@example.com", Role::Editor, InviteStatus::Pending));
        let weak = accounts.accept_invite(&token, "short", source()).await;
        assert!(matches!(weak, Err(AccountsError::WeakPassword(_))), "and is not used up");
        let ada = accounts.accept_invite(&token, PASSWORD, source()).await.unwrap();
        assert_eq!(ada.caller.user.role, Role::Editor);
        assert!(accounts.by_session(&ada.token.reveal()).await.unwrap().is_some());
        assert!(is_invalid(&accounts.accept_invite(&token, PASSWORD, source()).await));
        assert!(is_invalid(&accounts.look_at_invite(&token).await));
        let listed = accounts.list_invites(ALL).await.unwrap().items;
        assert_eq!(listed[0].status, InviteStatus::Accepted);
        assert_eq!(listed[0].created_by, ROOT);
    }

    async fn every_bad_token_is_refused_alike(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let revoked = house.invite(&admin.caller, "bob@example.com", Role::Viewer).await;
        let listed = accounts.list_invites(ALL).await.unwrap().items;
        accounts.revoke_invite(&admin.caller, listed[0].id, source()).await.unwrap();
        let again = accounts.revoke_invite(&admin.caller, listed[0].id, source()).await;
        assert!(matches!(again, Err(AccountsError::InviteNotPending)), "{again:?}");
        let expired = house.invite(&admin.caller, "cat@example.com", Role::Viewer).await;
        house.clock.advance(INVITE_TIME);
        let ask = TokenAsk { name: "script".to_owned(), scope: Scope::Read, lives: None };
        let (api, _) = accounts.create_token(&admin.caller, ask, source()).await.unwrap();
        let session = admin.token.reveal();
        for token in [&revoked, &expired, &session, &api.reveal(), "", &"A".repeat(43), &"x".repeat(1_000_000)] {
            assert!(is_invalid(&accounts.look_at_invite(token).await));
            assert!(is_invalid(&accounts.accept_invite(token, PASSWORD, source()).await));
        }
    }

    async fn of_many_who_accept_at_once_one_gets_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let token = house.invite(&admin.caller, "ada@example.com", Role::Viewer).await;
        let tasks: Vec<_> = (0..5)
            .map(|_| {
                let (accounts, token) = (house.accounts.clone(), token.clone());
                tokio::spawn(async move { accounts.accept_invite(&token, PASSWORD, source()).await })
            })
            .collect();
        let mut accepted = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(_) => accepted += 1,
                refused => assert!(is_invalid(&refused), "{refused:?}"),
            }
        }
        assert_eq!(accepted, 1);
        assert_eq!(house.count("SELECT count(*) AS n FROM users").await, 2);
    }

    async fn who_has_an_account_is_not_invited_and_a_new_invite_replaces_the_old(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ask = |email: &str| InviteAsk { email: email.parse().unwrap(), role: Role::Viewer, access_request_id: None };
        let exists = accounts.invite(&admin.caller, ask("ROOT@example.com"), SITE, source()).await;
        assert!(matches!(exists, Err(AccountsError::UserExists)), "{exists:?}");
        let old = house.invite(&admin.caller, "ada@example.com", Role::Viewer).await;
        let new = house.invite(&admin.caller, "ada@example.com", Role::Editor).await;
        assert!(is_invalid(&accounts.look_at_invite(&old).await));
        assert_eq!(accounts.look_at_invite(&new).await.unwrap().role, Role::Editor);
    }

    async fn of_many_invites_of_one_address_at_once_the_last_stays(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..12 {
            let (accounts, caller) = (house.accounts.clone(), admin.caller.clone());
            tasks.spawn(async move {
                let ask = InviteAsk { email: "ada@example.com".parse().unwrap(), role: Role::Viewer, access_request_id: None };
                accounts.invite(&caller, ask, SITE, source()).await.unwrap();
            });
        }
        while let Some(one) = tasks.join_next().await {
            one.unwrap();
        }
        let pending = "SELECT count(*) AS n FROM invites WHERE revoked_at IS NULL";
        assert_eq!(house.count(pending).await, 1);
    }

    async fn an_account_made_meanwhile_makes_the_invite_worthless(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let token = house.invite(&admin.caller, "ada@example.com", Role::Viewer).await;
        accounts.create_admin("ada@example.com".parse().unwrap(), PASSWORD).await.unwrap();
        assert!(is_invalid(&accounts.accept_invite(&token, "another long password", source()).await));
    }

    async fn an_invite_that_answers_a_request_approves_it(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let form = filled(&house, "ada@example.com");
        house.clock.advance(Duration::from_secs(5));
        accounts.request_access(form, from("198.51.100.1")).await.unwrap();
        let request = accounts.access_requests(None, ALL).await.unwrap().items.remove(0);
        let ask = |id| InviteAsk { email: "ada@example.com".parse().unwrap(), role: Role::Viewer, access_request_id: Some(id) };
        let unknown = accounts.invite(&admin.caller, ask(admin.caller.user.id), SITE, source()).await;
        assert!(matches!(unknown, Err(AccountsError::NotFound)), "{unknown:?}");
        let other = InviteAsk { email: "eve@example.com".parse().unwrap(), ..ask(request.id) };
        let other = accounts.invite(&admin.caller, other, SITE, source()).await;
        assert!(matches!(other, Err(AccountsError::InvalidText { field: "access_request_id", .. })), "{other:?}");
        accounts.invite(&admin.caller, ask(request.id), SITE, source()).await.unwrap();
        let request = accounts.access_requests(None, ALL).await.unwrap().items.remove(0);
        assert_eq!(request.status, RequestStatus::Approved);
        assert_eq!(request.handled_by.as_deref(), Some(ROOT));
        assert!(request.handled_at.is_some());
    }

    async fn an_invite_whose_mail_cant_be_queued_is_not_made(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        house.post.fail();
        let email = "ada@example.com".parse().unwrap();
        let ask = InviteAsk { email, role: Role::Viewer, access_request_id: None };
        let failed = accounts.invite(&admin.caller, ask, SITE, source()).await;
        assert!(matches!(failed, Err(AccountsError::Store(_))), "{failed:?}");
        assert!(accounts.list_invites(ALL).await.unwrap().items.is_empty());
        assert!(house.post.sent().is_empty());
    }

    async fn an_invite_that_is_refused_is_not_mailed(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ask = InviteAsk { email: ROOT.parse().unwrap(), role: Role::Viewer, access_request_id: None };
        accounts.invite(&admin.caller, ask, SITE, source()).await.unwrap_err();
        assert!(house.post.sent().is_empty());
    }
}
