//! Clients that are slow on purpose, handlers that are slow by accident.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::house::House;
use super::raw::{Answer, PATIENCE, exchange, get, read_to_end};
use crate::Limits;

/// For what is to be cut.
const SHORT: Duration = Duration::from_millis(150);
/// For what must not be, though nobody may go on for some seconds on a busy machine.
const ROOMY: Duration = Duration::from_secs(5);

/// Lets so much time pass at once, and whoever waited for that act on it.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// Sends `bytes` one by one, each well within any limit, until the server has enough.
async fn drip(stream: TcpStream, bytes: Vec<u8>) -> Vec<u8> {
    let (mut reader, mut writer) = stream.into_split();
    let dripping = tokio::spawn(async move {
        for byte in bytes.iter().cycle() {
            if writer.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let mut answer = Vec::new();
    let _ = timeout(PATIENCE, reader.read_to_end(&mut answer)).await.expect("the server hangs");
    dripping.abort();
    answer
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_cut_at_the_limit_of_the_whole() {
    let house = House::limited(Limits { body_time: SHORT, ..Limits::default() }).await;
    for framing in ["Content-Length: 1000\r\n", "Transfer-Encoding: chunked\r\n"] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        let head = format!(
            "POST /api/test/json HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             {framing}\r\n",
            house.address
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let drops = if framing.starts_with('C') { b" ".to_vec() } else { b"1\r\n \r\n".to_vec() };
        let answer = Answer::parse(&drip(stream, drops).await);
        assert_eq!((answer.status, answer.code().as_str()), (408, "body_too_slow"));
    }
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_cut() {
    let house = House::limited(Limits { head_time: SHORT, ..Limits::default() }).await;
    let stream = TcpStream::connect(house.address).await.unwrap();
    let answer = drip(stream, b"GET /healthz HTTP/1.1\r\nX-A: ".to_vec()).await;
    assert!(answer.is_empty() || Answer::parse(&answer).status == 400);
}

#[tokio::test]
async fn the_beginning_of_an_http2_preface_and_then_silence_is_cut() {
    let house = House::limited(Limits { head_time: SHORT, ..Limits::default() }).await;
    for start in [&b""[..], b"PRI * HTTP/2.0\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        stream.write_all(start).await.unwrap();
        read_to_end(&mut stream).await;
    }
}

#[tokio::test]
async fn the_second_head_on_a_connection_has_the_same_limit() {
    let house = House::limited(Limits { head_time: ROOMY, ..Limits::default() }).await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0_u8; 4096];
    assert!(stream.read(&mut first).await.unwrap() > 0);
    // Kept open beyond the limit of a head, since no byte of a second one came yet.
    pass(ROOMY * 2).await;
    stream.write_all(b"GET /heal").await.unwrap();
    assert!(read_to_end(&mut stream).await.is_empty());
}

#[tokio::test]
async fn a_part_of_a_head_behind_a_whole_request_has_the_same_limit() {
    let house = House::limited(Limits { head_time: ROOMY, ..Limits::default() }).await;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n", house.address);
    let answered = async |sent: String, answers: usize| {
        let text = String::from_utf8(exchange(house.address, sent.as_bytes()).await).unwrap();
        assert_eq!(text.matches("HTTP/1.1 200 ").count(), answers, "{text}");
    };
    tokio::join!(
        answered(format!("{request}\r\nGET /heal"), 1),
        answered(format!("{request}\r\n{request}\r\n{request}"), 2),
        answered(format!("{request}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nG"), 1),
    );
}

#[tokio::test]
async fn a_part_of_a_head_that_came_during_a_request_has_the_same_limit() {
    let house = House::limited(Limits { head_time: ROOMY, ..Limits::default() }).await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let request = format!("GET /api/test/held HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    house.world.waiting.notified().await;
    stream.write_all(b"GET /heal").await.unwrap();
    // Longer than the limit: while a request waits for its answer, the clock stands.
    pass(ROOMY * 2).await;
    house.world.go.notify_one();
    assert_eq!(Answer::parse(&read_to_end(&mut stream).await).status, 200);
}

#[tokio::test]
async fn whole_requests_leave_the_connection_open() {
    let house = House::limited(Limits { head_time: ROOMY, ..Limits::default() }).await;
    for end in ["\r\n", "\n", "\r\n\r\n"] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n{end}", house.address);
        for part in [request.repeat(2), request] {
            stream.write_all(part.as_bytes()).await.unwrap();
            let mut first = [0_u8; 4096];
            assert!(stream.read(&mut first).await.unwrap() > 0, "{end:?}");
            pass(ROOMY * 2).await;
        }
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let house = House::limited(Limits { idle_time: ROOMY, ..Limits::default() }).await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Answer::parse(&read_to_end(&mut stream).await).status, 200);
}

#[tokio::test]
async fn a_connection_with_a_waiting_request_is_not_idle() {
    let house = House::limited(Limits { idle_time: ROOMY, ..Limits::default() }).await;
    let world = std::sync::Arc::clone(&house.world);
    let asking = tokio::spawn(async move { get(house.address, "/api/test/held").await });
    world.waiting.notified().await;
    pass(ROOMY * 3).await;
    world.go.notify_one();
    assert_eq!(asking.await.unwrap().status, 200);
}

#[tokio::test]
async fn a_handler_that_hangs_is_answered_for() {
    let house = House::limited(Limits { request_time: SHORT, ..Limits::default() }).await;
    let answer = get(house.address, "/api/test/stuck").await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "timed_out"));
    assert_eq!(answer.header("retry-after"), Some("5"));
}

#[tokio::test]
async fn a_stream_outlives_the_limits_of_requests_and_idling() {
    let limits = Limits {
        request_time: ROOMY,
        head_time: ROOMY,
        idle_time: ROOMY,
        stall_time: ROOMY,
        ..Limits::default()
    };
    let house = House::limited(limits).await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let request = format!(
        "GET /api/test/stream HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        house.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0_u8; 4096];
    let begun = stream.read(&mut first).await.unwrap();
    pass(ROOMY * 2).await;
    let text = [&first[..begun], &read_to_end(&mut stream).await].concat();
    let text = String::from_utf8(text).unwrap();
    for part in ["one ", "two ", "three"] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_of_its_answer_is_cut() {
    let house = House::limited(Limits { stall_time: SHORT, ..Limits::default() }).await;
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    let request = format!("GET /assets/large-abc.bin HTTP/1.1\r\nHost: {}\r\n\r\n", house.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(SHORT * 4).await;
    let answer = read_to_end(&mut stream).await;
    assert!(answer.len() < super::house::LARGE, "{} bytes came", answer.len());
}

#[tokio::test]
async fn beyond_the_limit_of_connections_new_ones_wait() {
    let house = House::limited(Limits { connections: 1, ..Limits::default() }).await;
    let first = TcpStream::connect(house.address).await.unwrap();
    let address = house.address;
    let mut second = tokio::spawn(async move { get(address, "/healthz").await });
    assert!(timeout(SHORT, &mut second).await.is_err(), "there is room for one only");
    drop(first);
    assert_eq!(timeout(PATIENCE, second).await.unwrap().unwrap().status, 200);
}
