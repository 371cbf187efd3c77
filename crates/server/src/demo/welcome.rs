//! The account of the demo, and what is printed when it plays.

use mainstay_accounts::{Accounts, Email, Token};
use mainstay_base::{Rng as _, Secret, SystemRng};
use mainstay_standins::{Pace, Telling};

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
        let (seed, ahead) = (play.story.seed, ahead(play));
        format!(
            "Mainstay, watching a simulated company of 14 services on this machine. Open this link:\n\n  \
             {site}/login#{link}\n\n\
             It signs you in, once. After that: {EMAIL}, password {password}\n\n\
             {ahead}\n\
             Seed {seed}. Ctrl-C ends the demo, and nothing of it stays.\n"
        )
    }
}

/// What is to come, so that whoever looks knows what to look at.
fn ahead(play: &Play) -> String {
    if play.is_cued {
        return "The story waits for its cues.\n".to_owned();
    }
    let [slows, fails, over] = match play.pace {
        Pace { telling: Telling::Usual, start_ms: 0 } => [18, 50, 90],
        Pace { telling: Telling::Hurried, start_ms: 0 } => [5, 36, 77],
        Pace { telling: Telling::Held, .. } => return "The story stands still.\n".to_owned(),
        Pace { .. } => return "The story is under way.\n".to_owned(),
    };
    format!(
        "Stay on the page Now for a minute and a half:\n\n  \
         {slows:>2} s  the shared database slows, and who leans on it begins to suffer\n  \
         {fails:>2} s  11 of 14 services are in trouble, and Mainstay names the one cause\n  \
         {over:>2} s  all is well again; more incidents follow\n\n\
         Then: Graph (drag its time line back to the incident), Services, and Reports, where the call about an\n\
         earlier incident has become a report.\n"
    )
}

fn password() -> Secret<String> {
    let mut bytes = [0_u8; PASSWORD_BYTES];
    SystemRng.fill(&mut bytes);
    Secret::new(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
