//! Every way in which a flow can end is seen in the log and in the metrics.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay_accounts::{
    ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS, AccountsError, Attempt, ENDINGS, Entering,
    FilledForm, HashingLimits, INVITE_TIME, Means, REQUESTS_PER_ADDRESS, REQUESTS_PER_EMAIL, Role,
    SESSION_TIME, SETUP_TIME, Scope, SignedIn, TokenAsk, UserChange, UserStatus,
};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use metrics_exporter_prometheus::PrometheusBuilder;
use tracing_subscriber::fmt::MakeWriter;

use crate::access_requests::filled;
use crate::house::{ALL, House, PASSWORD, ROOT, from, id_of, source};

const WRONG: &str = "not the right password";

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// One thread, so that what the recorder and the log are set to for it holds everywhere.
#[test]
fn every_ending_is_logged_and_counted_and_none_names_a_secret_or_a_person() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().json().with_writer(lines.clone()).finish();
    let recorder = PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber, || {
        metrics::with_local_recorder(&recorder, || {
            runtime.block_on(async {
                let database = TestDatabase::new(Dialect::Sqlite).await;
                everything(&House::new(&database).await).await;
                busy().await;
            });
        });
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let logged: BTreeSet<_> = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .map(|line| line["fields"].clone())
        .filter(|fields| fields["message"] == "account")
        .map(|fields| {
            ["event", "outcome", "reason"].map(|name| fields[name].as_str().unwrap().to_owned())
        })
        .collect();
    let metrics = handle.render();
    for ending in ENDINGS {
        let words = [ending.event, ending.outcome, ending.reason].map(str::to_owned);
        assert!(logged.contains(&words), "{words:?} is not in the log");
        let [event, outcome, reason] = words;
        let line = format!(
            "mainstay_account_outcomes_total{{event=\"{event}\",outcome=\"{outcome}\",reason=\"{reason}\"}}"
        );
        assert!(metrics.contains(&line), "{line} is not in the metrics");
    }
    for secret in [PASSWORD, WRONG, "@example.com", "mst_"] {
        assert!(!text.contains(secret), "{secret} is in the log");
    }
}

async fn sign_in(house: &House, email: &str, password: &str, address: &str) -> Option<SignedIn> {
    let attempt = Attempt { email, password, replaces: None, source: from(address) };
    house.accounts.sign_in(attempt).await.ok()
}

async fn everything(house: &House) {
    setups(house).await;
    let admin = sign_in(house, ROOT, PASSWORD, "203.0.113.1").await.unwrap();
    logins(house, &admin).await;
    own(house, &admin).await;
    invites(house, &admin).await;
    requests(house).await;
    house.clock.advance(SESSION_TIME);
    house.accounts.by_session(&admin.token.reveal()).await.unwrap();
}

async fn setups(house: &House) {
    let accounts = &house.accounts;
    let expired = accounts.setup_token().await.unwrap().unwrap().reveal();
    accounts.set_up("nothing", ROOT, PASSWORD, source()).await.unwrap_err();
    house.clock.advance(SETUP_TIME);
    accounts.set_up(&expired, ROOT, PASSWORD, source()).await.unwrap_err();
    house.admin().await;
    accounts.set_up(&expired, ROOT, PASSWORD, source()).await.unwrap_err();
}

async fn logins(house: &House, admin: &SignedIn) {
    let link = house.accounts.entry_token(&ROOT.parse().unwrap()).await.unwrap().reveal();
    let enter = |token| Entering { token, replaces: None, source: source() };
    house.accounts.enter(enter("nothing")).await.unwrap_err();
    house.accounts.enter(enter(&link)).await.unwrap();
    let ada = house.user(&admin.caller, "ada@example.com", Role::Viewer).await;
    let ask = TokenAsk { name: "script".to_owned(), scope: Scope::Read, lives: None };
    let (token, _) = house.accounts.create_token(&ada.caller, ask, source()).await.unwrap();
    // Disabled behind the room's back, so that the session is still there.
    let disable = mainstay_store::Sql::same(
        "test.disable",
        "UPDATE users SET status = 'disabled' WHERE id = $1",
    );
    let id = id_of(&ada);
    house
        .db
        .write(async |tx| tx.execute(&disable, mainstay_store::values![id]).await)
        .await
        .unwrap();
    house.clock.advance(Duration::from_secs(2));
    assert!(house.accounts.by_session(&ada.token.reveal()).await.unwrap().is_none());
    assert!(house.accounts.by_api_token(&token.reveal()).await.unwrap().is_none());
    sign_in(house, "ada@example.com", PASSWORD, "203.0.113.1").await;
    let change = UserChange { role: None, status: Some(UserStatus::Active) };
    house.accounts.change_user(&admin.caller, id, change, source()).await.unwrap();
    let out = sign_in(house, "ada@example.com", PASSWORD, "203.0.113.1").await.unwrap();
    house.accounts.sign_out(&out.token.reveal(), source()).await.unwrap();
    for _ in 0..=ATTEMPTS_PER_ACCOUNT {
        sign_in(house, "ada@example.com", WRONG, "203.0.113.1").await;
    }
    let raise = mainstay_store::Sql::same(
        "test.raise",
        "UPDATE rate_limit_buckets SET count = $1 WHERE scope = 'login_address'",
    );
    let full = ATTEMPTS_PER_ADDRESS;
    house
        .db
        .write(async |tx| tx.execute(&raise, mainstay_store::values![full]).await)
        .await
        .unwrap();
    sign_in(house, "bob@example.com", WRONG, "203.0.113.1").await;
}

