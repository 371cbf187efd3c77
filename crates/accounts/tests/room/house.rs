//! A room with a clock to move, a post that remembers, and users to act.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mainstay_accounts::{
    Accounts, AccountsError, Caller, Email, HashingLimits, InviteAsk, Options, PageAsk, Pepper,
    Post, Posted, Role, SeenQueue, SignedIn, Source,
};
use mainstay_base::{Clock, Id, IdSource, SystemRng};
use mainstay_store::{Db, Row, Sql, Tx, Value, migrate};
use mainstay_testkit::{FakeClock, TestDatabase};

pub(crate) const PASSWORD: &str = "correct horse battery";
pub(crate) const SITE: &str = "https://mainstay.example.com";
pub(crate) const ROOT: &str = "root@example.com";

/// A room on a clean database.
pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) accounts: Accounts,
    pub(crate) seen: Option<SeenQueue>,
    pub(crate) post: Arc<Remembered>,
    /// How often it was told that something changed.
    pub(crate) changes: Arc<AtomicUsize>,
}

/// Everything that was queued by what was committed.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    sent: Arc<Mutex<Vec<String>>>,
    /// Whether the queue does not take anything.
    fails: AtomicBool,
}

impl Remembered {
    pub(crate) fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    pub(crate) fn fail(&self) {
        self.fails.store(true, Ordering::Relaxed);
    }

    async fn put(&self, tx: &mut Tx, mail: String) -> Result<bool, AccountsError> {
        if self.fails.load(Ordering::Relaxed) {
            tx.execute(&Sql::same("test.no_queue", "DELETE FROM no_such_queue"), &[]).await?;
        }
        let sent = Arc::clone(&self.sent);
        tx.after_commit(move || sent.lock().unwrap().push(mail));
        Ok(true)
    }
}

impl Post for Remembered {
    fn invite<'a>(
        &'a self,
        tx: &'a mut Tx,
        to: &'a Email,
        role: Role,
        link: &'a str,
    ) -> Posted<'a> {
        Box::pin(self.put(tx, format!("invite {to} {role} {link}")))
    }

    fn access_request<'a>(
        &'a self,
        tx: &'a mut Tx,
        admins: &'a [Email],
        from: &'a Email,
    ) -> Posted<'a> {
        let admins: Vec<_> = admins.iter().map(Email::as_str).collect();
        Box::pin(self.put(tx, format!("request {} of {from}", admins.join(","))))
    }
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        Self::with_pepper(database, "a pepper that is long enough for this").await
    }

    pub(crate) async fn with_pepper(database: &TestDatabase, pepper: &str) -> Self {
        Self::with(database, pepper, HashingLimits { at_once: 2, waiting: 256 }).await
    }

    pub(crate) async fn with(
        database: &TestDatabase,
        pepper: &str,
        hashing: HashingLimits,
    ) -> Self {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&shared), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let post = Arc::new(Remembered::default());
        let changes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&changes);
        let options = Options {
            db: db.clone(),
            ids: IdSource::new(Arc::clone(&shared), Arc::new(SystemRng)),
            clock: shared,
            rng: Arc::new(SystemRng),
            pepper: Pepper::new(pepper).unwrap(),
            hashing,
            post: Arc::clone(&post) as Arc<dyn Post>,
            changed: Arc::new(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            }),
        };
        let (accounts, seen) = Accounts::new(options).unwrap();
        Self { clock, db, accounts, seen: Some(seen), post, changes }
    }

    /// The first admin, by the link.
    pub(crate) async fn admin(&self) -> SignedIn {
        let token = self.accounts.setup_token().await.unwrap().unwrap();
        let made = self.accounts.set_up(&token.reveal(), ROOT, PASSWORD, source()).await;
        made.unwrap()
    }

    /// Another user, by invite.
    pub(crate) async fn user(&self, admin: &Caller, email: &str, role: Role) -> SignedIn {
        let token = self.invite(admin, email, role).await;
        self.accounts.accept_invite(&token, PASSWORD, source()).await.unwrap()
    }

    /// The token of a new invite.
    pub(crate) async fn invite(&self, admin: &Caller, email: &str, role: Role) -> String {
        let ask = InviteAsk { email: email.parse().unwrap(), role, access_request_id: None };
        let invited = self.accounts.invite(admin, ask, SITE, source()).await.unwrap();
        token_of(&invited.link)
    }

    pub(crate) async fn row(&self, sql: &'static str, values: &[Value<'_>]) -> Row {
        self.db.fetch_one(&Sql::same("test.row", sql), values).await.unwrap()
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        self.row(sql, &[]).await.get("n").unwrap()
    }

    /// The actions in the audit log, oldest first.
    pub(crate) async fn actions(&self) -> Vec<String> {
        let sql = Sql::same("test.actions", "SELECT action FROM audit_log ORDER BY id");
        let rows = self.db.fetch_all(&sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get("action").unwrap()).collect()
    }
}

pub(crate) fn source() -> Source {
    from("203.0.113.9")
}

pub(crate) fn from(address: &str) -> Source {
    Source {
        address: Some(address.parse().unwrap()),
        user_agent: Some("Test/1.0".to_owned()),
        request_id: Some("request-1".to_owned()),
    }
}

pub(crate) fn token_of(link: &str) -> String {
    link.split_once('#').unwrap().1.to_owned()
}

pub(crate) const ALL: PageAsk = PageAsk { after: None, limit: 200 };

pub(crate) fn id_of(signed_in: &SignedIn) -> Id {
    signed_in.caller.user.id
}
