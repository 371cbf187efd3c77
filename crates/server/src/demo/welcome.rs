//! The account of the demo, and what is printed when it plays.

use mainstay_accounts::{Accounts, Email, Token};
use mainstay_base::{Rng as _, Secret, SystemRng};

use super::Play;

/// Who the stranger is.
const EMAIL: &str = "demo@example.com";
/// Bytes of chance in the password.
const PASSWORD_BYTES: usize = 10;

/// How the stranger comes in.
pub(super) struct Welcome {
    link: Token,
    password: Secret<String>,
}

impl Welcome {
    /// Makes the account, and a link that signs in once.
    pub(super) async fn prepare(accounts: &Accounts) -> anyhow::Result<Self> {
        let email: Email = EMAIL.parse()?;
        let password = password();
        accounts.create_admin(email.clone(), password.expose()).await?;
        let link = accounts.entry_token(&email).await?;
        Ok(Self { link, password })
    }

    /// What is printed.
    pub(super) fn text(&self, site: &str, play: &Play) -> String {
        let (link, password) = (self.link.reveal(), self.password.expose());
        let seed = play.story.seed;
        let pace = match play.pace.speed {
            0 => "The story stands still.".to_owned(),
            1 => "After about 20 seconds the shared database slows: watch the page Now.".to_owned(),
            speed => format!("The story goes {speed} times as fast as usual."),
        };
        format!(
            "Mainstay with a simulated company of 14 services, on this machine only.\n\n  \
             {site}/login#{link}\n\n\
             The link signs you in once. After that: {EMAIL}, password {password}\n\
             {pace}\n\
             Seed {seed}. Ctrl-C ends the demo, and nothing of it stays.\n"
        )
    }
}

fn password() -> Secret<String> {
    let mut bytes = [0_u8; PASSWORD_BYTES];
    SystemRng.fill(&mut bytes);
    Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
