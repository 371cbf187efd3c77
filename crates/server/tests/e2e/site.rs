//! What a newcomer sees: the dashboard, the API, the probes, TLS.

use std::io::Write as _;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::{connect, get, read, request};
use crate::people::{set_up, signed};
use crate::process::{Server, mainstay};

#[test]
fn the_dashboard_opens_and_its_files_are_cached_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let session = signed(&server.address, &set_up(&server));
    let page = request(&server.address, "GET", "/", &session);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let html = page.text();
    let script = html.split("src=\"").skip(1).find_map(|rest| rest.split('"').next()).unwrap();
    let asset = request(&server.address, "GET", script, "accept-encoding: br\r\n");
    assert_eq!((asset.status, asset.header("content-encoding")), (200, Some("br")));
    assert_eq!(asset.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let headers = format!("{session}accept: text/html\r\n");
    let page = request(&server.address, "GET", "/system", &headers);
    assert_eq!(page.text(), html, "the dashboard routes by itself");
    assert_eq!(get(&server.address, "/assets/missing.js").status, 404);
    server.stop();
}

#[test]
fn the_probes_and_the_system_tell_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    assert_eq!(get(&server.address, "/healthz").status, 200);
    server.until_ready();
    let ready = get(&server.address, "/readyz");
    assert_eq!((ready.status, &ready.json()["status"]), (200, &"ready".into()));
    let session = signed(&server.address, &set_up(&server));
    let system = request(&server.address, "GET", "/api/system", &session).json();
    assert_eq!(system["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(system["database"], serde_json::json!({"kind": "sqlite", "schema_version": 18}));
    assert_eq!(system["checks"][0]["name"], "database");
    assert_eq!(system["checks"][1]["name"], "runtime");
    let openapi = get(&server.address, "/api/openapi.json");
    assert_eq!(openapi.json()["openapi"], "3.1.0");
}

#[test]
fn a_misspelt_probe_fails_although_all_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.until_ready();
    for path in ["/readyz/", "/health", "/ready", "/metrics/", "//api/system", "/API/system"] {
        for accept in ["", "accept: */*\r\n"] {
            let answer = request(&server.address, "GET", path, accept);
            assert_eq!(answer.status, 404, "{path}");
            assert_eq!(answer.json()["code"], "not_found", "{path}");
            assert_eq!(request(&server.address, "HEAD", path, accept).status, 404, "{path}");
        }
    }
}

#[test]
fn every_error_below_api_is_json_with_a_request_id_that_the_log_has_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let missing = get(&server.address, "/api/nothing/here");
    assert_eq!((missing.status, &missing.json()["code"]), (404, &"not_found".into()));
    let wrong = request(&server.address, "DELETE", "/api/system", "");
    assert_eq!((wrong.status, &wrong.json()["code"]), (405, &"method_not_allowed".into()));
    assert!(wrong.header("allow").unwrap().contains("GET"));
    let id = missing.header("x-request-id").unwrap();
    assert_eq!(missing.json()["request_id"], id);
    let logged = server.await_line(id);
    assert!(logged.contains("\"route\":\"unmatched\""), "the template, not the path: {logged}");
}

#[test]
fn off_a_terminal_every_log_line_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    get(&server.address, "/api/system");
    for line in server.log() {
        let line: serde_json::Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
        assert!(line["level"].is_string() && line["message"].is_string(), "{line}");
    }
}

#[test]
fn alone_a_foreign_host_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let text = "GET /api/system HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    let refused = crate::client::send(&server.address, text.as_bytes()).unwrap();
    assert_eq!((refused.status, &refused.json()["code"]), (421, &"unknown_host".into()));
}

#[test]
fn behind_a_public_address_metrics_are_closed_unless_they_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let public = ["--public-url", "https://mainstay.example"];
    let closed = spawn_with(folder.path(), &public, &[]);
    assert_eq!(get(&closed, "/metrics").status, 401);
    let answer = get(&closed, "/healthz");
    assert!(answer.header("strict-transport-security").is_some(), "{}", answer.head);
    let open = tempfile::tempdir().unwrap();
    let open = spawn_with(open.path(), &public, &[("MAINSTAY_METRICS_PUBLIC", "true")]);
    assert_eq!(get(&open, "/metrics").status, 200);
}

#[test]
fn tls_is_spoken_with_the_given_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.path().join("cert.pem"), issued.cert.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), issued.signing_key.serialize_pem()).unwrap();
    let tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    let server = Server::start_with(folder.path(), &tls);
    let mut roots = RootCertStore::empty();
    roots.add(issued.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, connect(&server.address));
    let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(request).unwrap();
    let answer = read(&mut stream).unwrap();
    assert_eq!(answer.status, 200);
    assert!(answer.header("strict-transport-security").is_none(), "it would bind every port");
    server.stop();
}

/// With a public address the log names that one, so the port is chosen here.
fn spawn_with(
    folder: &std::path::Path,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Listening {
    let port = mainstay_testkit::quiet_port();
    let address = format!("127.0.0.1:{port}");
    let mut command = mainstay(folder);
    command.args(["serve", "--listen", &address]).args(arguments).envs(variables.iter().copied());
    Listening { _server: Server::spawn(command), address }
}

struct Listening {
    _server: Server,
    address: String,
}

impl std::ops::Deref for Listening {
    type Target = str;

    fn deref(&self) -> &str {
        &self.address
    }
}
