//! What must be given before a poller starts: each is a test that must not compile, beside one that does.

/// ```
/// # use mainstay_poller::{Context, Handle, Outcome, Span, StartError};
/// fn start(ctx: &Context<()>) -> Result<Handle, StartError> {
///     ctx.poll(async || ()).every(1.s()).within(1.s()).handle(|_| Outcome::Continue)
/// }
/// ```
pub fn with_all_of_them_it_starts() {}

/// ```compile_fail,E0599
/// # use mainstay_poller::{Context, Handle, Outcome, Span, StartError};
/// fn start(ctx: &Context<()>) -> Result<Handle, StartError> {
///     ctx.poll(async || ()).within(1.s()).handle(|_| Outcome::Continue)
/// }
/// ```
pub fn the_interval_is_required() {}

/// ```compile_fail,E0599
/// # use mainstay_poller::{Context, Handle, Outcome, Span, StartError};
/// fn start(ctx: &Context<()>) -> Result<Handle, StartError> {
///     ctx.poll(async || ()).every(1.s()).handle(|_| Outcome::Continue)
/// }
/// ```
pub fn the_timeout_is_required() {}

/// ```compile_fail,E0308
/// # use mainstay_poller::{Context, Handle, Outcome, Span, StartError};
/// fn start(ctx: &Context<()>) -> Result<Handle, StartError> {
///     ctx.poll(async || ()).every(1.s()).within(1.s())
/// }
/// ```
pub fn the_handler_is_required() {}

/// ```compile_fail,E0061
/// # use mainstay_poller::{Context, Handle, Outcome, Span, StartError};
/// fn start(ctx: &Context<()>) -> Result<Handle, StartError> {
///     ctx.poll().every(1.s()).within(1.s()).handle(|_| Outcome::Continue)
/// }
/// ```
pub fn the_poll_is_required() {}
