//! The clock of a story that waits for its cues, so that a test looks for as long as its machine needs.
//!
//! A cue is a line of standard input: the second up to which the story is told, counted as `--start-at`
//! does. Up to there it takes its time, as without cues; the end of the input lets it go on by itself.

use std::io::{self, BufRead, BufReader, Read as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_base::{Clock, Moment, Timestamp};

/// More than any second of a story has digits.
const LONGEST_LINE: u64 = 32;

/// Goes as the clock behind it does, but never beyond the last cue.
pub(super) struct CuedClock {
    clock: Arc<dyn Clock>,
    start: Duration,
    hands: Mutex<Hands>,
}

#[derive(Clone, Copy)]
struct Hands {
    /// What was told since the start.
    told: Duration,
    /// When that was.
    looked: Moment,
    /// How much may be told; `None` when nobody gives cues any more.
    until: Option<Duration>,
}

/// What is read of the input.
#[derive(Debug, PartialEq)]
enum Line {
    Cue(Duration),
    Garbage,
    End,
}

/// A clock that is cued by standard input from now on, of a story that starts at `start`.
pub(super) fn by_stdin(clock: Arc<dyn Clock>, start: Duration) -> anyhow::Result<Arc<CuedClock>> {
    let cued = Arc::new(CuedClock::new(clock, start));
    let obeying = Arc::clone(&cued);
    // Nobody waits for it at the end: whoever gives the cues may never say more.
    thread::Builder::new()
        .name("cues".to_owned())
        .spawn(move || obeying.obey(BufReader::new(io::stdin())))
        .context("the cues can't be read; check the limits on threads")?;
    Ok(cued)
}

impl CuedClock {
    fn new(clock: Arc<dyn Clock>, start: Duration) -> Self {
        let hands =
            Hands { told: Duration::ZERO, looked: clock.moment(), until: Some(Duration::ZERO) };
        Self { clock, start, hands: Mutex::new(hands) }
    }

    /// Follows every line until the input ends.
    fn obey(&self, mut input: impl BufRead) {
        loop {
            match next(&mut input) {
                Ok(Line::Cue(second)) => self.tell_until(Some(second.saturating_sub(self.start))),
                Ok(Line::Garbage) => tracing::error!("a cue is a line with a number of seconds"),
                Ok(Line::End) => break,
                Err(error) => {
                    tracing::error!(%error, "the cues can't be read any more");
                    break;
                }
            }
        }
        self.tell_until(None);
    }

    fn tell_until(&self, until: Option<Duration>) {
        self.look().until = until;
    }

    /// Moves the hands to now. What is later than a new cue was told already, and stays.
    fn look(&self) -> MutexGuard<'_, Hands> {
        let mut hands = self.hands.lock().unwrap_or_else(PoisonError::into_inner);
        // Read with the hands held: another look must not move them on meanwhile.
        let now = self.clock.moment();
        let by_clock = hands.told.saturating_add(now.since(hands.looked));
        let allowed = hands.until.map_or(by_clock, |until| by_clock.min(until));
        hands.told = hands.told.max(allowed);
        hands.looked = now;
        hands
    }
}

impl Clock for CuedClock {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(self.look().told)
    }
}

fn next(input: &mut impl BufRead) -> io::Result<Line> {
    let mut line = Vec::new();
    input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(Line::End);
    }
    if line.last() != Some(&b'\n') {
        // Either it is too long, or the input ends in the middle of it.
        input.skip_until(b'\n')?;
        return Ok(Line::Garbage);
    }
    let second = std::str::from_utf8(&line).ok().and_then(|text| text.trim().parse().ok());
    Ok(second.map_or(Line::Garbage, |second| Line::Cue(Duration::from_secs(second))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_testkit::FakeClock;

    fn from(start: u64) -> (Arc<FakeClock>, CuedClock) {
        let clock = Arc::new(FakeClock::new());
        let behind: Arc<dyn Clock> = Arc::<FakeClock>::clone(&clock);
        (clock, CuedClock::new(behind, Duration::from_secs(start)))
    }

    fn told(cued: &CuedClock) -> u64 {
        cued.moment().since(Moment::from_origin(Duration::ZERO)).as_secs()
    }

    fn cue(cued: &CuedClock, second: u64) {
        let until = Duration::from_secs(second).saturating_sub(cued.start);
        cued.tell_until(Some(until));
    }

    #[test]
    fn it_stands_still_until_its_cue_and_takes_its_time_up_to_it() {
        let (clock, cued) = from(0);
        clock.advance(Duration::from_secs(100));
        assert_eq!(told(&cued), 0);
        cue(&cued, 20);
        assert_eq!(told(&cued), 0, "it does not jump");
        clock.advance(Duration::from_secs(5));
        assert_eq!(told(&cued), 5);
        clock.advance(Duration::from_secs(100));
        assert_eq!(told(&cued), 20);
        // Nobody has to look for the time to stand still.
        clock.advance(Duration::from_secs(100));
        cue(&cued, 40);
        assert_eq!(told(&cued), 20);
        clock.advance(Duration::from_secs(7));
        assert_eq!(told(&cued), 27);
    }

    #[test]
    fn it_counts_from_where_the_story_starts_and_never_goes_back() {
        let (clock, cued) = from(70);
        cue(&cued, 80);
        clock.advance(Duration::from_secs(100));
        assert_eq!(told(&cued), 10);
        for early in [75, 3] {
            cue(&cued, early);
            clock.advance(Duration::from_secs(100));
            assert_eq!(told(&cued), 10, "{early}");
        }
    }

    #[test]
    fn it_goes_on_by_itself_when_the_input_ends() {
        let (clock, cued) = from(0);
        cued.obey("20\n".as_bytes());
        assert_eq!(told(&cued), 0);
        clock.advance(Duration::from_secs(100));
        assert_eq!(told(&cued), 100);
    }

    #[test]
    fn what_is_no_cue_is_passed_over() {
        let long = "9".repeat(50);
        let text = format!("1\nx\n-2\n{long}\n\n 3 \r\n{}4\n5\n\u{fe}\n6", "x".repeat(32));
        let (mut input, mut cues, mut garbage) = (text.as_bytes(), Vec::new(), 0);
        loop {
            match next(&mut input).unwrap() {
                Line::End => break,
                Line::Cue(second) => cues.push(second.as_secs()),
                Line::Garbage => garbage += 1,
            }
        }
        assert_eq!((cues.as_slice(), garbage), ([1, 3, 5].as_slice(), 7));
    }

    #[test]
    fn an_input_that_breaks_is_as_good_as_ended() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
        let (clock, cued) = from(0);
        cued.obey(BufReader::new(Broken));
        clock.advance(Duration::from_secs(9));
        assert_eq!(told(&cued), 9);
    }
}
