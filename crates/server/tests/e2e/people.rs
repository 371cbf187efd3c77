//! People who use the real binary.

use serde_json::{Value, json};

use crate::client::{Answer, send};
use crate::process::Server;

pub(crate) const EMAIL: &str = "root@example.com";
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Posts JSON as a program does.
pub(crate) fn post(address: &str, path: &str, headers: &str, body: &Value) -> Answer {
    let body = body.to_string();
    let text = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    send(address, text.as_bytes()).unwrap()
}

/// The headers with which a browser on the site's own page sends the session along.
pub(crate) fn signed(address: &str, answer: &Answer) -> String {
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    format!("cookie: {cookie}\r\norigin: http://{address}\r\n")
}

pub(crate) fn sign_in(address: &str, email: &str, password: &str) -> Answer {
    post(address, "/api/auth/login", "", &json!({"email": email, "password": password}))
}

/// The token of the link in the log.
fn setup_token(server: &Server) -> String {
    let line = server.await_line("/setup#");
    let token = line.split_once("/setup#").unwrap().1;
    token.split(['"', ' ']).next().unwrap().to_owned()
}

pub(crate) fn set_up(server: &Server) -> Answer {
    let body = json!({"token": setup_token(server), "email": EMAIL, "password": PASSWORD});
    post(&server.address, "/api/auth/setup", "", &body)
}
