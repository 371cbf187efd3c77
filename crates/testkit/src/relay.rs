//! A relay in front of PostgreSQL that understands what is asked, so that one statement, or the commit of
//! one transaction, can be lost, held or left without an answer.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use crate::trap::{Fault, Trap};

/// The longest message.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;
/// A client asks so for encryption, and is told by one letter whether it may.
const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];
/// The version of the protocol, with which a session begins.
const SESSION: u32 = 196_608;

/// The relay. It ends with this value, and its connections with it.
///
/// A call is known to its [`Trap`] by the text of its statement; a commit is `COMMIT of` and every
/// statement of its transaction.
#[derive(Debug)]
pub struct PostgresRelay {
    address: String,
    trap: Arc<Trap>,
    task: AbortHandle,
}

impl PostgresRelay {
    /// Stands in front of `server` (`host:port`).
    ///
    /// # Panics
    /// When no port is free.
    pub async fn before(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address").to_string();
        let trap = Arc::new(Trap::default());
        let task = tokio::spawn(accept(listener, server, Arc::clone(&trap))).abort_handle();
        Self { address, trap, task }
    }

    /// `host:port` of the relay.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What befalls calls.
    #[must_use]
    pub fn trap(&self) -> &Trap {
        &self.trap
    }
}

impl Drop for PostgresRelay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: String, trap: Arc<Trap>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        if let Ok(server) = TcpStream::connect(&server).await {
            connections.spawn(relay(client, server, Arc::clone(&trap)));
        }
    }
}

/// With either way both sides end.
async fn relay(client: TcpStream, server: TcpStream, trap: Arc<Trap>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let greeted = greet(&mut from_client, &mut to_client, &mut from_server, &mut to_server);
    if !matches!(greeted.await, Ok(true)) {
        return;
    }
    let answers = Answers::default();
    tokio::select! {
        _ = ask(&mut from_client, &mut to_server, &trap, &answers) => {}
        _ = answer(&mut from_server, &mut to_client, &trap, &answers) => {}
    }
}

/// Passes on how a session begins; whether one does.
async fn greet(
    from_client: &mut OwnedReadHalf,
    to_client: &mut OwnedWriteHalf,
    from_server: &mut OwnedReadHalf,
    to_server: &mut OwnedWriteHalf,
) -> io::Result<bool> {
    loop {
        let body = body(from_client).await?;
        let code = body.first_chunk().map(|code| u32::from_be_bytes(*code));
        write(to_server, &[], &body).await?;
        match code {
            Some(code) if ENCRYPTION.contains(&code) => {
                let letter = from_server.read_u8().await?;
                to_client.write_u8(letter).await?;
            }
            code => return Ok(code == Some(SESSION)),
        }
    }
}

/// What becomes of the answers of a connection.
#[derive(Default)]
struct Answers(AtomicU8);

const PASSED: u8 = 0;
const LOST: u8 = 1;
const HELD: u8 = 2;

/// What a connection is asked.
#[derive(Default)]
struct Asked {
    statements: HashMap<Vec<u8>, String>,
    bound: String,
    /// Of the open transaction.
    done: Vec<String>,
}

impl Asked {
    /// The call that a message makes, where it is one.
    fn call(&mut self, kind: u8, body: &[u8]) -> Option<String> {
        let mut texts = body.split(|byte| *byte == 0);
        let mut text = || texts.next().unwrap_or_default();
        let call = match kind {
            b'P' => {
                let name = text().to_vec();
                self.statements.insert(name, String::from_utf8_lossy(text()).into_owned());
                return None;
            }
            b'B' => {
                text();
                self.bound = self.statements.get(text()).cloned().unwrap_or_default();
                return None;
            }
            b'E' => self.bound.clone(),
            b'Q' => String::from_utf8_lossy(text()).into_owned(),
            _ => return None,
        };
        if call.starts_with("BEGIN") {
            self.done.clear();
        }
        if call == "COMMIT" {
            return Some(format!("COMMIT of {}", self.done.join("; ")));
        }
        self.done.push(call.clone());
        Some(call)
    }
}

async fn ask(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    trap: &Trap,
    answers: &Answers,
) -> io::Result<()> {
    let mut asked = Asked::default();
    loop {
        let kind = from.read_u8().await?;
        let body = body(from).await?;
        let fault = asked.call(kind, &body).and_then(|call| trap.befalls(&call));
        match fault {
            None => {}
            Some(Fault::Cut) => {
                trap.spring();
                return Ok(());
            }
            Some(Fault::Hold) => {
                trap.spring();
                if !trap.goes_on().await {
                    return Ok(());
                }
            }
            Some(Fault::LoseAnswer) => answers.0.store(LOST, Ordering::SeqCst),
            Some(Fault::HoldAnswer) => answers.0.store(HELD, Ordering::SeqCst),
        }
        write(to, &[kind], &body).await?;
    }
}

async fn answer(
    from: &mut OwnedReadHalf,
    to: &mut OwnedWriteHalf,
    trap: &Trap,
    answers: &Answers,
) -> io::Result<()> {
    let mut waiting = Vec::new();
    loop {
        let kind = from.read_u8().await?;
        let body = body(from).await?;
        let fate = answers.0.load(Ordering::SeqCst);
        if fate == PASSED {
            write(to, &[kind], &body).await?;
            continue;
        }
        waiting.push((kind, body));
        // The server is ready for the next question: it has done this one.
        if kind != b'Z' {
            continue;
        }
        trap.spring();
        if fate == LOST || !trap.goes_on().await {
            return Ok(());
        }
        answers.0.store(PASSED, Ordering::SeqCst);
        for (kind, body) in waiting.drain(..) {
            write(to, &[kind], &body).await?;
        }
    }
}

/// What follows the length of a message.
async fn body(from: &mut OwnedReadHalf) -> io::Result<Vec<u8>> {
    let length = usize::try_from(from.read_u32().await?).unwrap_or(usize::MAX);
    let length = length.checked_sub(4).filter(|length| *length <= MAX_MESSAGE);
    let mut body = vec![0; length.ok_or(io::ErrorKind::InvalidData)?];
    from.read_exact(&mut body).await?;
    Ok(body)
}

async fn write(to: &mut OwnedWriteHalf, kind: &[u8], body: &[u8]) -> io::Result<()> {
    let length = u32::try_from(body.len().saturating_add(4)).unwrap_or(u32::MAX);
    let message = [kind, &length.to_be_bytes(), body].concat();
    to.write_all(&message).await
}
