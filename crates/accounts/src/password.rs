//! Passwords: what one must be, and a gate in front of their costly hashing.
//!
//! Argon2id takes 19 MiB and tens of milliseconds of a core by design. So hashing runs on a few threads
//! of its own, with a bounded queue before it: a thousand sign-ins at once cost no more memory than a
//! few. Each thread keeps its 19 MiB from the first password on: giving them back and taking them
//! anew for each would leave the allocator with several times as much.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use mainstay_base::{Rng, Secret};
use subtle::ConstantTimeEq as _;
use tokio::sync::{Semaphore, oneshot};

/// The shortest password, in characters.
pub const MIN_PASSWORD_CHARACTERS: usize = 12;
/// The longest password, in characters.
pub const MAX_PASSWORD_CHARACTERS: usize = 256;
/// How long one waits at most.
const WAIT_LIMIT: Duration = Duration::from_secs(10);
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// How much hashing there may be at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashingLimits {
    /// Passwords that are hashed at once, each with 19 MiB.
    pub at_once: usize,
    /// Callers that may be on their way through the gate; more are told that it is busy.
    pub waiting: usize,
}

/// A password that somebody gave.
#[derive(Clone)]
pub(crate) struct Password(Secret<String>);

/// A password that can't be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// Easy to guess.
    #[error("a password has at least {MIN_PASSWORD_CHARACTERS} characters; choose a longer one")]
    TooShort,
    /// More than is worth hashing.
    #[error("a password has at most {MAX_PASSWORD_CHARACTERS} characters; choose a shorter one")]
    TooLong,
    /// A character that other programs cut texts at.
    #[error("a password holds no NUL; leave it out")]
    Nul,
}

impl Password {
    /// A password for an account. It is taken as it is: nothing is trimmed.
    pub(crate) fn new(text: &str) -> Result<Self, PasswordError> {
        match text.chars().take(MAX_PASSWORD_CHARACTERS + 1).count() {
            count if count < MIN_PASSWORD_CHARACTERS => Err(PasswordError::TooShort),
            count if count > MAX_PASSWORD_CHARACTERS => Err(PasswordError::TooLong),
            _ if text.contains('\0') => Err(PasswordError::Nul),
            _ => Ok(Self(Secret::new(text.to_owned()))),
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Password")
    }
}

/// Too many wait for the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many passwords are being checked at once; try again in a few seconds")]
pub struct Busy;

/// Hashes and checks passwords, few at a time.
pub(crate) struct PasswordGate {
    permits: Arc<Semaphore>,
    /// Where the threads take their work from; they end when this does.
    work: SyncSender<Work>,
    waiting: AtomicUsize,
    most_waiting: usize,
    rng: Arc<dyn Rng>,
    /// What an unknown account's password is compared with, so that it costs the same time.
    nobody: String,
}

impl PasswordGate {
    pub(crate) fn new(limits: HashingLimits, rng: Arc<dyn Rng>) -> Result<Self, HashingFailed> {
        let mut chance = [0_u8; SALT_BYTES * 2];
        rng.fill(&mut chance);
        let (salt, nobody) = chance.split_at(SALT_BYTES);
        let at_once = limits.at_once.max(1);
        Ok(Self {
            permits: Arc::new(Semaphore::new(at_once)),
            work: start_threads(at_once)?,
            waiting: AtomicUsize::new(0),
            most_waiting: limits.waiting,
            nobody: hash(&mut Memory::default(), nobody, salt)?,
            rng,
        })
    }

    pub(crate) async fn hash(&self, password: Password) -> Result<String, GateError> {
        let mut salt = [0_u8; SALT_BYTES];
        self.rng.fill(&mut salt);
        let work = move |memory: &mut Memory| hash(memory, password.0.expose().as_bytes(), &salt);
        Ok(self.through(work).await??)
    }

    /// Whether `given` is the password of `kept`. Without `kept`, or where `given` can be nobody's
    /// password, it takes as long and is not.
    pub(crate) async fn is_right(
        &self,
        given: Option<Password>,
        kept: Option<String>,
    ) -> Result<bool, GateError> {
        let can_be = given.is_some() && kept.is_some();
        let kept = kept.unwrap_or_else(|| self.nobody.clone());
        let given = given.unwrap_or_else(|| Password(Secret::new(String::new())));
        let work = move |memory: &mut Memory| verify(memory, given.0.expose().as_bytes(), &kept);
        let fits = self.through(work).await??;
        Ok(fits && can_be)
    }

