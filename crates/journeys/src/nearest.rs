//! The known name that was probably meant.

/// A name may differ from the meant one in one of this many characters…
const CHARACTERS_PER_MISTAKE: usize = 3;
/// …and never in more than this many.
const MAX_MISTAKES: usize = 3;
/// Longer names than this are nobody's slip, and comparing them costs time.
const MAX_COMPARED: usize = 80;

/// The closest of `known` to `name`, if it is close enough to be a slip of the pen.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.chars().nth(MAX_COMPARED).is_some() {
        return None;
    }
    let allowed = (name.chars().count() / CHARACTERS_PER_MISTAKE).clamp(1, MAX_MISTAKES);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
