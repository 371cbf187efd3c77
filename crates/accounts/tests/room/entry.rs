//! The link that signs in once.

use std::time::Duration;

use mainstay_accounts::{
    AccountsError, Entering, Role, SETUP_TIME, SignedIn, UserChange, UserStatus,
};
use mainstay_store::{Sql, StoreError};
use mainstay_testkit::{drop_at_await, each_database};
use tokio::sync::oneshot;

use crate::house::{House, ROOT, id_of, source};

const UNDONE_WITHIN: Duration = Duration::from_secs(10);

async fn link(house: &House, email: &str) -> String {
    house.accounts.entry_token(&email.parse().unwrap()).await.unwrap().reveal()
}

async fn enter(
    house: &House,
    token: &str,
    replaces: Option<&str>,
) -> Result<SignedIn, AccountsError> {
    house.accounts.enter(Entering { token, replaces, source: source() }).await
}

each_database! {
    async fn it_signs_in_once_and_ends_the_session_before(database: &TestDatabase) {
        let house = House::new(database).await;
        let before = house.admin().await.token.reveal();
        let token = link(&house, ROOT).await;
        let entered = enter(&house, &token, Some(&before)).await.unwrap();
        assert!(house.accounts.by_session(&before).await.unwrap().is_none());
        let session = entered.token.reveal();
        assert!(house.accounts.by_session(&session).await.unwrap().is_some());
        let again = enter(&house, &token, Some(&session)).await;
        assert!(matches!(again, Err(AccountsError::InvalidToken)), "{again:?}");
        assert!(house.accounts.by_session(&session).await.unwrap().is_some(), "a refusal ends nothing");
    }

    async fn without_a_session_it_is_not_used_up(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        let mal = house.user(&root.caller, "mal@example.com", Role::Admin).await;
        let before = mal.token.reveal();
        let token = link(&house, "mal@example.com").await;
        let set = async |status| {
            let change = UserChange { role: None, status: Some(status) };
            house.accounts.change_user(&root.caller, id_of(&mal), change, source()).await.unwrap();
        };
        set(UserStatus::Disabled).await;
        let refused = enter(&house, &token, None).await;
        assert!(matches!(refused, Err(AccountsError::UserDisabled)), "{refused:?}");
        set(UserStatus::Active).await;
        // The last statement of the transaction fails.
        let rename = async |sql| house.db.write(async |tx| tx.execute(&Sql::same("test.rename", sql), &[]).await).await;
        rename("ALTER TABLE audit_log RENAME TO no_audit_log").await.unwrap();
        let failed = enter(&house, &token, Some(&before)).await;
        assert!(matches!(failed, Err(AccountsError::Store(_))), "{failed:?}");
        rename("ALTER TABLE no_audit_log RENAME TO audit_log").await.unwrap();
        let entered = enter(&house, &token, None).await.unwrap();
        assert_eq!(id_of(&entered), id_of(&mal));
    }

    async fn of_many_who_use_it_at_once_one_is_signed_in(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        let token = link(&house, ROOT).await;
        let mut entering = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let (accounts, token) = (house.accounts.clone(), token.clone());
            entering.spawn(async move {
                let one = Entering { token: &token, replaces: None, source: source() };
                accounts.enter(one).await.is_ok()
            });
        }
        let entered = entering.join_all().await;
        assert_eq!(entered.iter().filter(|is_in| **is_in).count(), 1, "{entered:?}");
    }

    async fn who_leaves_half_way_leaves_it_as_it_was(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        let token = link(&house, ROOT).await;
        // While somebody holds the user, nobody gets as far as the commit.
        let (held, is_held) = oneshot::channel();
        let (release, released) = oneshot::channel::<()>();
        let db = house.db.clone();
        let holding = tokio::spawn(async move {
            db.write(async |tx| {
                tx.execute(&Sql::same("test.hold", "UPDATE users SET role = role"), &[]).await?;
                held.send(()).unwrap();
                released.await.unwrap();
                Ok::<_, StoreError>(())
            })
            .await
        });
        is_held.await.unwrap();
        assert!(drop_at_await(0, enter(&house, &token, None)).await.is_none());
        release.send(()).unwrap();
        holding.await.unwrap().unwrap();
        // What was begun is undone by a task of its own, and the link is taken until then.
        let again = async {
            while enter(&house, &token, None).await.is_err() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(UNDONE_WITHIN, again).await.expect("the link stays taken");
    }

    async fn a_newer_one_counts_and_an_old_one_does_not(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        let first = link(&house, ROOT).await;
        let second = link(&house, ROOT).await;
        let refused = enter(&house, &first, None).await;
        assert!(matches!(refused, Err(AccountsError::InvalidToken)), "{refused:?}");
        house.clock.advance(SETUP_TIME);
        let late = enter(&house, &second, None).await;
        assert!(matches!(late, Err(AccountsError::InvalidToken)), "{late:?}");
    }
}
