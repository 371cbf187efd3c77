//! Endpoints that mean harm: each poll of one ends in its own kind of error, and the others are polled
//! on time. Every server has a loopback address of its own, for the bound of a host is not the matter
//! here.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use mainstay_monitor::FailureKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::stage::Stage;

const GOOD: &str = r#"[{"name":"db","healthy":true}]"#;
const GOOD_ONE: i64 = 1;
/// Longer than the test takes.
const ENDLESS: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(300);
/// Once: the interval of a hostile one is longer than the test.
const ONCE_MS: u64 = 600_000;

/// What a server does with a question.
#[derive(Debug, Clone)]
enum Deed {
    Hangs,
    /// A byte of the body every few milliseconds, for ever.
    Drips,
    /// A body without an end.
    Floods,
    HangsUp,
    Says(Vec<u8>),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_ends_in_its_kind_and_the_others_are_polled_on_time() {
    let stage = Stage::on_the_network();
    let cases = cases();
    for (number, (_, deed, timeout, _)) in (10..).zip(&cases) {
        watch(&stage, number, ONCE_MS, deed.clone(), *timeout).await;
    }
    let hanging = 100;
    for number in hanging..hanging + 20 {
        watch(&stage, number, ONCE_MS, Deed::Hangs, ENDLESS).await;
    }
    watch(&stage, GOOD_ONE, 100, Deed::Says(ok(GOOD)), ENDLESS).await;
    for (number, (name, _, _, kind)) in (10..).zip(&cases) {
        stage.until(name, |stage| !stage.failures(number).is_empty()).await;
        assert_eq!(stage.failures(number), [Some(*kind)], "{name}");
    }
    let before = stage.taken(GOOD_ONE);
    stage.until("ten polls more", |stage| stage.taken(GOOD_ONE) >= before + 10).await;
    assert!(stage.failures(GOOD_ONE).iter().all(Option::is_none), "the good one never failed");
    assert!((hanging..hanging + 20).all(|number| stage.taken(number) == 0), "they hang still");
    assert!(!stage.engine.pulse().is_late());
}

fn cases() -> Vec<(&'static str, Deed, Duration, FailureKind)> {
    let says = |bytes: Vec<u8>| Deed::Says(bytes);
    let item = r#"{"name":"a","healthy":true},"#;
    let many = format!("[{}]", item.repeat(30_000).trim_end_matches(','));
    let more = format!("[{}]", item.repeat(100_000).trim_end_matches(','));
    vec![
        ("hangs", Deed::Hangs, SHORT, FailureKind::Timeout),
        ("drips", Deed::Drips, SHORT, FailureKind::Timeout),
        ("floods", Deed::Floods, ENDLESS, FailureKind::TooLarge),
        ("hangs up", Deed::HangsUp, ENDLESS, FailureKind::BadBody),
        (
            "claims two gigabytes",
            says(head("Content-Length: 2147483648")),
            ENDLESS,
            FailureKind::TooLarge,
        ),
        ("a bomb", says(bomb()), ENDLESS, FailureKind::TooLarge),
        (
            "metadata",
            says(redirect("http://169.254.169.254/latest")),
            ENDLESS,
            FailureKind::RedirectBlocked,
        ),
        ("in circles", says(redirect("/again")), ENDLESS, FailureKind::RedirectBlocked),
        ("a file", says(redirect("file:///etc/passwd")), ENDLESS, FailureKind::RedirectBlocked),
        ("deep", says(ok(&"[".repeat(100_000))), ENDLESS, FailureKind::BadBody),
        ("a page", says(ok("<!doctype html>")), ENDLESS, FailureKind::BadBody),
        (
            "not UTF-8",
            says(ok_bytes(b"[{\"name\":\"\xff\",\"healthy\":true}]")),
            ENDLESS,
            FailureKind::BadBody,
        ),
        (
            "NaN",
            says(ok(r#"[{"name":"a","healthy":true,"latencyMs":NaN}]"#)),
            ENDLESS,
            FailureKind::BadBody,
        ),
        ("many items", says(ok(&many)), ENDLESS, FailureKind::BadBody),
        ("a hundred thousand items", says(ok(&more)), ENDLESS, FailureKind::TooLarge),
        ("HTTP/0.9", says(b"all is well\n".to_vec()), ENDLESS, FailureKind::BadBody),
        (
            "a refusal",
            says(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n".to_vec()),
            ENDLESS,
            FailureKind::HttpStatus,
        ),
    ]
}

/// Starts a server on an address that nobody else has, and watches it.
async fn watch(stage: &Stage, number: i64, millis: u64, deed: Deed, timeout: Duration) {
    let host = format!("127.0.1.{number}");
    let address = serve(&host, deed).await;
    stage.watch(number, millis, &host, format!("http://{address}/health"), timeout);
}

async fn serve(host: &str, deed: Deed) -> SocketAddr {
    let listener = TcpListener::bind((host, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let deed = deed.clone();
            tokio::spawn(async move { answer(stream, deed).await });
        }
    });
    address
}

async fn answer(mut stream: TcpStream, deed: Deed) -> Option<()> {
    loop {
        question(&mut stream).await?;
        match &deed {
            Deed::Hangs => std::future::pending().await,
            Deed::HangsUp => return None,
            Deed::Says(bytes) => stream.write_all(bytes).await.ok()?,
            Deed::Drips => {
                stream.write_all(&head("Content-Length: 100000")).await.ok()?;
                loop {
                    stream.write_all(b"[").await.ok()?;
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            Deed::Floods => {
                stream.write_all(&head("Connection: close")).await.ok()?;
                loop {
                    stream.write_all(&[b' '; 65_536]).await.ok()?;
                }
            }
        }
    }
}

async fn question(stream: &mut TcpStream) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(())
}

fn head(header: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n").into_bytes()
}

fn ok(body: &str) -> Vec<u8> {
    ok_bytes(body.as_bytes())
}

fn ok_bytes(body: &[u8]) -> Vec<u8> {
    [head(&format!("Content-Length: {}", body.len())), body.to_vec()].concat()
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes()
}

/// A few kilobytes that unpack to sixteen megabytes.
fn bomb() -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&vec![b' '; 16 << 20]).unwrap();
    let body = packer.finish().unwrap();
    let headers = format!("Content-Encoding: gzip\r\nContent-Length: {}", body.len());
    [head(&headers), body].concat()
}
