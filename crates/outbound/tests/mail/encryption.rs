//! When a conversation is encrypted, and that nothing is said in the clear where it must be.

use std::path::Path;

use mainstay_outbound::MailConfig;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;

use crate::server::Server;
use crate::{config, reason, start};

/// An authority, and a certificate of it for `localhost`, as files.
struct Papers {
    folder: TempDir,
}

impl Papers {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let server = server.signed_by(&key, &authority).unwrap();
        let both = format!("{}{}", server.pem(), key.serialize_pem());
        std::fs::write(folder.path().join("server.pem"), both).unwrap();
        std::fs::write(folder.path().join("authority.pem"), authority.pem()).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn trusted(&self, address: &str) -> MailConfig {
        let mut config = config(address);
        config.ca_file = Some(Path::new(&self.path("authority.pem")).to_owned());
        config
    }
}

async fn server(papers: &Papers, options: &[&str]) -> Server {
    let certificate = papers.path("server.pem");
    let mut all = vec!["--certificate", certificate.as_str()];
    all.extend_from_slice(options);
    Server::start(&all).await
}

#[tokio::test]
async fn starttls_comes_before_the_login_and_the_mail() {
    let papers = Papers::new();
    let mut server = server(&papers, &["--starttls", "--login", "me:hunter2"]).await;
    let address = format!("smtp://me:hunter2@localhost:{}?tls=starttls", server.port);
    start(&papers.trusted(&address)).send("ada@example.com").await.unwrap();
    let mail = server.next_of("mail").await;
    assert_eq!((&mail["encrypted"], &mail["user"]), (&true.into(), &"me".into()));
}

#[tokio::test]
async fn smtps_is_encrypted_from_the_first_byte() {
    let papers = Papers::new();
    let mut server = server(&papers, &["--implicit"]).await;
    let post = start(&papers.trusted(&format!("smtps://localhost:{}", server.port)));
    post.send("ada@example.com").await.unwrap();
    assert_eq!(server.next_of("mail").await["headers"]["Subject"], "Hello");
}

#[tokio::test]
async fn where_starttls_is_not_offered_nothing_is_said() {
    let server = Server::start(&["--login", "me:hunter2"]).await;
    let address = format!("smtp://me:hunter2@localhost:{}?tls=starttls", server.port);
    let refused = start(&config(&address)).send("ada@example.com").await;
    assert_eq!(reason(refused), "no_starttls");
    assert_eq!(server.rest().await, Vec::<serde_json::Value>::new());
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_ends_the_conversation() {
    let papers = Papers::new();
    for (option, address) in [
        ("--starttls", "smtp://localhost:{port}?tls=starttls"),
        ("--implicit", "smtps://localhost:{port}"),
    ] {
        let server = server(&papers, &[option]).await;
        let address = address.replace("{port}", &server.port.to_string());
        let refused = start(&config(&address)).send("ada@example.com").await;
        assert_eq!(reason(refused), "unreachable");
        assert_eq!(server.rest().await, Vec::<serde_json::Value>::new());
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_ends_the_conversation() {
    let papers = Papers::new();
    for (option, address) in [
        ("--starttls", "smtp://127.0.0.1:{port}?tls=starttls"),
        ("--implicit", "smtps://127.0.0.1:{port}"),
    ] {
        let server = server(&papers, &[option]).await;
        let address = address.replace("{port}", &server.port.to_string());
        let refused = start(&papers.trusted(&address)).send("ada@example.com").await;
        assert_eq!(reason(refused), "unreachable");
        assert_eq!(server.rest().await, Vec::<serde_json::Value>::new());
    }
}
