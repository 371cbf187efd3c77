//! No server makes a call longer, or an answer larger, than it may be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::server::{Server, answer, ok};
use crate::{SHORT, failed, fetch, get, web};

#[tokio::test]
async fn a_server_that_hangs_runs_out_of_time() {
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        peer.until_hung_up().await;
    })
    .await;
    let (kind, message) = failed(fetch(&web(), get(&server.url("/")).timeout(SHORT)).await);
    assert_eq!(kind, "timeout");
    assert!(message.contains("within 150ms"), "{message}");
    server.open(0).await;
}

#[tokio::test]
async fn a_server_that_drips_runs_out_of_time() {
    for said in ["HTTP/1.1 200 OK\r\nx-endless: ", "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"]
    {
        let server = Server::start(move |mut peer| async move {
            peer.question().await;
            peer.say(said).await;
            while peer.say("x").await {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        let (kind, _) = failed(fetch(&web(), get(&server.url("/")).timeout(SHORT)).await);
        assert_eq!(kind, "timeout", "{said}");
    }
}

#[tokio::test]
async fn two_gigabytes_are_not_even_begun() {
    for (length, told) in
        [("2147483648", "1048576 bytes"), ("18446744073709551615", "beyond all bounds")]
    {
        let server =
            Server::saying(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n")).await;
        let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
        assert_eq!(kind, "too_large");
        assert!(message.contains(told), "{message}");
    }
}

#[tokio::test]
async fn a_body_without_end_is_cut_at_the_limit() {
    const CHUNK: usize = 64 * 1024;
    for is_chunked in [false, true] {
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let server = Server::start(move |mut peer| {
            let sent = Arc::clone(&counted);
            async move {
                peer.question().await;
                let framing = if is_chunked { "Transfer-Encoding: chunked\r\n" } else { "" };
                peer.say(format!("HTTP/1.1 200 OK\r\n{framing}\r\n")).await;
                let mut chunk = vec![b'x'; CHUNK];
                if is_chunked {
                    chunk = [b"10000\r\n", chunk.as_slice(), b"\r\n"].concat();
                }
                while peer.say(&chunk).await {
                    sent.fetch_add(CHUNK, Ordering::SeqCst);
                }
            }
        })
        .await;
        let (kind, _) = failed(fetch(&web(), get(&server.url("/")).max_body(100_000)).await);
        assert_eq!(kind, "too_large");
        server.open(0).await;
        // What lies in the sockets' buffers was sent, and not read.
        assert!(sent.load(Ordering::SeqCst) < 16 * 1024 * 1024, "{sent:?}");
    }
}

#[tokio::test]
async fn a_body_of_just_the_limit_is_fine() {
    let server = Server::saying(ok(&"x".repeat(1_000))).await;
    let web = web();
    let fits = fetch(&web, get(&server.url("/")).max_body(1_000)).await.unwrap();
    assert_eq!(fits.body.len(), 1_000);
    let (kind, _) = failed(fetch(&web, get(&server.url("/")).max_body(999)).await);
    assert_eq!(kind, "too_large");
}

#[tokio::test]
async fn a_failure_that_says_too_much_is_judged_by_its_status_where_that_is_asked_for() {
    for (status, is_answer) in [("503 Down", true), ("429 Slow", true), ("200 OK", false)] {
        let said = format!("HTTP/1.1 {status}\r\nRetry-After: 7\r\nContent-Length: 9000\r\n\r\n");
        let server = Server::saying(said + &"x".repeat(9_000)).await;
        let short = || get(&server.url("/")).max_body(100);
        assert_eq!(failed(fetch(&web(), short()).await).0, "too_large", "{status}");
        let fetched = fetch(&web(), short().long_failures_are_answers()).await;
        if is_answer {
            let answer = fetched.unwrap();
            assert!(status.starts_with(&answer.status.to_string()) && answer.body.is_empty());
            assert_eq!(answer.retry_after(), Some(Duration::from_secs(7)));
        } else {
            assert_eq!(failed(fetched).0, "too_large");
        }
    }
}

#[tokio::test]
async fn a_bomb_is_stopped_at_the_limit() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write as _;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..100 {
        encoder.write_all(&vec![0; 1024 * 1024]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let length = bomb.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n");
    let server = Server::saying([head.as_bytes(), &bomb].concat()).await;
    let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
    assert_eq!(kind, "too_large");
    assert!(message.contains("1048576 bytes"), "{message}");
}

#[tokio::test]
async fn a_head_without_end_is_cut_at_the_limit() {
    let long = format!("x: {}\r\n", "y".repeat(20_000));
    let many = "x: y\r\n".repeat(150);
    for headers in [long, many] {
        let server = Server::saying(answer("200 OK", &headers, "well")).await;
        let (kind, message) = failed(fetch(&web(), get(&server.url("/"))).await);
        assert_eq!(kind, "too_large", "{message}");
        assert!(message.contains("16384 bytes or 100 headers"), "{message}");
    }
}

#[tokio::test]
async fn interim_answers_without_end_run_out_of_time() {
    let server = Server::start(|mut peer| async move {
        peer.question().await;
        while peer.say("HTTP/1.1 100 Continue\r\n\r\n").await {}
    })
    .await;
    let (kind, _) = failed(fetch(&web(), get(&server.url("/")).timeout(SHORT)).await);
    assert_eq!(kind, "timeout");
}

#[tokio::test]
async fn a_slow_server_delays_nobody_else() {
    let slow = Server::start(|mut peer| async move { peer.until_hung_up().await }).await;
    let well = Server::well().await;
    let web = web();
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let (web, url) = (web.clone(), slow.url("/"));
            tokio::spawn(async move { fetch(&web, get(&url).timeout(crate::PATIENCE / 2)).await })
        })
        .collect();
    slow.open(20).await;
    for _ in 0..20 {
        let answer = fetch(&web, get(&well.url("/")).timeout(crate::PATIENCE / 4)).await;
        assert_eq!(answer.unwrap().body, "well");
    }
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
    slow.open(0).await;
}
