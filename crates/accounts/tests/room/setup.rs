//! The first account, the admin from the command line, and the pepper.

use std::time::Duration;

use mainstay_accounts::{
    AccountsError, AdminMade, PepperCheck, Role, SETUP_TIME, UserChange, UserStatus,
};
use mainstay_testkit::each_database;

use crate::house::{ALL, House, PASSWORD, ROOT, id_of, source, token_of};

each_database! {
    async fn the_link_makes_one_admin_and_then_no_more(database: &TestDatabase) {
        let house = House::new(database).await;
        let accounts = &house.accounts;
        assert!(accounts.needs_setup().await.unwrap());
        // Two instances, or two starts: each link works, until one was used.
        let first = accounts.setup_token().await.unwrap().unwrap().reveal();
        let second = accounts.setup_token().await.unwrap().unwrap().reveal();
        let made = accounts.set_up(&second, " Root@Example.COM ", PASSWORD, source()).await.unwrap();
        assert_eq!(made.caller.user.email.as_str(), ROOT);
        assert_eq!(made.caller.user.role, Role::Admin);
        let caller = accounts.by_session(&made.token.reveal()).await.unwrap().unwrap();
        assert_eq!(caller, made.caller, "and is signed in");
        assert!(!accounts.needs_setup().await.unwrap());
        assert!(accounts.setup_token().await.unwrap().is_none());
        for token in [&first, &second] {
            let again = accounts.set_up(token, "eve@example.com", PASSWORD, source()).await;
            assert!(matches!(again, Err(AccountsError::SetupDone)), "{again:?}");
        }
        assert_eq!(accounts.users(ALL).await.unwrap().items.len(), 1);
        assert_eq!(house.actions().await, ["user.set_up"]);
    }

    async fn a_made_up_or_old_link_makes_nobody(database: &TestDatabase) {
        let house = House::new(database).await;
        let accounts = &house.accounts;
        let token = accounts.setup_token().await.unwrap().unwrap().reveal();
        for bad in ["", "x", &"A".repeat(43), &"A".repeat(100_000), &format!("{token}A")] {
            let refused = accounts.set_up(bad, ROOT, PASSWORD, source()).await;
            assert!(matches!(refused, Err(AccountsError::InvalidToken)), "{refused:?}");
        }
        let weak = accounts.set_up(&token, ROOT, "short", source()).await;
        assert!(matches!(weak, Err(AccountsError::WeakPassword(_))), "{weak:?}");
        let wrong = accounts.set_up(&token, "root", PASSWORD, source()).await;
        assert!(matches!(wrong, Err(AccountsError::InvalidEmail(_))), "{wrong:?}");
        house.clock.advance(SETUP_TIME);
        let late = accounts.set_up(&token, ROOT, PASSWORD, source()).await;
        assert!(matches!(late, Err(AccountsError::InvalidToken)), "{late:?}");
        assert!(accounts.needs_setup().await.unwrap());
    }

    async fn of_many_who_use_the_link_at_once_one_becomes_admin(database: &TestDatabase) {
        let house = House::new(database).await;
        let token = house.accounts.setup_token().await.unwrap().unwrap().reveal();
        let tasks: Vec<_> = (0..6)
            .map(|number| {
                let (accounts, token) = (house.accounts.clone(), token.clone());
                tokio::spawn(async move {
                    let email = format!("root{number}@example.com");
                    accounts.set_up(&token, &email, PASSWORD, source()).await.is_ok()
                })
            })
            .collect();
        let mut made = 0;
        for task in tasks {
            made += usize::from(task.await.unwrap());
        }
        assert_eq!(made, 1);
        assert_eq!(house.accounts.users(ALL).await.unwrap().items.len(), 1);
    }

    async fn the_command_line_makes_an_admin_once(database: &TestDatabase) {
        let house = House::new(database).await;
        let accounts = &house.accounts;
        let link = accounts.setup_token().await.unwrap().unwrap().reveal();
        let create = async |email: &str, password: &str| {
            accounts.create_admin(email.parse().unwrap(), password).await
        };
        assert!(matches!(create(ROOT, "short").await, Err(AccountsError::WeakPassword(_))));
        assert_eq!(create(ROOT, PASSWORD).await.unwrap(), AdminMade::Created);
        assert_eq!(create(ROOT, "another long password").await.unwrap(), AdminMade::WasThere);
        let signed_in = sign_in(&house, ROOT, PASSWORD).await.unwrap();
        assert_eq!(signed_in.caller.user.role, Role::Admin, "the password stays");
        let used = accounts.set_up(&link, "eve@example.com", PASSWORD, source()).await;
        assert!(matches!(used, Err(AccountsError::SetupDone)), "the link has gone: {used:?}");
        house.user(&signed_in.caller, "ada@example.com", Role::Viewer).await;
        assert_eq!(create("ada@example.com", PASSWORD).await.unwrap(), AdminMade::IsNoAdmin);
        assert_eq!(create("bob@example.com", PASSWORD).await.unwrap(), AdminMade::Created);
    }

    async fn a_lost_admin_is_brought_back(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        let disabled = Some(UserStatus::Disabled);
        let change = UserChange { role: None, status: disabled };
        accounts.change_user(&admin.caller, id_of(&ada), change, source()).await.unwrap();
        for _ in 0..12 {
            let _ = sign_in(&house, "ada@example.com", "a wrong password").await;
        }
        let recover = async |email: &str, password: &str| {
            accounts.recover_admin(email.parse().unwrap(), password).await
        };
        let nobody = recover("nobody@example.com", PASSWORD).await;
        assert!(matches!(nobody, Err(AccountsError::NotFound)), "{nobody:?}");
        accounts.change_user(&admin.caller, id_of(&ada), UserChange { role: Some(Role::Admin), status: Some(UserStatus::Active) }, source()).await.unwrap();
        house.clock.advance(mainstay_accounts::ATTEMPT_SPAN);
        let again = sign_in(&house, "ada@example.com", PASSWORD).await.unwrap();
        let ask = mainstay_accounts::TokenAsk { name: "of a thief".to_owned(), scope: mainstay_accounts::Scope::Write, lives: None };
        let (token, _) = accounts.create_token(&again.caller, ask, source()).await.unwrap();
        let invite = house.invite(&again.caller, "thief@example.com", Role::Admin).await;
        let full = mainstay_accounts::ATTEMPTS_PER_ADDRESS;
        let closed = mainstay_store::Sql::same("test.closed", "UPDATE rate_limit_buckets SET count = $1 WHERE scope = 'login_address'");
        let _ = sign_in(&house, "nobody@example.com", PASSWORD).await;
        house.db.write(async |tx| tx.execute(&closed, mainstay_store::values![full]).await).await.unwrap();
        recover("ada@example.com", "a brand new password").await.unwrap();
        assert!(accounts.by_api_token(&token.reveal()).await.unwrap().is_none());
        assert!(accounts.look_at_invite(&invite).await.is_err());
        assert!(accounts.by_session(&again.token.reveal()).await.unwrap().is_none());
        let back = sign_in(&house, "ada@example.com", "a brand new password").await.unwrap();
        assert_eq!(back.caller.user.role, Role::Admin);
        let old = sign_in(&house, "ada@example.com", PASSWORD).await;
        assert!(matches!(old, Err(AccountsError::InvalidCredentials)), "{old:?}");
    }

    async fn another_pepper_is_noticed_and_going_over_to_it_ends_everything(database: &TestDatabase) {
        let old = House::new(database).await;
        assert_eq!(old.accounts.check_pepper().await.unwrap(), PepperCheck::Same);
        assert_eq!(old.accounts.check_pepper().await.unwrap(), PepperCheck::Same);
        let admin = old.admin().await;
        let pending = old.invite(&admin.caller, "ada@example.com", Role::Viewer).await;
        let new = House::with_pepper(database, "another pepper that is long enough").await;
        assert_eq!(new.accounts.check_pepper().await.unwrap(), PepperCheck::Other);
        new.accounts.rotate_pepper().await.unwrap();
        assert_eq!(new.accounts.check_pepper().await.unwrap(), PepperCheck::Same);
        assert_eq!(old.accounts.check_pepper().await.unwrap(), PepperCheck::Other);
        old.clock.advance(Duration::from_secs(2));
        assert!(old.accounts.by_session(&admin.token.reveal()).await.unwrap().is_none());
        assert!(old.accounts.look_at_invite(&pending).await.is_err());
        sign_in(&new, ROOT, PASSWORD).await.unwrap();
        assert_eq!(new.count("SELECT count(*) AS n FROM users").await, 1, "users stay");
    }

    async fn no_secret_is_in_the_database(database: &TestDatabase) {
        let house = House::new(database).await;
        let link = house.accounts.setup_token().await.unwrap().unwrap().reveal();
        let setup: String = house.row("SELECT token_hash FROM setup_links", &[]).await.get("token_hash").unwrap();
        assert!(setup != link && setup.len() == 43);
        let admin = house.admin().await;
        let session: String = house.row("SELECT token_hash FROM sessions", &[]).await.get("token_hash").unwrap();
        assert!(session != admin.token.reveal() && session.len() == 43);
        let invite = house.invite(&admin.caller, "ada@example.com", Role::Viewer).await;
        let kept: String = house.row("SELECT token_hash FROM invites", &[]).await.get("token_hash").unwrap();
        assert!(kept != invite && kept.len() == 43);
        let password: String = house.row("SELECT password_hash FROM users", &[]).await.get("password_hash").unwrap();
        assert!(password.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        let mailed = house.post.sent();
        assert!(mailed.iter().any(|mail| token_of(mail) == invite), "only the mail has it");
    }
}

async fn sign_in(
    house: &House,
    email: &str,
    password: &str,
) -> Result<mainstay_accounts::SignedIn, AccountsError> {
    let attempt = mainstay_accounts::Attempt { email, password, replaces: None, source: source() };
    house.accounts.sign_in(attempt).await
}
