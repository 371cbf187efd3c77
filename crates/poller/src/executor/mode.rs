//! What a failure means.

/// What a failure of a poller, of a command or of the model means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The first one in time ends the run and is reported. It is noticed between commands and while
    /// the executor waits.
    #[default]
    Halt,
    /// The run goes on, and all are reported at the end.
    Record,
    /// Each is logged as a warning, and the run goes on.
    Log,
    /// They are ignored.
    Disabled,
}
