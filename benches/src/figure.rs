//! Prints figures, and takes the middle of several tries.

use std::io::{self, Write as _};

/// Prints `figure <name> <value> <unit>`.
///
/// # Errors
/// When standard output is closed.
pub fn print(name: &str, value: f64, unit: &str) -> io::Result<()> {
    writeln!(io::stdout(), "figure {name} {value:.2} {unit}")
}

/// The middle of the tries: one that was disturbed does not move it.
#[must_use]
pub fn median(mut tries: Vec<f64>) -> f64 {
    tries.sort_by(f64::total_cmp);
    tries.get(tries.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_try_does_not_move_the_middle() {
        assert!((median(vec![3.0, 1000.0, 1.0]) - 3.0).abs() < f64::EPSILON);
    }
}
