//! The API on a port of its own, and the addresses of the sprites.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::Clock;

use super::org::{Now, Org, missing};
use super::sprite::{Sprite, Status};
use super::switches::SpriteSwitches;
use crate::agent::Agent;
use crate::door::{Answering, Coming, Door, Question, Reply};

/// The most questions that are remembered.
const MAX_REMEMBERED: usize = 10_000;
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How the stand-in is.
#[derive(Debug, Clone)]
pub struct SpriteOptions {
    /// The token that it knows.
    pub token: String,
    /// After how much idle time a sprite falls asleep.
    pub warm_after: Duration,
    /// After how much idle time it loses its memory.
    pub cold_after: Duration,
}

/// The stand-in. It ends, with its sprites, when this is dropped.
#[derive(Debug)]
pub struct SpriteServer {
    door: Door,
    state: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    org: Mutex<Org>,
    /// By the ids of the sprites.
    doors: Mutex<HashMap<String, Door>>,
}

/// The address of one sprite.
struct Address {
    shared: std::sync::Weak<Shared>,
    name: String,
    id: Mutex<String>,
}

impl Default for SpriteOptions {
    fn default() -> Self {
        Self {
            token: "sprites-standin-token".to_owned(),
            warm_after: Duration::from_secs(30),
            cold_after: Duration::from_mins(5),
        }
    }
}

impl SpriteServer {
    /// Takes a free port on loopback.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start(options: SpriteOptions, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let org = Mutex::new(Org::new(options));
        let state = Arc::new(Shared { clock, org, doors: Mutex::default() });
        let who = Arc::clone(&state) as Arc<dyn Answering>;
        let door = Door::open(LOOPBACK, 0, who).await?;
        Ok(Self { door, state })
    }

    /// Where the API is.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.door.address())
    }

    /// Changes what goes wrong.
    pub fn switch(&self, change: impl FnOnce(&mut SpriteSwitches)) {
        change(&mut self.state.org().switches);
    }

    /// The questions so far, as method and path.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.state.org().asked.iter().map(Question::line).collect()
    }

    /// The questions so far.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        self.state.org().asked.clone()
    }

    /// A sprite, and what it does.
    #[must_use]
    pub fn sprite(&self, name: &str) -> Option<(Sprite, Status)> {
        let org = self.state.org();
        let sprite = org.sprites.get(name)?;
        Some((sprite.clone(), org.status(sprite, self.state.now())))
    }

    /// The agent of a service.
    #[must_use]
    pub fn agent(&self, name: &str, service: &str) -> Option<Arc<Agent>> {
        let org = self.state.org();
        Some(Arc::clone(&org.sprites.get(name)?.services.get(service)?.agent))
    }

    /// Somebody removes a sprite.
    pub fn remove(&self, name: &str) {
        self.state.org().sprites.remove(name);
    }
}

impl Shared {
    fn org(&self) -> MutexGuard<'_, Org> {
        lock(&self.org)
    }

    fn now(&self) -> Now {
        Now { wall: self.clock.now(), steady: self.clock.moment() }
    }

    async fn respond(self: Arc<Self>, question: Question) -> Reply {
        if let Some(reply) = self.refuse(&question) {
            return reply;
        }
        let is_create = question.method == "POST" && question.path == ["v1", "sprites"];
        let reply = match is_create {
            true => self.create(&question).await,
            false => self.org().answer(&question, self.now()),
        };
        self.close();
        reply
    }

    fn refuse(&self, question: &Question) -> Option<Reply> {
        let mut org = self.org();
        if org.asked.len() < MAX_REMEMBERED {
            org.asked.push(question.clone());
        }
        if org.switches.silent {
            return Some(Reply::text(200, "").coming(Coming::Never));
        }
        if let Some((status, body)) = &org.switches.everything {
            return Some(Reply::text(*status, body));
        }
        let is_of_sprite = question.path.len() > 2;
        if let Some(left) = org.switches.not_found.checked_sub(1).filter(|_| is_of_sprite) {
            org.switches.not_found = left;
            return Some(missing());
        }
        if org.switches.is_elsewhere {
            let nothing = serde_json::json!({ "sprites": [], "has_more": false });
            return Some(if is_of_sprite { missing() } else { Reply::json(200, &nothing) });
        }
        let is_known = question.bearer() == Some(org.options.token.as_str());
        let body = serde_json::json!({ "error": "unauthorized", "message": "invalid token" });
        (!is_known).then(|| Reply::json(401, &body))
    }

    async fn create(self: &Arc<Self>, question: &Question) -> Reply {
        if let Some(refused) = self.org().refuse_create(question) {
            return refused;
        }
        let name = question.json().get("name").and_then(|name| name.as_str().map(str::to_owned));
        let shared = Arc::downgrade(self);
        let name = name.unwrap_or_default();
        let address = Arc::new(Address { shared, name: name.clone(), id: Mutex::default() });
        let who = Arc::clone(&address) as Arc<dyn Answering>;
        let Ok(door) = Door::open(LOOPBACK, 0, who).await else {
            return Reply::text(503, "no address is free");
        };
        let url = format!("http://{}", door.address());
        let reply = self.org().create(question, url, self.now());
        let id = self.org().sprites.get(&name).map(|sprite| sprite.id.clone()).unwrap_or_default();
        lock(&address.id).clone_from(&id);
        lock(&self.doors).insert(id, door);
        reply
    }

    /// Closes the addresses of sprites that are no more.
    fn close(&self) {
        let org = self.org();
        lock(&self.doors).retain(|id, _| org.sprites.values().any(|sprite| sprite.id == *id));
    }
}

impl Answering for Shared {
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Reply> {
        Box::pin(self.respond(question))
    }
}

impl Answering for Address {
    /// Whoever asks here wakes the sprite.
    fn answer(self: Arc<Self>, question: Question) -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let Some(shared) = self.shared.upgrade() else { return Reply::text(404, "gone") };
            let mut org = shared.org();
            let is_there = |sprite: &Sprite| sprite.id == *lock(&self.id);
            if !org.sprites.get(&self.name).is_some_and(is_there) {
                return Reply::text(404, "sprite not found");
            }
            org.touch(&self.name, shared.now());
            let sprite = org.sprites.get(&self.name);
            let is_public = sprite.is_some_and(|sprite| sprite.auth == "public");
            if !is_public && question.bearer() != Some(org.options.token.as_str()) {
                return Reply::text(401, "authentication required");
            }
            let service =
                sprite.and_then(|sprite| sprite.services.values().find(|one| one.is_running));
            match service {
                Some(service) => service.agent.reply(&question),
                None => Reply::text(502, "no service listens"),
            }
        })
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("org", &self.org).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