    async fn through<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Memory) -> T + Send + 'static,
    ) -> Result<T, GateError> {
        let queued = Queued::enter(&self.waiting, self.most_waiting)?;
        let entering = Arc::clone(&self.permits).acquire_owned();
        let permit = match tokio::time::timeout(WAIT_LIMIT, entering).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_)) | Err(_) => return Err(GateError::Busy(Busy)),
        };
        drop(queued);
        // The permit goes with the work: a caller that hangs up does not let another in early.
        let (sender, done) = oneshot::channel();
        let job = Box::new(move |memory: &mut Memory| {
            let _ = sender.send(work(memory));
            drop(permit);
        });
        // There is room for as many as there are permits.
        self.work.try_send(job).map_err(|_| HashingFailed)?;
        Ok(done.await.map_err(|_| HashingFailed)?)
    }
}

impl fmt::Debug for PasswordGate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordGate")
    }
}

/// Why the gate gave no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GateError {
    #[error(transparent)]
    Busy(#[from] Busy),
    #[error(transparent)]
    Failed(#[from] HashingFailed),
}

/// Argon2 could not work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a password could not be hashed or its hash not read; is there memory left, and is the database whole?"
)]
pub struct HashingFailed;

type Work = Box<dyn FnOnce(&mut Memory) + Send>;

/// What one thread hashes in.
#[derive(Default)]
struct Memory(Vec<Block>);

impl Memory {
    /// Room for hashing with `params`, which must not ask for more than ours do: what is kept could
    /// be damaged.
    fn room(&mut self, params: &Params) -> Result<&mut [Block], HashingFailed> {
        if params.m_cost() > MEMORY_KIB {
            return Err(HashingFailed);
        }
        let blocks = usize::try_from(MEMORY_KIB).map_err(|_| HashingFailed)?;
        self.0.resize(blocks, Block::default());
        Ok(&mut self.0)
    }
}

fn start_threads(count: usize) -> Result<SyncSender<Work>, HashingFailed> {
    let (sender, receiver) = mpsc::sync_channel(count);
    let receiver = Arc::new(Mutex::new(receiver));
    for _ in 0..count {
        let receiver = Arc::clone(&receiver);
        let thread = thread::Builder::new().name("passwords".to_owned());
        thread.spawn(move || work_off(&receiver)).map_err(|_| HashingFailed)?;
    }
    Ok(sender)
}

fn work_off(receiver: &Mutex<Receiver<Work>>) {
    let mut memory = Memory::default();
    loop {
        // The lock goes before the work begins.
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        // A panic is told to whoever waits, by the answer that never comes; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| work(&mut memory)));
    }
}

struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn enter(waiting: &'a AtomicUsize, most: usize) -> Result<Self, Busy> {
        let queued = Self(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) < most { Ok(queued) } else { Err(Busy) }
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn hash(memory: &mut Memory, password: &[u8], salt: &[u8]) -> Result<String, HashingFailed> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| HashingFailed)?;
    let text = ParamsString::try_from(&params).map_err(|_| HashingFailed)?;
    let mut output = [0_u8; HASH_BYTES];
    fill(memory, params, password, salt, &mut output)?;
    let kept = PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: text,
        salt: Some(Salt::new(salt).map_err(|_| HashingFailed)?),
        hash: Some(Output::new(&output).map_err(|_| HashingFailed)?),
    };
    Ok(kept.to_string())
}

/// By the parameters of what is kept, so that others can be chosen one day.
fn verify(memory: &mut Memory, password: &[u8], kept: &str) -> Result<bool, HashingFailed> {
    let kept = PasswordHash::new(kept).map_err(|_| HashingFailed)?;
    let is_ours = kept.algorithm == Algorithm::Argon2id.ident()
        && kept.version == Some(Version::V0x13.into());
    let (Some(salt), Some(expected), true) = (kept.salt, kept.hash, is_ours) else {
        return Err(HashingFailed);
    };
    let params = Params::try_from(&kept).map_err(|_| HashingFailed)?;
    let mut output = vec![0_u8; expected.as_bytes().len()];
    fill(memory, params, password, &salt, &mut output)?;
    Ok(output.ct_eq(expected.as_bytes()).into())
}

