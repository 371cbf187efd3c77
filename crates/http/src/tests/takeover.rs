//! Streams on HTTP/1, whose connections are taken from hyper after the first words: what then travels on
//! them is what the versions of the protocol promise.

use mainstay_accounts::Scope;
use mainstay_events::Stream;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::house::{House, Plan};
use super::people::bearer;
use super::protocols::Pair;
use super::raw::{PATIENCE, get};

/// Reads until `wanted` has come.
async fn read_until(stream: &mut (impl AsyncRead + Unpin), wanted: &str) -> String {
    let mut text = String::new();
    let reading = async {
        let mut chunk = [0; 4096];
        while !text.contains(wanted) {
            let length = stream.read(&mut chunk).await.unwrap();
            assert!(length > 0, "it ended before {wanted} came: {text}");
            text.push_str(std::str::from_utf8(&chunk[..length]).unwrap());
        }
    };
    timeout(PATIENCE, reading).await.expect("it does not come");
    text
}

/// Opens a stream in `version` over `stream`, and reads its first words.
async fn open(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    version: &str,
    headers: &str,
) -> String {
    let request = format!("GET /api/events HTTP/{version}\r\nHost: localhost\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    read_until(stream, "\"position\":").await
}

#[tokio::test]
async fn a_client_of_http_1_0_gets_no_chunks_and_one_of_1_1_gets_whole_ones() {
    let house = House::open().await;
    let admin = house.admin().await;
    for (version, framed) in [("1.0", false), ("1.1", true)] {
        let headers = bearer(&house.token(&admin, Scope::Read).await);
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        let head = open(&mut stream, version, &headers).await;
        assert!(head.starts_with(&format!("HTTP/{version} 200 OK\r\n")), "{head}");
        assert_eq!(head.contains("transfer-encoding: chunked"), framed, "{head}");
        house.tell(Stream::Org, "told", 0..1).await;
        let block = read_until(&mut stream, "\n\n").await;
        let text = block.trim_start_matches("}\n\n\r\n").trim_start_matches("\r\n");
        let is_size = |line: &str| u32::from_str_radix(line.trim_end(), 16).is_ok();
        assert_eq!(text.lines().next().is_some_and(is_size), framed, "{version}: {text:?}");
    }
}

#[tokio::test]
async fn a_stream_over_tls_goes_on_after_its_first_words() {
    let pair = Pair::new();
    let house = House::build(Plan { tls: Some(pair.tls()), ..Plan::default() }).await;
    let admin = house.admin().await;
    let headers = bearer(&house.token(&admin, Scope::Read).await);
    let mut stream = pair.connect(&house, b"http/1.1").await;
    open(&mut stream, "1.1", &headers).await;
    house.tell(Stream::Org, "told", 0..3).await;
    read_until(&mut stream, "\"number\":2").await;
}

#[tokio::test]
async fn who_leaves_is_missed_at_once() {
    let house = House::open().await;
    let admin = house.admin().await;
    let headers = bearer(&house.token(&admin, Scope::Read).await);
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    open(&mut stream, "1.1", &headers).await;
    drop(stream);
    let gone = async {
        loop {
            let metrics = String::from_utf8(get(house.address, "/metrics").await.body).unwrap();
            if metrics.contains("\nmainstay_events_connections 0\n") {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("somebody who left is still counted");
}

#[tokio::test]
async fn who_talks_on_a_stream_is_not_heard() {
    let house = House::open().await;
    let admin = house.admin().await;
    let headers = bearer(&house.token(&admin, Scope::Read).await);
    let mut stream = TcpStream::connect(house.address).await.unwrap();
    open(&mut stream, "1.1", &headers).await;
    let talk = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    stream.write_all(talk.as_bytes()).await.unwrap();
    house.tell(Stream::Org, "told", 0..50).await;
    let rest = read_until(&mut stream, "\"number\":49").await;
    assert!(!rest.contains("alive"), "{rest}");
}
