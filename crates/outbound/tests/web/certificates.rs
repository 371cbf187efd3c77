//! Whom an encrypted call trusts, and what it says about those it does not.

use std::path::PathBuf;
use std::sync::Arc;

use mainstay_outbound::{Web, WebError};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;

use crate::server::{Peer, Server, ok};
use crate::{failed, fetch, get, options};

/// An authority, and the file that says so.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    fn new() -> Self {
        Self::named("one")
    }

    fn named(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn web(&self) -> Web {
        let mut options = options();
        options.ca_file = Some(self.file());
        Web::new(&options).unwrap()
    }

    /// A server with a certificate of this authority.
    async fn server(&self, change: impl FnOnce(&mut CertificateParams)) -> Server {
        let mut params = CertificateParams::new(vec!["good.example".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        encrypted(config(certificate.der().clone(), &key)).await
    }
}

fn config(certificate: CertificateDer<'static>, key: &KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap()
}

async fn encrypted(config: ServerConfig) -> Server {
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Server::start(move |mut peer| {
        let acceptor = acceptor.clone();
        async move {
            let plain = std::mem::replace(&mut peer.stream, Box::new(tokio::io::empty()));
            if let Ok(stream) = acceptor.accept(plain).await {
                peer.stream = Box::new(stream);
                answer_all(peer).await;
            }
        }
    })
    .await
}

async fn answer_all(mut peer: Peer) {
    while peer.question().await.is_some() {
        peer.say(ok("well")).await;
    }
}

fn url(server: &Server) -> String {
    format!("https://good.example:{}/", server.port)
}

#[tokio::test]
async fn who_is_vouched_for_by_the_own_authority_is_trusted_and_kept() {
    let authority = Authority::new();
    let (server, web) = (authority.server(|_| {}).await, authority.web());
    for _ in 0..3 {
        assert_eq!(fetch(&web, get(&url(&server))).await.unwrap().body, "well");
    }
    assert_eq!(server.connections(), 1);
    assert!(server.heads()[0].contains(&format!("host: good.example:{}\r\n", server.port)));
}

#[tokio::test]
async fn a_certificate_for_an_address_is_good_for_the_address() {
    let authority = Authority::new();
    let names = vec!["127.0.0.1".to_owned()];
    let server = authority.server(|params| *params = CertificateParams::new(names).unwrap()).await;
    let url = format!("https://127.0.0.1:{}/", server.port);
    assert_eq!(fetch(&authority.web(), get(&url)).await.unwrap().body, "well");
}

#[tokio::test]
async fn each_fault_of_a_certificate_is_told_apart() {
    let authority = Authority::new();
    let web = authority.web();
    let expired = authority.server(|params| params.not_after = date_time_ymd(2020, 1, 1)).await;
    let early = authority.server(|params| params.not_before = date_time_ymd(2090, 1, 1)).await;
    let other = vec!["other.example".to_owned()];
    let wrong = authority.server(|params| *params = CertificateParams::new(other).unwrap()).await;
    let unknown = Authority::named("two").server(|_| {}).await;
    let forged = Authority::new().server(|_| {}).await;
    for (server, told) in [
        (expired, "has expired"),
        (early, "is not valid yet"),
        (wrong, "is for another name"),
        (unknown, "issued by nobody that Mainstay trusts"),
        (forged, "not signed by the issuer that it names"),
    ] {
        let (kind, message) = failed(fetch(&web, get(&url(&server))).await);
        assert_eq!(kind, "tls");
        assert!(message.contains(told), "{message}");
        assert!(!message.contains("other.example"), "{message}");
        assert_eq!(server.heads(), Vec::<String>::new(), "nothing was said");
    }
}

#[tokio::test]
async fn a_certificate_that_signed_itself_is_not_trusted() {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["good.example".to_owned()]).unwrap();
    for is_ca in [IsCa::NoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        params.is_ca = is_ca;
        let certificate = params.self_signed(&key).unwrap();
        let server = encrypted(config(certificate.der().clone(), &key)).await;
        let web = Web::new(&options()).unwrap();
        let (kind, message) = failed(fetch(&web, get(&url(&server))).await);
        assert_eq!(kind, "tls");
        assert!(message.contains("outbound.ca_file"), "{message}");
    }
}

#[tokio::test]
async fn a_server_that_wants_a_certificate_of_ours_is_told() {
    let authority = Authority::new();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.issuer.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["good.example".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &authority.issuer).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(key.serialize_der().into()),
        )
        .unwrap();
    let server = encrypted(config).await;
    let (kind, message) = failed(fetch(&authority.web(), get(&url(&server))).await);
    assert_eq!(kind, "tls");
    assert!(message.contains("asks for a certificate"), "{message}");
}

#[tokio::test]
async fn what_speaks_no_tls_is_told() {
    let web = Web::new(&options()).unwrap();
    let plain = Server::start(|mut peer| async move {
        peer.say(ok("well")).await;
        peer.until_hung_up().await;
    })
    .await;
    let (kind, message) = failed(fetch(&web, get(&url(&plain))).await);
    assert_eq!(kind, "tls");
    assert!(message.contains("does not speak TLS"), "{message}");
    let silent = Server::start(|_| async {}).await;
    let (kind, message) = failed(fetch(&web, get(&url(&silent))).await);
    assert_eq!(kind, "tls", "{message}");
}

#[tokio::test]
async fn what_speaks_tls_only_is_told() {
    let authority = Authority::new();
    let server = authority.server(|_| {}).await;
    let url = format!("http://good.example:{}/", server.port);
    let (kind, message) = failed(fetch(&authority.web(), get(&url)).await);
    assert_eq!(kind, "bad_body", "{message}");
}

#[tokio::test]
async fn a_file_that_is_not_there_stops_the_start() {
    let mut options = options();
    options.ca_file = Some("no/such/file.pem".into());
    let refused = Web::new(&options).unwrap_err();
    assert!(matches!(refused, WebError::CaFile { .. }), "{refused}");
    assert!(refused.to_string().contains("no/such/file.pem"), "{refused}");
}
