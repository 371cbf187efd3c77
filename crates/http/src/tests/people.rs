//! Whoever calls: somebody with a session, somebody with a token.

use std::net::SocketAddr;

use mainstay_accounts::{Caller, InviteAsk, Role, Scope, SignedIn, Source, TokenAsk};
use mainstay_base::Id;

use super::house::House;
use super::raw::{Answer, request};

pub(super) const PASSWORD: &str = "correct horse battery";
pub(super) const ROOT: &str = "root@example.com";

/// Somebody who is signed in.
#[derive(Debug, Clone)]
pub(super) struct Person {
    pub(super) caller: Caller,
    pub(super) session: String,
    address: SocketAddr,
    origin: String,
}

impl House {
    /// The first admin, by the link.
    pub(super) async fn admin(&self) -> Person {
        let token = self.accounts.setup_token().await.unwrap().expect("there is no admin yet");
        let made = self.accounts.set_up(&token.reveal(), ROOT, PASSWORD, Source::default()).await;
        self.person(made.unwrap())
    }

    /// Another user, by an invite of the admin's.
    pub(super) async fn user(&self, admin: &Person, email: &str, role: Role) -> Person {
        let token = self.invite(admin, email, role).await;
        let made = self.accounts.accept_invite(&token, PASSWORD, Source::default()).await;
        self.person(made.unwrap())
    }

    /// The token of a new invite.
    pub(super) async fn invite(&self, admin: &Person, email: &str, role: Role) -> String {
        let ask = InviteAsk { email: email.parse().unwrap(), role, access_request_id: None };
        let invited = self.accounts.invite(&admin.caller, ask, "", Source::default()).await;
        invited.unwrap().link.split_once('#').unwrap().1.to_owned()
    }

    /// An API token.
    pub(super) async fn token(&self, owner: &Person, scope: Scope) -> String {
        let ask = TokenAsk { name: "test".to_owned(), scope, lives: None };
        let made = self.accounts.create_token(&owner.caller, ask, Source::default()).await;
        made.unwrap().0.reveal()
    }

    fn person(&self, signed_in: SignedIn) -> Person {
        Person {
            caller: signed_in.caller,
            session: signed_in.token.reveal(),
            address: self.address,
            origin: self.origin.clone(),
        }
    }
}

impl Person {
    pub(super) fn id(&self) -> Id {
        self.caller.user.id
    }

    /// The headers that a browser sends from our own page.
    pub(super) fn cookie(&self) -> String {
        format!("Cookie: session={}\r\nOrigin: {}\r\n", self.session, self.origin)
    }

    pub(super) async fn get(&self, target: &str) -> Answer {
        request(self.address, "GET", target, &self.cookie(), "").await
    }

    pub(super) async fn send(&self, method: &str, target: &str, body: &str) -> Answer {
        let headers = format!("{}Content-Type: application/json\r\n", self.cookie());
        request(self.address, method, target, &headers, body).await
    }
}

pub(super) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}
