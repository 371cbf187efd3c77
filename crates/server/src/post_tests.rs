//! What is written, what is queued of it, and what is delivered.

use std::sync::Mutex;

use mainstay_base::{Clock, IdSource, SystemClock, SystemRng};
use mainstay_outbound::{MailConfig, MailError};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;

use super::*;

/// Keeps what is put in.
#[derive(Default)]
struct Kept(Mutex<Vec<SealedLetter>>);

impl Letterbox for Kept {
    fn put<'a>(&'a self, _: &'a mut Tx, letter: SealedLetter) -> Posted<'a> {
        self.0.lock().unwrap().push(letter);
        Box::pin(async { Ok(true) })
    }
}

fn pepper(letter: &str) -> Pepper {
    Pepper::new(&letter.repeat(40)).unwrap()
}

fn email(text: &str) -> Email {
    text.parse().unwrap()
}

#[test]
fn the_texts_hold_what_their_reader_needs() {
    let text = invite_text(Role::Editor, "https://mainstay.example.com/invite#abc");
    assert!(text.contains("as editor") && text.contains("within 7 days"), "{text}");
    assert!(text.contains("\nhttps://mainstay.example.com/invite#abc\n"), "on its own line");
    let from = email("ada@example.com");
    let text = request_text(&from, Some("https://mainstay.example.com"));
    assert!(text.contains("https://mainstay.example.com/admin/access-requests"), "{text}");
    assert!(request_text(&from, None).contains("under Admin"));
}

#[tokio::test]
async fn each_reader_gets_a_letter_that_only_the_pepper_opens() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let db = database.open().await;
    let kept = Arc::new(Kept::default());
    let letterbox = Arc::clone(&kept) as Arc<dyn Letterbox>;
    let post = MailPost { letterbox, pepper: pepper("a"), rng: Arc::new(SystemRng), site: None };
    let (ada, bob) = (email("ada@example.com"), email("bob@example.com"));
    let admins = [email("root@example.com"), email("boss@example.com")];
    let queued = db.write(async |tx| {
        let invited =
            post.invite(tx, &ada, Role::Viewer, "https://x.example/invite#secret").await?;
        Ok::<_, AccountsError>((invited, post.access_request(tx, &admins, &bob).await?))
    });
    assert_eq!(queued.await.unwrap(), (true, true));
    let letters = kept.0.lock().unwrap().clone();
    let opened: Vec<_> =
        letters.iter().map(|letter| Letter::open(&pepper("a"), letter).unwrap()).collect();
    let to: Vec<_> = opened.iter().map(|letter| letter.to.as_str()).collect();
    assert_eq!(to, ["ada@example.com", "root@example.com", "boss@example.com"]);
    assert!(opened[0].text.contains("https://x.example/invite#secret"));
    assert!(letters.iter().all(|letter| Letter::open(&pepper("b"), letter).is_none()));
}

#[tokio::test]
async fn what_could_never_be_sent_is_not_queued() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let db = database.open().await;
    let kept = Arc::new(Kept::default());
    let letterbox = Arc::clone(&kept) as Arc<dyn Letterbox>;
    let post = MailPost { letterbox, pepper: pepper("a"), rng: Arc::new(SystemRng), site: None };
    let endless = "x".repeat(100_000);
    let queued = db
        .write(async |tx| post.invite(tx, &email("ada@example.com"), Role::Viewer, &endless).await);
    assert!(!queued.await.unwrap());
    assert!(kept.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_cant_be_opened_or_written_is_told_apart() {
    let config = MailConfig::new(
        "smtp://127.0.0.1:1".parse().unwrap(),
        "mainstay@example.org".parse().unwrap(),
    );
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let mailer = Mailer::new(&config, Arc::clone(&clock)).unwrap();
    let id = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng)).next();
    let delivered =
        async |letter: &SealedLetter| deliver(&mailer, &pepper("a"), letter, id, clock.now()).await;
    let letter = Letter::new(&email("ada@example.com"), "Hello", "text".to_owned());
    for unreadable in [
        SealedLetter(String::new()),
        SealedLetter("garbage".to_owned()),
        letter.seal(&pepper("b"), &SystemRng),
        SealedLetter(pepper("a").seal(PURPOSE, b"{}", &SystemRng)),
    ] {
        let failed = delivered(&unreadable).await.unwrap_err();
        assert_eq!((&failed, failed.reason()), (&Undelivered::Unreadable, "unreadable"));
    }
    let unwritable = Letter { subject: "two\nlines".to_owned(), ..letter };
    let failed = delivered(&unwritable.seal(&pepper("a"), &SystemRng)).await.unwrap_err();
    assert_eq!(failed, Undelivered::Unsent(SendError::Mail(MailError::Subject)));
    assert_eq!(failed.reason(), "unwritable");
}
