//! Sessions: alive until they expire, are ended, or their user is disabled.

use std::time::Duration;

use mainstay_accounts::{
    AccountsError, Means, Role, SESSION_TIME, Scope, TokenAsk, UserChange, UserStatus, engine,
};
use mainstay_base::Clock as _;
use mainstay_testkit::each_database;
use tokio_util::sync::CancellationToken;

use crate::house::{ALL, House, PASSWORD, ROOT, id_of, source};
use crate::sign_in::attempt;

each_database! {
    async fn a_session_ends_by_itself_after_fourteen_days(database: &TestDatabase) {
        let house = House::new(database).await;
        let token = house.admin().await.token.reveal();
        assert_eq!(SESSION_TIME, Duration::from_secs(14 * 24 * 60 * 60));
        house.clock.advance(SESSION_TIME - Duration::from_millis(1));
        assert!(house.accounts.by_session(&token).await.unwrap().is_some());
        house.clock.advance(Duration::from_millis(1));
        assert!(house.accounts.by_session(&token).await.unwrap().is_none());
    }

    async fn what_is_no_token_is_nobodys(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let ask = TokenAsk { name: "script".to_owned(), scope: Scope::Read, lives: None };
        let (api, _) = house.accounts.create_token(&admin.caller, ask, source()).await.unwrap();
        let session = admin.token.reveal();
        for text in ["", "x", &"A".repeat(43), &"A".repeat(1_000_000), &api.reveal(), &api.reveal()[4..]] {
            assert!(house.accounts.by_session(text).await.unwrap().is_none());
        }
        for text in ["", "mst_", &session, &format!("mst_{session}"), &format!("mst_{}", "A".repeat(43))] {
            assert!(house.accounts.by_api_token(text).await.unwrap().is_none());
        }
    }

    async fn signing_out_ends_the_session_at_once(database: &TestDatabase) {
        let house = House::new(database).await;
        let token = house.admin().await.token.reveal();
        assert!(house.accounts.by_session(&token).await.unwrap().is_some());
        house.accounts.sign_out(&token, source()).await.unwrap();
        assert!(house.accounts.by_session(&token).await.unwrap().is_none());
        house.accounts.sign_out(&token, source()).await.unwrap();
        house.accounts.sign_out("nothing", source()).await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM sessions").await, 0);
    }

    async fn who_is_disabled_is_signed_out_at_the_next_request_and_stays_so(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        let ada = house.user(&admin.caller, "ada@example.com", Role::Editor).await;
        let token = ada.token.reveal();
        assert!(accounts.by_session(&token).await.unwrap().is_some());
        let set = async |status| {
            let change = UserChange { role: None, status: Some(status) };
            accounts.change_user(&admin.caller, id_of(&ada), change, source()).await.unwrap();
        };
        set(UserStatus::Disabled).await;
        assert!(accounts.by_session(&token).await.unwrap().is_none());
        set(UserStatus::Active).await;
        assert!(accounts.by_session(&token).await.unwrap().is_none(), "the old cookie stays dead");
    }

    async fn a_new_role_counts_at_the_next_request(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        let token = ada.token.reveal();
        assert_eq!(house.accounts.by_session(&token).await.unwrap().unwrap().user.role, Role::Viewer);
        let change = UserChange { role: Some(Role::Editor), status: None };
        house.accounts.change_user(&admin.caller, id_of(&ada), change, source()).await.unwrap();
        assert_eq!(house.accounts.by_session(&token).await.unwrap().unwrap().user.role, Role::Editor);
    }

    async fn own_sessions_are_listed_and_ended_and_those_of_others_are_not_there(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, admin) = (&house.accounts, house.admin().await);
        house.clock.advance(Duration::from_secs(5));
        let second = attempt(&house, ROOT, PASSWORD, "198.51.100.7").await.unwrap();
        let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        let sessions = accounts.sessions(id_of(&admin)).await.unwrap();
        assert_eq!(sessions.len(), 2);
        assert_eq!(sessions[0].address.as_deref(), Some("198.51.100.7"), "the last used first");
        assert_eq!(sessions[0].user_agent.as_deref(), Some("Test/1.0"));
        let Means::Session { id: of_ada, .. } = ada.caller.means else { panic!("by session") };
        let foreign = accounts.end_session(&admin.caller, of_ada, source()).await;
        assert!(matches!(foreign, Err(AccountsError::NotFound)), "{foreign:?}");
        assert!(accounts.by_session(&ada.token.reveal()).await.unwrap().is_some());
        accounts.end_session(&admin.caller, sessions[0].id, source()).await.unwrap();
        assert!(accounts.by_session(&second.token.reveal()).await.unwrap().is_none());
        attempt(&house, ROOT, PASSWORD, "198.51.100.7").await.unwrap();
        assert_eq!(accounts.end_other_sessions(&admin.caller, source()).await.unwrap(), 1);
        assert_eq!(accounts.sessions(id_of(&admin)).await.unwrap().len(), 1);
        assert!(accounts.by_session(&admin.token.reveal()).await.unwrap().is_some());
    }

    async fn the_last_use_is_written_once_a_minute_and_not_by_the_request(database: &TestDatabase) {
        let mut house = House::new(database).await;
        let admin = house.admin().await;
        let ask = TokenAsk { name: "script".to_owned(), scope: Scope::Read, lives: None };
        let (api, _) = house.accounts.create_token(&admin.caller, ask, source()).await.unwrap();
        let began = house.clock.now();
        let seen = async |house: &House| {
            let sessions = house.accounts.sessions(id_of(&admin)).await.unwrap();
            let tokens = house.accounts.tokens(id_of(&admin), ALL).await.unwrap();
            (sessions[0].last_seen_at, tokens.items[0].last_used_at)
        };
        house.clock.advance(Duration::from_secs(59));
        house.accounts.by_session(&admin.token.reveal()).await.unwrap();
        house.clock.advance(Duration::from_secs(1));
        let minute = house.clock.now();
        house.accounts.by_session(&admin.token.reveal()).await.unwrap();
        house.accounts.by_api_token(&api.reveal()).await.unwrap();
        assert_eq!(seen(&house).await, (began, None), "no request writes");
        let stop = CancellationToken::new();
        let queue = house.seen.take().unwrap();
        let engine = tokio::spawn(engine::run(house.accounts.clone(), queue, stop.clone()));
        while seen(&house).await != (minute, Some(minute)) {
            tokio::task::yield_now().await;
        }
        stop.cancel();
        engine.await.unwrap();
    }
}
