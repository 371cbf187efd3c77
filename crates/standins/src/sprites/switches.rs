//! What goes wrong.

/// What goes wrong until it is switched off. Nothing, at first.
#[derive(Debug, Clone, Default)]
pub struct SpriteSwitches {
    /// Creating is limited: try again after so many seconds.
    pub limited: Option<u64>,
    /// There are as many sprites at once as there may be.
    pub is_full: bool,
    /// This many creates are carried out, and their answer is cut.
    pub creates_lost: u32,
    /// This many questions about a sprite are answered with 404 although it is there.
    pub not_found: u32,
    /// The token is of another organisation, which has no sprites.
    pub is_elsewhere: bool,
    /// Streams of lines end in the middle.
    pub streams_cut: bool,
    /// Everything is answered with this status and this body.
    pub everything: Option<(u16, String)>,
    /// Nothing is answered.
    pub silent: bool,
}
