//! All sprites of an organisation, and what can be asked of them.

use std::collections::BTreeMap;

use mainstay_base::{Moment, Timestamp};
use serde_json::{Value, json};

use super::server::SpriteOptions;
use super::sprite::{Service, Sprite, Status};
use super::switches::SpriteSwitches;
use crate::agent::Agent;
use crate::door::{Coming, Question, Reply};

/// The most sprites.
const MAX_SPRITES: usize = 10_000;
/// The most in one page of a list.
const MAX_PAGE: usize = 50;

/// All sprites.
#[derive(Debug)]
pub(crate) struct Org {
    pub(crate) options: SpriteOptions,
    pub(crate) switches: SpriteSwitches,
    pub(crate) sprites: BTreeMap<String, Sprite>,
    pub(crate) asked: Vec<Question>,
    made: u64,
}

/// The moment of a question, by both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) wall: Timestamp,
    pub(crate) steady: Moment,
}

impl Org {
    pub(crate) fn new(options: SpriteOptions) -> Self {
        let (switches, sprites) = (SpriteSwitches::default(), BTreeMap::new());
        Self { options, switches, sprites, asked: Vec::new(), made: 0 }
    }

    /// Answers everything but what makes a sprite, which needs an address first.
    pub(crate) fn answer(&mut self, question: &Question, now: Now) -> Reply {
        let parts: Vec<&str> = question.path.iter().map(String::as_str).collect();
        match (question.method.as_str(), parts.as_slice()) {
            ("GET", ["v1", "sprites"]) => self.list(question, now),
            ("GET", ["v1", "sprites", name]) => self.get(name, now),
            ("PUT", ["v1", "sprites", name]) => self.update(name, question, now),
            ("DELETE", ["v1", "sprites", name]) => match self.sprites.remove(*name) {
                Some(_) => Reply { headers: Vec::new(), ..Reply::text(204, "") },
                None => missing(),
            },
            (method, ["v1", "sprites", name, "services", service @ ..]) => {
                self.service(method, name, service, question, now)
            }
            _ => error(404, "not_found", "there is nothing here"),
        }
    }

    /// Why no sprite can be made of this.
    pub(crate) fn refuse_create(&self, question: &Question) -> Option<Reply> {
        let name = name_of(question);
        if name.is_empty() || name.len() > 63 {
            return Some(error(400, "invalid_request", "name is required, of 1 to 63 characters"));
        }
        if let Some(seconds) = self.switches.limited {
            let body = json!({
                "error": "sprite_creation_rate_limited",
                "message": "too many sprites were made in this time",
                "limit": 10,
                "window_seconds": 60,
                "retry_after_seconds": seconds,
                "current_count": 10,
                "upgrade_url": "https://sprites.example/upgrade",
            });
            let reply = Reply::json(429, &body).with("retry-after", seconds.to_string());
            let reply = reply.with("x-ratelimit-limit", "10").with("x-ratelimit-remaining", "0");
            return Some(reply.with("x-ratelimit-reset", seconds.to_string()));
        }
        if self.switches.is_full || self.sprites.len() >= MAX_SPRITES {
            let body = json!({
                "error": "concurrent_sprite_limit_exceeded",
                "message": "there are too many sprites at once",
                "limit": 3,
                "current_count": 3,
            });
            return Some(Reply::json(429, &body));
        }
        let message = format!("a sprite named {name} already exists");
        self.sprites.contains_key(&name).then(|| error(400, "invalid_request", &message))
    }

    pub(crate) fn create(&mut self, question: &Question, url: String, now: Now) -> Reply {
        self.made = self.made.saturating_add(1);
        let body = question.json();
        let auth = body.pointer("/url_settings/auth").and_then(Value::as_str);
        let name = name_of(question);
        let sprite = Sprite {
            id: format!("00000000-0000-4000-8000-{:012x}", self.made),
            name: name.clone(),
            url,
            auth: auth.unwrap_or("sprite").to_owned(),
            labels: body.get("labels").cloned().unwrap_or_else(|| json!([])),
            created_at: now.wall,
            updated_at: now.wall,
            active_at: now.steady,
            services: BTreeMap::new(),
            wakes: 0,
        };
        let reply = Reply::json(201, &sprite.json(Status::Running));
        self.sprites.insert(name, sprite);
        match self.switches.creates_lost.checked_sub(1) {
            Some(left) => {
                self.switches.creates_lost = left;
                reply.coming(Coming::Half)
            }
            None => reply,
        }
    }

    pub(crate) fn status(&self, sprite: &Sprite, now: Now) -> Status {
        sprite.status(now.steady, self.options.warm_after, self.options.cold_after)
    }

    /// Something happens on a sprite.
    pub(crate) fn touch(&mut self, name: &str, now: Now) {
        let (warm, cold) = (self.options.warm_after, self.options.cold_after);
        if let Some(sprite) = self.sprites.get_mut(name) {
            let status = sprite.status(now.steady, warm, cold);
            sprite.touch(status, now.steady);
        }
    }

