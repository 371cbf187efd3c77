//! The own password and the own API tokens.

use std::time::Duration;

use mainstay_accounts::{
    ATTEMPTS_PER_ACCOUNT, AccountsError, MAX_TOKENS, Means, PageAsk, Role, Scope, TokenAsk,
    UserChange, UserStatus,
};
use mainstay_testkit::each_database;

use crate::house::{ALL, House, PASSWORD, ROOT, id_of, source};
use crate::sign_in::attempt;

const NEW: &str = "a brand new password";

fn ask(name: &str, scope: Scope, lives: Option<Duration>) -> TokenAsk {
    TokenAsk { name: name.to_owned(), scope, lives }
}

each_database! {
    async fn a_new_password_ends_the_other_sessions(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let other = attempt(&house, ROOT, PASSWORD, "203.0.113.9").await.unwrap();
        let wrong = accounts.change_password(&admin.caller, "not the right password", NEW, source()).await;
        assert!(matches!(wrong, Err(AccountsError::InvalidCredentials)), "{wrong:?}");
        let weak = accounts.change_password(&admin.caller, PASSWORD, "short", source()).await;
        assert!(matches!(weak, Err(AccountsError::WeakPassword(_))), "{weak:?}");
        accounts.change_password(&admin.caller, PASSWORD, NEW, source()).await.unwrap();
        assert!(accounts.by_session(&admin.token.reveal()).await.unwrap().is_some());
        assert!(accounts.by_session(&other.token.reveal()).await.unwrap().is_none());
        assert!(attempt(&house, ROOT, PASSWORD, "203.0.113.9").await.is_err());
        attempt(&house, ROOT, NEW, "203.0.113.9").await.unwrap();
    }

    async fn a_stolen_session_can_not_guess_the_password_for_long(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let mut refused = Ok(());
        for _ in 0..=ATTEMPTS_PER_ACCOUNT {
            refused = house.accounts.change_password(&admin.caller, "not the right password", NEW, source()).await;
        }
        assert!(matches!(refused, Err(AccountsError::TooManyAttempts { .. })), "{refused:?}");
    }

    async fn a_token_speaks_for_its_owner_until_it_ends(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let hour = Duration::from_secs(3600);
        let made = accounts.create_token(&admin.caller, ask(" deploy ", Scope::Write, Some(hour)), source());
        let (token, item) = made.await.unwrap();
        assert_eq!((item.name.as_str(), item.scope), ("deploy", Scope::Write));
        assert!(token.reveal().starts_with(&item.prefix) && item.prefix.len() == 8);
        let caller = accounts.by_api_token(&token.reveal()).await.unwrap().unwrap();
        assert_eq!(caller.user, admin.caller.user);
        assert_eq!(caller.means, Means::Token { id: item.id, scope: Scope::Write });
        let stored: String = house.row("SELECT token_hash FROM api_tokens", &[]).await.get("token_hash").unwrap();
        assert!(!token.reveal().contains(&stored));
        house.clock.advance(hour);
        assert!(accounts.by_api_token(&token.reveal()).await.unwrap().is_none());
    }

    async fn a_token_of_a_disabled_user_says_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ada = house.user(&admin.caller, "ada@example.com", Role::Editor).await;
        let made = accounts.create_token(&ada.caller, ask("script", Scope::Read, None), source());
        let token = made.await.unwrap().0.reveal();
        assert!(accounts.by_api_token(&token).await.unwrap().is_some());
        let change = UserChange { role: None, status: Some(UserStatus::Disabled) };
        accounts.change_user(&admin.caller, id_of(&ada), change, source()).await.unwrap();
        assert!(accounts.by_api_token(&token).await.unwrap().is_none());
        let change = UserChange { role: None, status: Some(UserStatus::Active) };
        accounts.change_user(&admin.caller, id_of(&ada), change, source()).await.unwrap();
        assert!(accounts.by_api_token(&token).await.unwrap().is_none(), "and stays dead");
    }

    async fn only_the_owner_sees_and_revokes_a_token(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        let (token, item) =
            accounts.create_token(&ada.caller, ask("script", Scope::Read, None), source()).await.unwrap();
        assert!(accounts.tokens(id_of(&admin), ALL).await.unwrap().items.is_empty());
        let foreign = accounts.revoke_token(&admin.caller, item.id, source()).await;
        assert!(matches!(foreign, Err(AccountsError::NotFound)), "{foreign:?}");
        accounts.revoke_token(&ada.caller, item.id, source()).await.unwrap();
        assert!(accounts.by_api_token(&token.reveal()).await.unwrap().is_none());
    }

    async fn tokens_are_bounded_named_and_listed_in_parts(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        for name in ["", " ", "a\nb", &"x".repeat(101)] {
            let refused = accounts.create_token(&admin.caller, ask(name, Scope::Read, None), source()).await;
            assert!(matches!(refused, Err(AccountsError::InvalidText { field: "name", .. })), "{name:?}");
        }
        for number in 0..MAX_TOKENS {
            let ask = ask(&format!("script {number}"), Scope::Read, None);
            accounts.create_token(&admin.caller, ask, source()).await.unwrap();
        }
        let missing = MAX_TOKENS - 45;
        let revoke = accounts.tokens(id_of(&admin), PageAsk { after: None, limit: 5 }).await.unwrap();
        for item in revoke.items {
            accounts.revoke_token(&admin.caller, item.id, source()).await.unwrap();
        }
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..12 {
            let (accounts, caller) = (accounts.clone(), admin.caller.clone());
            tasks.spawn(async move {
                accounts.create_token(&caller, ask(&format!("at once {number}"), Scope::Read, None), source()).await.is_ok()
            });
        }
        let mut made = 0;
        while let Some(one) = tasks.join_next().await {
            made += i64::from(one.unwrap());
        }
        assert_eq!(made, missing, "also when many ask at once");
        let full = accounts.create_token(&admin.caller, ask("one more", Scope::Read, None), source()).await;
        assert!(matches!(full, Err(AccountsError::TooManyTokens)));
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let part = accounts.tokens(id_of(&admin), PageAsk { after, limit: 20 }).await.unwrap();
            seen.extend(part.items.iter().map(|item| item.id));
            after = part.next;
            if after.is_none() { break }
        }
        let distinct: std::collections::HashSet<_> = seen.iter().collect();
        assert_eq!((seen.len(), distinct.len()), (50, 50));
    }
}
