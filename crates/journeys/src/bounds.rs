//! How large everything of a journey may be.

use std::time::Duration;

/// The longest file, in bytes.
pub const MAX_FILE_BYTES: usize = 256 * 1024;
/// The most nodes of a file, with everything that its anchors stand for.
pub const MAX_NODES: usize = 50_000;
/// How deep a file may be.
pub const MAX_DEPTH: usize = 32;
/// The longest name of a journey, in characters.
pub const MAX_NAME: usize = 120;
/// The longest name of a step, an event, a variable, a capture or a secret.
pub const MAX_WORD: usize = 64;
/// The most steps.
pub const MAX_STEPS: usize = 100;
/// The most events that one step needs, and the most that one `emit` tells.
pub const MAX_EVENTS_NAMED: usize = 16;
/// The most rules of a poll.
pub const MAX_RULES: usize = 50;
/// The most conditions of a rule.
pub const MAX_CONDITIONS: usize = 20;
/// The most variables.
pub const MAX_VARS: usize = 100;
/// The most captures of a step.
pub const MAX_CAPTURES: usize = 50;
/// The most headers of a request.
pub const MAX_HEADERS: usize = 32;
/// The most services that a journey touches.
pub const MAX_TOUCHES: usize = 50;
/// The most texts that a body must contain.
pub const MAX_CONTAINS: usize = 20;
/// The longest template, in bytes.
pub const MAX_TEMPLATE: usize = 64 * 1024;
/// The longest expression of a template, in bytes.
pub const MAX_EXPRESSION: usize = 512;
/// How often an expression may name a value: each may be long, and `~` puts them all into one text.
pub const MAX_EXPRESSION_NAMES: usize = 16;
/// How deep the brackets of an expression may be: a text in a list in a text grows at each of them.
pub const MAX_EXPRESSION_DEPTH: usize = 4;
/// The most letters that `trim` looks for.
pub const MAX_TRIMMED: usize = 64;
/// How many steps the evaluation of an expression may take.
pub const EXPRESSION_FUEL: u64 = 10_000;
/// The longest JSONPath, in bytes.
pub const MAX_PATH: usize = 512;
/// How often all paths together may look at the values of one answer: about a fifth of a second.
pub const MAX_LOOKS: u64 = 4_000_000;
/// How many bytes the expressions of one request, or of one reason, may go over: about a tenth of a second.
pub const MAX_FILLED: u64 = 16 * 1024 * 1024;
/// The longest text that a template makes, and the longest body that is sent, in bytes.
pub const MAX_RENDERED: usize = 256 * 1024;
/// The longest value that is captured, or taken from an answer into a template, as JSON in bytes.
pub const MAX_VALUE: usize = 64 * 1024;
/// How long all that a run captures may be together: every later step, and every poller, may use it.
pub const MAX_CAPTURED: usize = 4 * 1024 * 1024;
/// The longest value that is captured as a secret, in bytes: it is looked for in all that is recorded.
pub const MAX_SECRET: usize = 16 * 1024;
/// The most values that a run hides, its secrets and those of its captures together.
pub const MAX_HIDDEN: usize = 200;
/// How many letters a run compares with secrets beyond a few for each that it shows: about a fifth of a second.
pub const MAX_COMPARED: u64 = 4_000_000;
/// The longest answer to a step, in bytes.
pub const MAX_ANSWER: usize = 1024 * 1024;
/// The longest answer to a poll, in bytes: each poller keeps its last one.
pub const MAX_POLL_ANSWER: usize = 128 * 1024;
/// The most of an answer, a body or a value that a record keeps, in bytes.
pub const MAX_RECORDED: usize = 4 * 1024;
/// The longest message of a failure, in bytes.
pub const MAX_MESSAGE: usize = 1024;
/// The most events of a run; one more fails it.
pub const MAX_RUN_EVENTS: usize = 10_000;

/// A schedule runs no more often than this.
pub const MIN_EVERY: Duration = Duration::from_secs(10);
/// A schedule runs at least this often.
pub const MAX_EVERY: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long a whole run may take unless the journey says otherwise.
pub const DEFAULT_RUN: Duration = Duration::from_secs(10 * 60);
/// The longest that a whole run may take.
pub const MAX_RUN: Duration = Duration::from_secs(60 * 60);
/// How long a request may take unless the step says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest that a request may take.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(60);
/// A poll asks no more often than this.
pub const MIN_POLL_EVERY: Duration = Duration::from_millis(50);
/// The longest time between two polls.
pub const MAX_POLL_EVERY: Duration = Duration::from_secs(10 * 60);
/// The most transport errors in a row that a poll passes over.
pub const MAX_TOLERATED: u32 = 1_000;
/// The most polls that may be asked for.
pub const MAX_POLLS: u64 = 100_000;
