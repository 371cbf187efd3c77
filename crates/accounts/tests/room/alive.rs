//! Which sessions and tokens are alive, for whoever serves them for long, and the word that something
//! changed.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mainstay_accounts::{
    Attempt, Caller, Means, Role, SESSION_TIME, Scope, SignedIn, TokenAsk, UserChange, UserStatus,
};
use mainstay_base::{Id, Timestamp};
use mainstay_store::{Sql, StoreError, values};
use mainstay_testkit::each_database;

use crate::house::{House, PASSWORD, ROOT, id_of, source};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn id(means: &Means) -> Id {
    match means {
        Means::Session { id, .. } | Means::Token { id, .. } => *id,
    }
}

async fn sign_in(house: &House) -> SignedIn {
    let attempt = Attempt { email: ROOT, password: PASSWORD, replaces: None, source: source() };
    house.accounts.sign_in(attempt).await.unwrap()
}

async fn token(house: &House, caller: &Caller, lives: Option<Duration>) -> Means {
    let ask = TokenAsk { name: "script".to_owned(), scope: Scope::Read, lives };
    let (_, made) = house.accounts.create_token(caller, ask, source()).await.unwrap();
    Means::Token { id: made.id, scope: Scope::Read }
}

/// The places of those that are alive.
async fn alive(house: &House, means: &[Means]) -> Vec<usize> {
    let alive = house.accounts.alive(means).await.unwrap();
    let places = (0..means.len()).filter(|&at| alive.contains(&id(&means[at]))).collect::<Vec<_>>();
    assert_eq!(places.len(), alive.len(), "nothing beside what was asked for");
    places
}

each_database! {
    async fn what_was_ended_revoked_or_expired_is_not_alive(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, root) = (&house.accounts, house.admin().await);
        let ended = sign_in(&house).await;
        let means = [
            root.caller.means.clone(), ended.caller.means.clone(),
            token(&house, &root.caller, None).await, token(&house, &root.caller, Some(DAY)).await,
            token(&house, &root.caller, None).await,
        ];
        assert_eq!(alive(&house, &means).await, [0, 1, 2, 3, 4]);
        accounts.sign_out(&ended.token.reveal(), source()).await.unwrap();
        accounts.revoke_token(&root.caller, id(&means[4]), source()).await.unwrap();
        assert_eq!(alive(&house, &means).await, [0, 2, 3]);
        house.clock.advance(DAY);
        assert_eq!(alive(&house, &means).await, [0, 2]);
        house.clock.advance(SESSION_TIME);
        assert_eq!(alive(&house, &means).await, [2]);
    }

    async fn whose_user_may_not_sign_in_is_not_alive(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        let ada = house.user(&root.caller, "ada@example.com", Role::Editor).await;
        let means = [root.caller.means.clone(), ada.caller.means.clone(), token(&house, &ada.caller, None).await];
        // Straight into the table: the way of the room would end the sessions as well.
        let disable = Sql::same("test.disable", "UPDATE users SET status = 'disabled' WHERE id = $1");
        let ada = id_of(&ada);
        house.db.write(async |tx| tx.execute(&disable, values![ada]).await).await.unwrap();
        assert_eq!(alive(&house, &means).await, [0]);
    }

    async fn a_session_is_no_token_and_what_is_unknown_is_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        let session = id(&root.caller.means);
        let token = id(&token(&house, &root.caller, None).await);
        let expires_at = Timestamp::from_millis(i64::MAX);
        let wrong = [
            Means::Token { id: session, scope: Scope::Read }, Means::Session { id: token, expires_at },
            Means::Session { id: id_of(&root), expires_at },
        ];
        assert_eq!(house.accounts.alive(&wrong).await.unwrap(), HashSet::new());
        assert_eq!(house.accounts.alive(&[]).await.unwrap(), HashSet::new());
    }

    async fn thousands_are_asked_for_at_once(database: &TestDatabase) {
        let house = House::new(database).await;
        let user = id_of(&house.admin().await);
        let many = Sql::pair(
            "test.many_sessions",
            "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 3099)
             INSERT INTO sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
             SELECT '019a8b3c-0000-7000-8000-00000000' || i, 'h' || i, $1, 0, 0, $2 FROM n",
            "INSERT INTO sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
             SELECT '019a8b3c-0000-7000-8000-00000000' || i, 'h' || i, $1, 0, 0, $2
             FROM generate_series(1000, 3099) AS i",
        );
        house.db.write(async |tx| { tx.execute(&many, values![user, i64::MAX]).await?; Ok::<_, StoreError>(()) }).await.unwrap();
        let expires_at = Timestamp::from_millis(i64::MAX);
        let means: Vec<_> = (1000..4000)
            .map(|number| format!("019a8b3c-0000-7000-8000-00000000{number}").parse().unwrap())
            .map(|id| Means::Session { id, expires_at })
            .collect();
        assert_eq!(alive(&house, &means).await, (0..2100).collect::<Vec<_>>());
    }

    async fn whatever_ends_a_session_or_token_is_told_once_it_is_committed(database: &TestDatabase) {
        let house = House::new(database).await;
        let (accounts, root) = (&house.accounts, house.admin().await);
        let told = || house.changes.swap(0, Ordering::Relaxed);
        let ada = house.user(&root.caller, "ada@example.com", Role::Viewer).await;
        let others = [sign_in(&house).await, sign_in(&house).await];
        let script = id(&token(&house, &root.caller, None).await);
        told();
        let new = "another long password";
        accounts.sign_out(&others[0].token.reveal(), source()).await.unwrap();
        assert_eq!(told(), 1, "signed out");
        accounts.end_session(&root.caller, id(&others[1].caller.means), source()).await.unwrap();
        assert_eq!(told(), 1, "one ended");
        accounts.end_other_sessions(&root.caller, source()).await.unwrap();
        assert_eq!(told(), 1, "the others ended");
        accounts.change_password(&root.caller, PASSWORD, new, source()).await.unwrap();
        assert_eq!(told(), 1, "password changed");
        accounts.revoke_token(&root.caller, script, source()).await.unwrap();
        assert_eq!(told(), 1, "token revoked");
        let disable = UserChange { role: None, status: Some(UserStatus::Disabled) };
        accounts.change_user(&root.caller, id_of(&ada), disable, source()).await.unwrap();
        assert_eq!(told(), 1, "disabled");
        let last = accounts.change_user(&root.caller, id_of(&root), disable, source()).await;
        assert!(last.is_err() && told() == 0, "nothing was committed");
        accounts.recover_admin(ROOT.parse().unwrap(), PASSWORD).await.unwrap();
        assert_eq!(told(), 1, "recovered");
        accounts.rotate_pepper().await.unwrap();
        assert_eq!(told(), 1, "all ended");
    }

    async fn who_signs_in_in_place_of_another_session_ends_that(database: &TestDatabase) {
        let house = House::new(database).await;
        let root = house.admin().await;
        house.changes.store(0, Ordering::Relaxed);
        let old = root.token.reveal();
        let attempt = Attempt { email: ROOT, password: PASSWORD, replaces: Some(&old), source: source() };
        house.accounts.sign_in(attempt).await.unwrap();
        assert_eq!(house.changes.load(Ordering::Relaxed), 1);
        assert_eq!(alive(&house, &[root.caller.means]).await, [0_usize; 0]);
    }
}
