//! Who may do what: `email`, `password`, `token` and `model` (what there is) → `decide` (pure rules) →
//! `record` (all SQL) → `authenticate`, `alive`, `sign_in`, `entry`, `setup`, `own`, `invites`, `requests` with
//! `notices`, and `admin` (the flows) → `limits` → `clean_up` and [`engine`] (the loop). `cache` and
//! `seen` keep requests from waiting, `post` queues mail, whose text `seal` hides from the database,
//! and `outcome` tells the log and the metrics how each flow ended.
//!
//! Every change writes its line of the audit log in the same transaction.

mod accounts;
mod admin;
mod alive;
mod authenticate;
mod cache;
mod clean_up;
mod decide;
mod email;
pub mod engine;
mod entry;
mod error;
mod invites;
mod limits;
mod model;
mod notices;
mod outcome;
mod own;
mod password;
mod post;
mod record;
mod requests;
mod seal;
mod seen;
mod setup;
mod sign_in;
mod text;
mod token;

pub use accounts::{Accounts, Options};
pub use admin::UserChange;
pub use email::{Email, EmailError, MAX_EMAIL_BYTES};
pub use entry::Entering;
pub use error::AccountsError;
pub use invites::{InviteAsk, Invited};
pub use limits::{Limit, SlidingLimits, Verdict};
pub use model::{
    Actor, By, Caller, INVITE_TIME, Identity, InviteStatus, MAX_SESSIONS, MAX_TOKENS, Means,
    PageAsk, Part, RequestStatus, Role, SESSION_TIME, SETUP_TIME, Scope, Source, UnknownWord,
    UserStatus,
};
pub use notices::{MAX_NOTICES, NOTICE_SPAN};
pub use outcome::{ENDINGS, Ending, describe_metrics};
pub use own::{MAX_TOKEN_NAME, TokenAsk};
pub use password::{
    Busy, HashingFailed, HashingLimits, MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS,
    PasswordError,
};
pub use post::{NoPost, Post, Posted};
pub use record::access_requests::AccessRequest;
pub use record::audit::{AuditActor, AuditEntry, AuditFilter, AuditTarget};
pub use record::invites::Invite;
pub use record::sessions::Session;
pub use record::tokens::ApiToken;
pub use record::users::User;
pub use requests::{FilledForm, MAX_NAME, MAX_NOTE, REQUESTS_PER_ADDRESS, REQUESTS_PER_EMAIL};
pub use seen::SeenQueue;
pub use setup::{AdminMade, PepperCheck};
pub use sign_in::{ATTEMPT_SPAN, ATTEMPTS_PER_ACCOUNT, ATTEMPTS_PER_ADDRESS, Attempt, SignedIn};
pub use token::{API_TOKEN_PREFIX, MIN_PEPPER_BYTES, Pepper, Token, WeakPepper};
