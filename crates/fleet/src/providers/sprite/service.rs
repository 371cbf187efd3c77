//! How the agent runs on a sprite. Pure.

use mainstay_base::Secret;
use serde_json::{Value, json};

use super::settings::{AGENT_PORT, SpriteSettings};
use crate::providers::name::MachineName;

/// What the service is called.
pub(super) const SERVICE: &str = "mainstay-agent";

/// The token goes into a file, so that no list of processes shows it for longer than a moment.
const SCRIPT: &str = "umask 077 && printf %s \"$1\" > \"$HOME/.mainstay-agent-token\" && \
     exec mainstay agent --listen 0.0.0.0:\"$4\" --token-file \"$HOME/.mainstay-agent-token\" \
     --worker \"$2\" --generation \"$3\"";

/// The definition of the service that runs a machine's agent.
pub(super) fn definition(
    name: &MachineName,
    settings: &SpriteSettings,
    token: &Secret<String>,
) -> Value {
    let (worker, generation) = match name.order() {
        Some((worker, generation)) => (worker.to_string(), generation.to_string()),
        None => (String::new(), String::new()),
    };
    let script = match &settings.install {
        Some(install) => {
            format!("command -v mainstay >/dev/null || {{ {install}; }} && {SCRIPT}")
        }
        None => SCRIPT.to_owned(),
    };
    let port = AGENT_PORT.to_string();
    json!({
        "cmd": "sh",
        "args": ["-c", script, "sh", token.expose(), worker, generation, port],
        "needs": [],
        "http_port": AGENT_PORT,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_to_the_shell_is_never_part_of_its_script() {
        let url = "https://api.sprites.dev".parse().unwrap();
        let settings = SpriteSettings::new(url, Secret::new("t".to_owned()));
        let worker = "01a1e102-8087-7707-8707-070707070707";
        let name = MachineName::of(worker.parse().unwrap(), 3);
        let token = Secret::new("agent'; rm -rf /".to_owned());
        let made = definition(&name, &settings, &token);
        let args: Vec<&str> =
            made["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(args[3..], ["agent'; rm -rf /", worker, "3", "8080"]);
        assert!(!args[1].contains("rm -rf"), "{}", args[1]);
        assert_eq!(made["http_port"], 8080);
    }
}