fn fill(
    memory: &mut Memory,
    params: Params,
    password: &[u8],
    salt: &[u8],
    output: &mut [u8],
) -> Result<(), HashingFailed> {
    let room = memory.room(&params)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let filled = argon2.hash_password_into_with_memory(password, salt, output, room);
    filled.map_err(|_| HashingFailed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemRng;

    const MAX_WAITING: usize = 256;

    fn gate(at_once: usize) -> PasswordGate {
        let limits = HashingLimits { at_once, waiting: MAX_WAITING };
        PasswordGate::new(limits, Arc::new(SystemRng)).unwrap()
    }

    fn password(text: &str) -> Option<Password> {
        Some(Password::new(text).unwrap())
    }

    #[test]
    fn a_password_is_long_enough_and_counted_in_characters() {
        for (text, fine) in [
            ("12345678901", Err(PasswordError::TooShort)),
            ("            ", Ok(())),
            ("äöüßäöüßäöüß", Ok(())),
            ("äöüßäöüßäöü", Err(PasswordError::TooShort)),
            ("123456789\u{0}12", Err(PasswordError::Nul)),
        ] {
            assert_eq!(Password::new(text).map(drop), fine, "{text:?}");
        }
        assert!(Password::new(&"x".repeat(256)).is_ok());
        assert_eq!(Password::new(&"x".repeat(257)).map(drop), Err(PasswordError::TooLong));
        assert_eq!(Password::new(&"x".repeat(10_000_000)).map(drop), Err(PasswordError::TooLong));
    }

    #[tokio::test]
    async fn only_the_right_password_is_right() {
        let gate = gate(2);
        let kept = gate.hash(Password::new("correct horse battery").unwrap()).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        let again = gate.hash(Password::new("correct horse battery").unwrap()).await.unwrap();
        assert_ne!(kept, again, "each hash has a salt of its own");
        let right = async |text: &str, kept: Option<&String>| {
            gate.is_right(password(text), kept.cloned()).await.unwrap()
        };
        assert!(right("correct horse battery", Some(&kept)).await);
        assert!(!right("correct horse battery ", Some(&kept)).await);
        assert!(!right("correct horse battery", None).await);
        assert!(!gate.is_right(None, Some(kept)).await.unwrap());
    }

    /// Made by the reference implementation of Argon2, so that hashes outlive this library.
    #[test]
    fn a_hash_of_others_is_understood() {
        let kept =
            "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        let mut memory = Memory::default();
        assert_eq!(verify(&mut memory, b"password", kept), Ok(true));
        assert_eq!(verify(&mut memory, b"passwore", kept), Ok(false));
        let huge = kept.replace("m=256", "m=4194304");
        assert_eq!(verify(&mut memory, b"password", &huge), Err(HashingFailed));
        let other = kept.replace("argon2id", "argon2i");
        assert_eq!(verify(&mut memory, b"password", &other), Err(HashingFailed));
    }

    #[tokio::test]
    async fn a_damaged_hash_is_an_error_and_not_a_wrong_password() {
        let checked = gate(1).is_right(password("correct horse battery"), Some("x".into())).await;
        assert!(matches!(checked, Err(GateError::Failed(HashingFailed))));
    }

    #[tokio::test]
    async fn beyond_the_queue_one_is_told_at_once_that_it_is_busy() {
        let gate = Arc::new(gate(1));
        let held = Arc::clone(&gate.permits).acquire_owned().await.unwrap();
        let waiters: Vec<_> = (0..MAX_WAITING)
            .map(|_| {
                let gate = Arc::clone(&gate);
                tokio::spawn(async move { gate.is_right(None, None).await.is_ok() })
            })
            .collect();
        while gate.waiting.load(Ordering::Relaxed) < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        assert!(matches!(gate.is_right(None, None).await, Err(GateError::Busy(Busy))));
        for waiter in &waiters {
            waiter.abort();
        }
        for waiter in waiters {
            let _ = waiter.await;
        }
        drop(held);
        assert_eq!(gate.waiting.load(Ordering::Relaxed), 0, "whoever gives up leaves the queue");
        assert!(!gate.is_right(None, None).await.unwrap());
    }

    #[test]
    fn a_password_is_never_printed() {
        assert_eq!(format!("{:?}", password("correct horse battery")), "Some(Password)");
    }
}
