//! Signing in, and what slows down those who guess.

use std::time::Duration;

use mainstay_accounts::{
    ATTEMPT_SPAN, ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS, AccountsError, Attempt, MAX_SESSIONS,
    Role, SignedIn, UserChange, UserStatus,
};
use mainstay_testkit::each_database;

use crate::house::{House, PASSWORD, ROOT, from, id_of, source};

pub(crate) async fn attempt(
    house: &House,
    email: &str,
    password: &str,
    address: &str,
) -> Result<SignedIn, AccountsError> {
    let source = from(address);
    house.accounts.sign_in(Attempt { email, password, replaces: None, source }).await
}

each_database! {
    async fn the_right_password_signs_in_and_a_wrong_one_does_not(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        let signed_in = attempt(&house, " ROOT@example.com", PASSWORD, "203.0.113.9").await.unwrap();
        let caller = house.accounts.by_session(&signed_in.token.reveal()).await.unwrap().unwrap();
        assert_eq!(caller.user.email.as_str(), ROOT);
        for (email, password) in [
            (ROOT, "not the right password"),
            (ROOT, ""),
            ("nobody@example.com", PASSWORD),
            ("", PASSWORD),
            ("\u{440}oot@example.com", PASSWORD),
            ("root@example.com\0", PASSWORD),
        ] {
            let refused = attempt(&house, email, password, "203.0.113.9").await;
            assert!(matches!(refused, Err(AccountsError::InvalidCredentials)), "{email} {refused:?}");
        }
        let huge = attempt(&house, ROOT, &"x".repeat(1_000_000), "203.0.113.9").await;
        assert!(matches!(huge, Err(AccountsError::InvalidCredentials)), "{huge:?}");
    }

    async fn that_an_account_is_disabled_is_told_only_to_its_owner(database: &TestDatabase) {
        let house = House::new(database).await;
        let admin = house.admin().await;
        let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
        let change = UserChange { role: None, status: Some(UserStatus::Disabled) };
        house.accounts.change_user(&admin.caller, id_of(&ada), change, source()).await.unwrap();
        let guess = attempt(&house, "ada@example.com", "not the right password", "203.0.113.9").await;
        assert!(matches!(guess, Err(AccountsError::InvalidCredentials)), "{guess:?}");
        let owner = attempt(&house, "ada@example.com", PASSWORD, "203.0.113.9").await;
        assert!(matches!(owner, Err(AccountsError::UserDisabled)), "{owner:?}");
    }

    async fn an_account_that_is_guessed_at_is_closed_for_a_while(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        for number in 0..ATTEMPTS_PER_ACCOUNT {
            let address = format!("198.51.100.{number}");
            let refused = attempt(&house, ROOT, "not the right password", &address).await;
            assert!(matches!(refused, Err(AccountsError::InvalidCredentials)), "{refused:?}");
        }
        let Err(AccountsError::TooManyAttempts { retry_after }) =
            attempt(&house, ROOT, PASSWORD, "203.0.113.9").await
        else {
            panic!("even with the right password, from anywhere");
        };
        assert!(retry_after > Duration::ZERO && retry_after <= ATTEMPT_SPAN, "{retry_after:?}");
        let other = attempt(&house, "bob@example.com", PASSWORD, "203.0.113.9").await;
        assert!(matches!(other, Err(AccountsError::InvalidCredentials)), "others are not slowed");
        house.clock.advance(retry_after);
        attempt(&house, ROOT, PASSWORD, "203.0.113.9").await.unwrap();
    }

    async fn an_address_that_guesses_at_many_accounts_is_closed_too(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        // Counting is what is tried here, not a hundred hashings: the first ninety-nine are written.
        attempt(&house, "someone@example.com", PASSWORD, "2001:db8:1:2::1").await.unwrap_err();
        let raise = mainstay_store::Sql::same(
            "test.raise",
            "UPDATE rate_limit_buckets SET count = $1 WHERE scope = 'login_address'",
        );
        let nearly = ATTEMPTS_PER_ADDRESS - 1;
        house.db.write(async |tx| tx.execute(&raise, mainstay_store::values![nearly]).await).await.unwrap();
        // Another address of the same client's network.
        let last = attempt(&house, "other@example.com", PASSWORD, "2001:db8:1:2:ffff::2").await;
        assert!(matches!(last, Err(AccountsError::InvalidCredentials)), "{last:?}");
        let closed = attempt(&house, ROOT, PASSWORD, "2001:db8:1:2::3").await;
        assert!(matches!(closed, Err(AccountsError::TooManyAttempts { .. })), "{closed:?}");
        attempt(&house, ROOT, PASSWORD, "2001:db8:1:3::3").await.unwrap();
    }

    async fn those_who_know_their_password_are_never_slowed(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        for _ in 0..ATTEMPTS_PER_ACCOUNT + 2 {
            attempt(&house, ROOT, PASSWORD, "203.0.113.9").await.unwrap();
        }
    }

    async fn many_right_passwords_at_once_close_nothing(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..30 {
            let accounts = house.accounts.clone();
            tasks.spawn(async move {
                let attempt = Attempt { email: ROOT, password: PASSWORD, replaces: None, source: source() };
                accounts.sign_in(attempt).await.is_ok()
            });
        }
        let mut signed_in = 0;
        while let Some(one) = tasks.join_next().await {
            signed_in += i64::from(one.unwrap());
        }
        assert!(signed_in >= ATTEMPTS_PER_ACCOUNT, "{signed_in}");
        assert_eq!(house.count("SELECT count(*) AS n FROM rate_limit_buckets WHERE count > 0").await, 0);
        attempt(&house, ROOT, PASSWORD, "203.0.113.9").await.unwrap();
    }

    async fn many_guesses_at_once_try_no_more_than_the_limit(database: &TestDatabase) {
        let house = House::new(database).await;
        house.admin().await;
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                let accounts = house.accounts.clone();
                tokio::spawn(async move {
                    let attempt = Attempt { email: ROOT, password: "not the right password", replaces: None, source: source() };
                    matches!(accounts.sign_in(attempt).await, Err(AccountsError::InvalidCredentials))
                })
            })
            .collect();
        let mut tried = 0;
        for task in tasks {
            tried += i64::from(task.await.unwrap());
        }
        assert_eq!(tried, ATTEMPTS_PER_ACCOUNT);
    }

    async fn a_new_session_takes_the_place_of_the_one_before(database: &TestDatabase) {
        let house = House::new(database).await;
        let before = house.admin().await.token.reveal();
        let after = house.accounts.sign_in(Attempt {
            email: ROOT, password: PASSWORD, replaces: Some(&before), source: source(),
        });
        let after = after.await.unwrap();
        assert!(house.accounts.by_session(&before).await.unwrap().is_none());
        assert!(house.accounts.by_session(&after.token.reveal()).await.unwrap().is_some());
    }

    async fn beyond_the_bound_the_oldest_session_ends(database: &TestDatabase) {
        let house = House::new(database).await;
        let first = house.admin().await;
        let more = mainstay_store::Sql::same(
            "test.more",
            "INSERT INTO sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at)
             VALUES ($1, $1, $2, $3, $3, $4)",
        );
        let later = mainstay_base::Clock::now(&*house.clock).plus(Duration::from_secs(1));
        let user = id_of(&first);
        house.db.write(async |tx| {
            for number in 1..MAX_SESSIONS {
                let name = format!("0000-{number}");
                let values = mainstay_store::values![&name, user, later, later.plus(Duration::from_secs(9999))];
                tx.execute(&more, values).await?;
            }
            Ok::<_, mainstay_store::StoreError>(())
        }).await.unwrap();
        house.clock.advance(Duration::from_secs(2));
        attempt(&house, ROOT, PASSWORD, "203.0.113.9").await.unwrap();
        assert_eq!(house.count("SELECT count(*) AS n FROM sessions").await, MAX_SESSIONS);
        assert!(house.accounts.by_session(&first.token.reveal()).await.unwrap().is_none());
    }
}
