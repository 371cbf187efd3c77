//! A place to configure the real binary from.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::request;
use crate::people::{PASSWORD, post, set_up, sign_in, signed};
use crate::process::{Server, mainstay};

/// A folder to work in, and a server with a token in it.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) server: Server,
    session: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::on(None)
    }

    pub(crate) fn on(database: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = mainstay(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("MAINSTAY_POLL_CYCLE_MS", "50");
        if let Some(database) = database {
            command.args(["--database", database]);
        }
        let server = Server::spawn(command);
        let session = signed(&server.address, &set_up(&server));
        let place = Self { folder, server, session };
        let token = place.token("write");
        place.write("token.txt", &format!("{token}\n"));
        place
    }

    pub(crate) fn token(&self, scope: &str) -> String {
        let ask = json!({"name": scope, "scope": scope});
        let made = post(&self.server.address, "/api/account/tokens", &self.session, &ask);
        made.json()["token"].as_str().unwrap().to_owned()
    }

    /// The token of another editor.
    pub(crate) fn token_of_another(&self) -> String {
        let address = &self.server.address;
        let ask = json!({"email": "ada@example.com", "role": "editor"});
        let invited = post(address, "/api/admin/invites", &self.session, &ask).json();
        let token = invited["link"].as_str().unwrap().split_once('#').unwrap().1;
        let accepted = json!({"token": token, "password": PASSWORD});
        assert_eq!(post(address, "/api/invites/accept", "", &accepted).status, 200);
        let session = signed(address, &sign_in(address, "ada@example.com", PASSWORD));
        let ask = json!({"name": "write", "scope": "write"});
        let made = post(address, "/api/account/tokens", &session, &ask);
        made.json()["token"].as_str().unwrap().to_owned()
    }

    /// What a route shows.
    pub(crate) fn shown(&self, path: &str) -> Value {
        let (address, session) = (&self.server.address, &self.session);
        request(address, "GET", path, session).json()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn services(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        self.services_with(arguments, &[])
    }

    pub(crate) fn services_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> (Option<i32>, String, String) {
        let server = format!("http://{}", self.server.address);
        let mut command = mainstay(self.folder.path());
        command.arg("services").args(arguments).args(["--server", &server]);
        command.args(["--token-file", "token.txt"]).envs(variables.iter().copied());
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    }

    /// A command that must succeed.
    pub(crate) fn well(&self, arguments: &[&str]) -> String {
        let (code, out, error) = self.services(arguments);
        assert_eq!((code, error.as_str()), (Some(0), ""), "{arguments:?}: {out}");
        out
    }
}
