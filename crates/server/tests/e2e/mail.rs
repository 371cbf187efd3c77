//! What accounts send, seen by a real mail server.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use mainstay_testkit::ClosedPort;
use serde_json::{Value, json};

use crate::client::get;
use crate::people::{EMAIL, PASSWORD, post, set_up, signed};
use crate::process::{Server, mainstay};

/// A real SMTP server on loopback that tells what it gets. It ends with this.
pub(crate) struct MailServer {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub(crate) port: u64,
}

impl MailServer {
    pub(crate) fn start() -> Self {
        let python = std::env::var_os("MAINSTAY_TEST_PYTHON")
            .expect("MAINSTAY_TEST_PYTHON names a Python with aiosmtpd: run ./scripts/test");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../outbound/tests/smtp_server.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut server = Self { child, lines, port: 0 };
        server.port = server.next()["port"].as_u64().unwrap();
        server
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    pub(crate) fn next_mail(&mut self) -> Value {
        loop {
            let told = self.next();
            if told["event"] == "mail" {
                return told;
            }
        }
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_invite_and_a_request_for_access_are_mailed_to_whom_they_concern() {
    let mut mail = MailServer::start();
    let folder = tempfile::tempdir().unwrap();
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("MAINSTAY_MAIL_SERVER", format!("smtp://127.0.0.1:{}", mail.port))
        .env("MAINSTAY_MAIL_FROM", "mainstay@example.com");
    let server = Server::spawn(command);
    let session = signed(&server.address, &set_up(&server));

    let body = json!({"email": "Ada@Example.com", "role": "editor"});
    let invited = post(&server.address, "/api/admin/invites", &session, &body);
    assert_eq!((invited.status, &invited.json()["mailed"]), (201, &json!(true)));
    let link = invited.json()["link"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&format!("http://{}/invite#", server.address)), "{link}");
    let sent = mail.next_mail();
    assert_eq!(sent["recipients"], json!(["ada@example.com"]));
    assert!(sent["text"].as_str().unwrap().contains(&format!("\n{link}\n")), "{sent}");
    let token = link.split_once('#').unwrap().1;
    let accepted = json!({"token": token, "password": PASSWORD});
    assert_eq!(post(&server.address, "/api/invites/accept", "", &accepted).status, 200);

    let form = get(&server.address, "/api/access-requests/form").json();
    std::thread::sleep(std::time::Duration::from_millis(3100));
    let body = json!({"email": "bob@example.com", "name": "Bob", "client_ts": form["client_ts"]});
    assert_eq!(post(&server.address, "/api/access-requests", "", &body).status, 202);
    let told = mail.next_mail();
    assert_eq!(told["recipients"], json!([EMAIL]), "the admins, and not the editor");
    assert!(told["text"].as_str().unwrap().contains("bob@example.com asks for access"), "{told}");
    let log = server.log().join("\n");
    assert!(!log.contains(token) && !log.contains("ada@example.com"), "{log}");
    server.stop();
}

#[test]
fn a_mail_server_that_is_away_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = ClosedPort::new();
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("MAINSTAY_MAIL_SERVER", format!("smtp://{}", nobody.address()))
        .env("MAINSTAY_MAIL_FROM", "mainstay@example.com");
    let server = Server::spawn(command);
    let session = signed(&server.address, &set_up(&server));
    let began = std::time::Instant::now();
    let body = json!({"email": "ada@example.com"});
    let invited = post(&server.address, "/api/admin/invites", &session, &body);
    assert_eq!(invited.status, 201, "the link is shown whatever the mail does");
    assert!(began.elapsed() < std::time::Duration::from_secs(5));
    server.stop();
}