async fn own(house: &House, admin: &SignedIn) {
    let (accounts, caller) = (&house.accounts, &admin.caller);
    let other = sign_in(house, ROOT, PASSWORD, "203.0.113.2").await.unwrap();
    let Means::Session { id, .. } = other.caller.means else { panic!("by session") };
    accounts.end_session(caller, id, source()).await.unwrap();
    accounts
        .change_password(caller, WRONG, "another long password", from("203.0.113.3"))
        .await
        .unwrap_err();
    accounts
        .change_password(caller, PASSWORD, "another long password", from("203.0.113.3"))
        .await
        .unwrap();
    let ask = |lives| TokenAsk { name: "script".to_owned(), scope: Scope::Read, lives };
    let (short, _) =
        accounts.create_token(caller, ask(Some(Duration::from_secs(1))), source()).await.unwrap();
    house.clock.advance(Duration::from_secs(1));
    accounts.by_api_token(&short.reveal()).await.unwrap();
    accounts.by_api_token("mst_nothing").await.unwrap();
    let (_, item) = accounts.create_token(caller, ask(None), source()).await.unwrap();
    accounts.revoke_token(caller, item.id, source()).await.unwrap();
}

async fn invites(house: &House, admin: &SignedIn) {
    let accounts = &house.accounts;
    let used = house.invite(&admin.caller, "cat@example.com", Role::Viewer).await;
    accounts.accept_invite(&used, PASSWORD, source()).await.unwrap();
    accounts.accept_invite(&used, PASSWORD, source()).await.unwrap_err();
    accounts.accept_invite("nothing", PASSWORD, source()).await.unwrap_err();
    let exists = house.invite(&admin.caller, "dan@example.com", Role::Viewer).await;
    accounts.create_admin("dan@example.com".parse().unwrap(), PASSWORD).await.unwrap();
    accounts.accept_invite(&exists, PASSWORD, source()).await.unwrap_err();
    house.clock.advance(Duration::from_secs(1));
    let revoked = house.invite(&admin.caller, "eve@example.com", Role::Viewer).await;
    let id = accounts.list_invites(ALL).await.unwrap().items[0].id;
    accounts.revoke_invite(&admin.caller, id, source()).await.unwrap();
    accounts.look_at_invite(&revoked).await.unwrap_err();
    let expired = house.invite(&admin.caller, "fay@example.com", Role::Viewer).await;
    house.clock.advance(INVITE_TIME);
    accounts.look_at_invite(&expired).await.unwrap_err();
}

async fn requests(house: &House) {
    let accounts = &house.accounts;
    let ask = async |email: &str, address: &str, wait: u64| {
        let form = filled(house, email);
        house.clock.advance(Duration::from_millis(wait));
        let _ = accounts.request_access(form, from(address)).await;
    };
    ask("not an address", "198.51.100.1", 5000).await;
    ask("gus@example.com", "198.51.100.1", 10).await;
    for _ in 0..=REQUESTS_PER_EMAIL {
        ask("gus@example.com", "198.51.100.1", 5000).await;
    }
    for address in 0..=REQUESTS_PER_ADDRESS {
        ask(&format!("h{address}@example.com"), "198.51.100.2", 5000).await;
    }
    let website = Some("x".to_owned());
    let form = FilledForm { website, ..filled(house, "ivy@example.com") };
    accounts.request_access(form, source()).await.unwrap();
    let form = FilledForm { client_ts: "made up".to_owned(), ..filled(house, "ivy@example.com") };
    accounts.request_access(form, source()).await.unwrap_err();
}

/// A gate through which nobody fits.
async fn busy() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let nobody = HashingLimits { at_once: 1, waiting: 0 };
    let house = House::with(&database, "a pepper that is long enough for this", nobody).await;
    let attempt = Attempt { email: ROOT, password: WRONG, replaces: None, source: source() };
    let told = house.accounts.sign_in(attempt).await;
    assert!(matches!(told, Err(AccountsError::Busy(_))), "{told:?}");
    let counted = "SELECT coalesce(sum(count), 0) AS n FROM rate_limit_buckets";
    assert_eq!(house.count(counted).await, 0, "and it was no attempt");
}