    fn list(&self, question: &Question, now: Now) -> Reply {
        let prefix = question.parameter("prefix").unwrap_or_default();
        let most = question.parameter("max_results").and_then(|text| text.parse().ok());
        let most = most.unwrap_or(MAX_PAGE).clamp(1, MAX_PAGE);
        let after = question.parameter("continuation_token").unwrap_or_default();
        let mut found = self.sprites.values().filter(|sprite| {
            sprite.name.starts_with(prefix) && (after.is_empty() || sprite.name.as_str() > after)
        });
        let page: Vec<&Sprite> = found.by_ref().take(most).collect();
        let has_more = found.next().is_some();
        let next = page.last().filter(|_| has_more).map(|sprite| sprite.name.clone());
        let shown = page.iter().map(|sprite| {
            let mut shown = sprite.json(self.status(sprite, now));
            if let Some(fields) = shown.as_object_mut() {
                fields.insert("org_slug".to_owned(), json!("standin"));
                // What a list tells of a sprite is less than what the sprite tells of itself.
                fields.remove("id");
            }
            shown
        });
        let body = json!({
            "sprites": shown.collect::<Vec<_>>(),
            "has_more": has_more,
            "next_continuation_token": next,
        });
        Reply::json(200, &body)
    }

    fn get(&self, name: &str, now: Now) -> Reply {
        let found = self.sprites.get(name);
        found
            .map_or_else(missing, |sprite| Reply::json(200, &sprite.json(self.status(sprite, now))))
    }

    fn update(&mut self, name: &str, question: &Question, now: Now) -> Reply {
        let body = question.json();
        let Some(sprite) = self.sprites.get_mut(name) else { return missing() };
        if let Some(auth) = body.pointer("/url_settings/auth").and_then(Value::as_str) {
            auth.clone_into(&mut sprite.auth);
        }
        if let Some(labels) = body.get("labels") {
            sprite.labels = labels.clone();
        }
        sprite.updated_at = now.wall;
        self.get(name, now)
    }

    fn service(
        &mut self,
        method: &str,
        name: &str,
        rest: &[&str],
        question: &Question,
        now: Now,
    ) -> Reply {
        // It is the sprite itself that answers, so it has to be awake.
        self.touch(name, now);
        let is_cut = self.switches.streams_cut;
        let Some(sprite) = self.sprites.get_mut(name) else { return missing() };
        let services = &mut sprite.services;
        match (method, rest) {
            ("PUT", [service]) => {
                let definition = question.json();
                if definition.get("cmd").and_then(Value::as_str).is_none_or(str::is_empty) {
                    return error(400, "invalid_request", "cmd is required");
                }
                let agent = agent_of(&definition);
                let one = Service { definition, is_running: true, agent };
                let reply = Reply::json(200, &one.json(service));
                services.insert((*service).to_owned(), one);
                reply
            }
            ("GET", [service]) => match services.get(*service) {
                Some(one) => Reply::json(200, &one.json(service)),
                None => missing_service(),
            },
            ("DELETE", [service]) => match services.remove(*service) {
                Some(_) => Reply { headers: Vec::new(), ..Reply::text(204, "") },
                None => missing_service(),
            },
            ("POST", [service, action @ ("start" | "stop")]) => match services.get_mut(*service) {
                Some(one) => {
                    if *action == "stop" || !one.is_running {
                        one.agent.reboot();
                    }
                    one.is_running = *action == "start";
                    lines(action, is_cut)
                }
                None => missing_service(),
            },
            _ => error(404, "not_found", "there is nothing here"),
        }
    }
}

/// The agent that a service runs, by the words behind its script.
fn agent_of(definition: &Value) -> std::sync::Arc<Agent> {
    let word = |at: usize| definition.get("args")?.get(at)?.as_str();
    let generation = word(5).and_then(|text| text.parse().ok()).unwrap_or(0);
    Agent::new(word(4).unwrap_or_default(), generation, word(3).unwrap_or_default())
}

fn name_of(question: &Question) -> String {
    question.json().get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A stream of lines, as starting and stopping give it.
fn lines(action: &str, is_cut: bool) -> Reply {
    let done = if action == "start" { "started" } else { "stopped" };
    let body = format!(
        "{}\n{}\n{}\n",
        json!({ "type": "stdout", "data": "x".repeat(200), "timestamp": 1 }),
        json!({ "type": done, "timestamp": 2 }),
        json!({ "type": "complete", "timestamp": 3 }),
    );
    let headers = vec![("content-type", "application/x-ndjson".to_owned())];
    let coming = if is_cut { Coming::Half } else { Coming::AtOnce };
    Reply { status: 200, headers, body, coming }
}

pub(crate) fn missing() -> Reply {
    error(404, "not_found", "sprite not found")
}

fn missing_service() -> Reply {
    error(404, "not_found", "service not found")
}

fn error(status: u16, code: &str, message: &str) -> Reply {
    Reply::json(status, &json!({ "error": code, "message": message }))
}
