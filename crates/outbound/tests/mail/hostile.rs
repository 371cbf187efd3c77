//! Servers that mean harm: each costs bounded time and bounded memory, and never the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mainstay_outbound::SendError;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::{PATIENCE, config, reason, start};

/// What the server says first, to everything, and without an end.
struct Script {
    banner: &'static [u8],
    answers: &'static [&'static [u8]],
    for_ever: &'static [u8],
}

/// How much the server has said and how often it was called.
#[derive(Default)]
struct Counted {
    written: AtomicUsize,
    conversations: AtomicUsize,
}

/// Speaks the script to everybody.
async fn stage(script: Script) -> (String, Arc<Counted>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let counted = Arc::new(Counted::default());
    let counter = Arc::clone(&counted);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counter.conversations.fetch_add(1, Ordering::Relaxed);
            // Whoever hangs up ends the conversation, as meant.
            let _ = speak(stream, &script, &counter.written).await;
        }
    });
    (format!("smtp://{address}"), counted)
}

async fn speak(stream: TcpStream, script: &Script, written: &AtomicUsize) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    write.write_all(script.banner).await?;
    for answer in script.answers {
        read.read_line(&mut String::new()).await?;
        write.write_all(answer).await?;
    }
    if script.for_ever.is_empty() {
        read.read_to_end(&mut Vec::new()).await?;
        return Ok(());
    }
    loop {
        write.write_all(script.for_ever).await?;
        written.fetch_add(script.for_ever.len(), Ordering::Relaxed);
    }
}

/// The most that one conversation can put on its way before the other side hangs up: what may be
/// said, and what the buffers of two sockets hold.
const MOST_WRITTEN: usize = 16 * 1024 * 1024;

const HELLO: &[u8] = b"220 mail.example\r\n";
const LONG_LINE: &[u8] = &[b'x'; 4096];

#[tokio::test]
async fn no_talk_without_an_end_is_listened_to() {
    for script in [
        Script { banner: b"", answers: &[], for_ever: LONG_LINE },
        Script { banner: b"220-", answers: &[], for_ever: LONG_LINE },
        Script { banner: b"", answers: &[], for_ever: b"220-more to come\r\n" },
        Script { banner: HELLO, answers: &[], for_ever: b"250-MORE\r\n" },
        Script { banner: HELLO, answers: &[b"250 mail.example\r\n"], for_ever: LONG_LINE },
        Script { banner: b"", answers: &[], for_ever: b"\0\xff\n" },
    ] {
        let (address, counted) = stage(script).await;
        // Well before a try runs out of its time.
        let mut config = config(&address);
        config.pace.attempt_timeout = PATIENCE * 2;
        let post = start(&config);
        let ended = tokio::time::timeout(PATIENCE, post.send("ada@example.com"));
        ended.await.expect("it hangs up by itself").expect_err("it is not sent");
        assert!(counted.written.load(Ordering::Relaxed) < MOST_WRITTEN);
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_or_nonsense_is_told_from_one_that_says_no() {
    let silent = Duration::from_millis(300);
    // One that says something needs no hurry, and may be late on a busy machine.
    let speaks = Duration::from_secs(10);
    for (script, given, expected) in [
        (Script { banner: b"", answers: &[], for_ever: b"" }, silent, "timeout"),
        (
            Script { banner: b"HTTP/1.1 400 Bad Request\r\n\r\n", answers: &[], for_ever: b"" },
            speaks,
            "garbled",
        ),
        (Script { banner: b"554 go away\r\n", answers: &[], for_ever: b"" }, speaks, "refused"),
    ] {
        let banner = script.banner.escape_ascii();
        let (address, counted) = stage(script).await;
        let mut config = config(&address);
        config.pace.attempt_timeout = given;
        assert_eq!(reason(start(&config).send("ada@example.com").await), expected, "{banner}");
        assert_eq!(counted.conversations.load(Ordering::Relaxed), 1, "{banner}");
    }
}

#[tokio::test]
async fn a_server_that_answers_another_question_is_not_waited_for_beyond_the_time() {
    let scripts: [&[&[u8]]; 2] = [&[b"999 what\r\n"], &[b"250 a\r\n", b"354 too early\r\n"]];
    for answers in scripts {
        let (address, _) = stage(Script { banner: HELLO, answers, for_ever: b"" }).await;
        let mut config = config(&address);
        config.pace.attempt_timeout = Duration::from_millis(300);
        let sent = start(&config).send("ada@example.com").await;
        assert!(matches!(sent, Err(SendError::Later { .. })), "{sent:?}");
    }
}

#[tokio::test]
async fn what_is_put_behind_the_answer_to_starttls_is_not_taken_for_the_server() {
    let (address, _) = stage(Script {
        banner: HELLO,
        answers: &[
            b"250-mail.example\r\n250 STARTTLS\r\n",
            b"220 go ahead\r\n250-mail.example\r\n250 AUTH PLAIN\r\n",
        ],
        for_ever: b"",
    })
    .await;
    let mut config = config(&format!("{address}?tls=starttls"));
    config.pace.attempt_timeout = PATIENCE * 2;
    let post = start(&config);
    // The handshake fails on the injected bytes at once instead of waiting for the server's.
    let ended = tokio::time::timeout(PATIENCE, post.send("ada@example.com"));
    ended.await.expect("the handshake fails at once").expect_err("it is not sent");
}

#[tokio::test]
async fn a_server_that_takes_the_mail_and_no_goodbye_has_it_once() {
    let answers: &[&[u8]] = &[
        b"250 mail.example\r\n",
        b"250 sender\r\n",
        b"250 recipient\r\n",
        b"354 go ahead\r\n",
        b"250 taken\r\n",
    ];
    let (address, counted) = stage(Script { banner: HELLO, answers, for_ever: b"" }).await;
    let post = start(&config(&address));
    post.send("ada@example.com").await.unwrap();
    assert_eq!(counted.conversations.load(Ordering::Relaxed), 1);
}
