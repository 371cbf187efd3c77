//! HTTP/2, TLS, and files that cannot serve for TLS.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::SendRequest;
use hyper::{Request, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::house::{House, Plan};
use super::raw::{Answer, read_to_end};
use crate::limits::MAX_HEADERS;
use crate::{Limits, Tls, TlsError};

async fn http2<S>(stream: S) -> SendRequest<Full<Bytes>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    tokio::spawn(connection);
    sender
}

async fn ask(
    sender: &mut SendRequest<Full<Bytes>>,
    request: hyper::http::request::Builder,
    body: &'static str,
) -> (u16, String) {
    let request = request.version(Version::HTTP_2).body(Full::from(body)).unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.version(), Version::HTTP_2);
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn http2_by_prior_knowledge() {
    let house = House::open().await;
    let site = format!("http://{}", house.address);
    let mut sender = http2(TcpStream::connect(house.address).await.unwrap()).await;
    let (status, body) = ask(&mut sender, Request::get(format!("{site}/healthz")), "").await;
    assert_eq!((status, body.as_str()), (200, r#"{"status":"alive"}"#));

    let post = Request::post(format!("{site}/api/test/json"));
    let post = post.header("content-type", "application/json");
    let (status, body) = ask(&mut sender, post, "{").await;
    assert_eq!(status, 400);
    assert!(body.contains("malformed_json"), "{body}");

    let (status, body) = ask(&mut sender, Request::get("http://evil.example/"), "").await;
    assert_eq!(status, 421);
    assert!(body.contains("unknown_host"), "{body}");
}

#[tokio::test]
async fn http2_has_the_same_limit_of_headers_and_bodies() {
    let house = House::open().await;
    let site = format!("http://{}", house.address);
    let mut sender = http2(TcpStream::connect(house.address).await.unwrap()).await;
    let mut request = Request::get(format!("{site}/healthz"));
    for number in 0..=MAX_HEADERS {
        request = request.header(format!("x-{number}"), "1");
    }
    let (status, body) = ask(&mut sender, request, "").await;
    assert_eq!(status, 431);
    assert!(body.contains("too_many_headers"), "{body}");

    let request = Request::get(format!("{site}/healthz")).header("x-large", "x".repeat(100_000));
    let request = request.version(Version::HTTP_2).body(Full::from("")).unwrap();
    let status = sender.send_request(request).await.map(|response| response.status().as_u16());
    assert!(!status.is_ok_and(|status| status != 431));
}

#[tokio::test]
async fn an_idle_http2_connection_is_closed() {
    let limits = Limits { idle_time: Duration::from_millis(100), ..Limits::default() };
    let house = House::limited(limits).await;
    let stream = TcpStream::connect(house.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
            .await
            .unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::get(format!("http://{}/healthz", house.address));
    ask(&mut sender, request, "").await;
    tokio::time::timeout(super::raw::PATIENCE, connection).await.unwrap().unwrap().unwrap();
}

/// A folder with `cert.pem` and `key.pem` for localhost.
pub(super) struct Pair {
    folder: TempDir,
    certificate: rustls::pki_types::CertificateDer<'static>,
}

impl Pair {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(folder.path().join("cert.pem"), cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), signing_key.serialize_pem()).unwrap();
        Self { folder, certificate: cert.der().clone() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn tls(&self) -> Tls {
        Tls::from_files(&self.path("cert.pem"), &self.path("key.pem")).unwrap()
    }

    pub(super) async fn connect(&self, house: &House, protocol: &[u8]) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TcpStream::connect(house.address).await.unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }
}

#[tokio::test]
async fn both_versions_over_tls() {
    let pair = Pair::new();
    let house = House::build(Plan { tls: Some(pair.tls()), ..Plan::default() }).await;

    let stream = pair.connect(&house, b"h2").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let mut sender = http2(stream).await;
    let (status, _) =
        ask(&mut sender, Request::get("https://localhost/api/openapi.json"), "").await;
    assert_eq!(status, 200);

    let mut stream = pair.connect(&house, b"http/1.1").await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    assert_eq!(Answer::parse(&bytes).status, 200);
}

#[tokio::test]
async fn plain_http_to_a_tls_port_and_silence_are_closed() {
    let pair = Pair::new();
    let limits = Limits { handshake_time: Duration::from_millis(100), ..Limits::default() };
    let house = House::build(Plan { tls: Some(pair.tls()), limits, ..Plan::default() }).await;
    for bytes in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], b""] {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let answer = read_to_end(&mut stream).await;
        assert!(!answer.starts_with(b"HTTP/"));
    }
    let stream = pair.connect(&house, b"h2").await;
    let mut sender = http2(stream).await;
    let (status, _) = ask(&mut sender, Request::get("https://localhost/healthz"), "").await;
    assert_eq!(status, 200, "the others are still served");
}

#[test]
fn files_that_cannot_serve_say_why_and_what_to_do() {
    let (pair, other) = (Pair::new(), Pair::new());
    let (certificate, key) = (pair.path("cert.pem"), pair.path("key.pem"));
    let (missing, empty, broken) = (pair.path("no.pem"), pair.path("0.pem"), pair.path("b.pem"));
    fs::write(&empty, "nothing of use").unwrap();
    fs::write(&broken, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n").unwrap();
    let refused = |certificate: &Path, key: &Path| Tls::from_files(certificate, key).unwrap_err();

    let error = refused(&missing, &key);
    assert!(matches!(&error, TlsError::Unreadable { path, .. } if *path == missing), "{error}");
    let error = refused(&certificate, &missing);
    assert!(matches!(&error, TlsError::Unreadable { path, .. } if *path == missing), "{error}");
    let error = refused(&empty, &key);
    assert!(matches!(&error, TlsError::NoCertificate { path } if *path == empty), "{error}");
    let error = refused(&key, &key);
    assert!(matches!(&error, TlsError::NoCertificate { .. }), "the key twice: {error}");
    let error = refused(&certificate, &certificate);
    assert!(matches!(&error, TlsError::NoKey { .. }), "the certificate twice: {error}");
    let error = refused(&certificate, &broken);
    assert!(matches!(&error, TlsError::NoKey { path } if *path == broken), "{error}");
    assert!(!error.to_string().contains("c2VjcmV0"));
    let error = refused(&certificate, &other.path("key.pem"));
    assert!(matches!(error, TlsError::Mismatch { .. }), "{error}");
    assert!(error.to_string().contains("does not belong"));
}
