//! Shows a run as a tree that lives: for a terminal.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mainstay_base::{Clock, Moment, SystemClock};
use mainstay_journeys::report::{PollerRecord, PollerState, StepRecord, StepState};
use mainstay_journeys::{Journey, News, Observer, RunRecord};

use unicode_width::UnicodeWidthChar as _;

use super::words;
use crate::output::write_stdout;

/// What a running step turns through.
const TURNS: [&str; 4] = ["◐", "◓", "◑", "◒"];
/// The most events of a step that are shown: the last ones.
const MAX_EVENTS: usize = 6;
const MILLIS_PER_SECOND: f64 = 1_000.0;
const MILLIS_PER_TURN: f64 = 120.0;

/// The tree.
pub(super) struct Tree {
    clock: SystemClock,
    colors: bool,
    state: Mutex<State>,
}

struct State {
    title: String,
    steps: Vec<Branch>,
    began: Moment,
    /// How many lines stand on the terminal.
    drawn: usize,
}

/// A step and what belongs to it.
struct Branch {
    id: String,
    state: Growth,
    line: String,
    error: Option<String>,
    events: VecDeque<String>,
    poll: Option<Watch>,
}

/// What becomes of a step.
#[derive(Clone, Copy, PartialEq)]
enum Growth {
    Waiting,
    Running(Moment),
    Passed,
    Failed,
    Skipped,
}

/// What is known of a poller.
struct Watch {
    state: Growth,
    polls: u64,
    error: Option<String>,
}

impl Tree {
    pub(super) fn new(journey: &Journey, mode: &str, colors: bool) -> Self {
        let clock = SystemClock::new();
        let began = clock.moment();
        let title = format!("{} ({mode})", journey.name);
        let steps = journey.steps.iter().map(|step| Branch::new(&step.id)).collect();
        Self { clock, colors, state: Mutex::new(State { title, steps, began, drawn: 0 }) }
    }

    /// Draws it anew, as far as it fits on the screen: what has left it can't be drawn over.
    pub(super) fn draw(&self) {
        let (rows, columns) = size();
        let mut state = self.state();
        let lines = state.window(self.clock.moment(), self.colors, rows.saturating_sub(1));
        let lines: Vec<String> = lines.iter().map(|line| fitting(line, columns)).collect();
        redraw(&mut state, &lines);
    }

    /// Draws the whole of it.
    fn draw_whole(&self) {
        let mut state = self.state();
        let lines = state.lines(self.clock.moment(), self.colors);
        redraw(&mut state, &lines);
    }

    /// Draws it for the last time, with what came of it.
    pub(super) fn end(&self, run: &RunRecord) {
        self.settle(run);
        self.draw_whole();
        let failures = run.failures.iter().map(|one| format!("  {}\n", words::failure(one)));
        let sum = format!("{}\n", words::sum(run));
        let _ = write_stdout(&failures.chain([sum]).collect::<String>());
    }

    /// What the end of the run cut off tells of no end of its own: nothing is under way any more.
    fn settle(&self, run: &RunRecord) {
        for step in &run.steps {
            self.change(&step.id, |branch| branch.end(step));
        }
        for poller in &run.pollers {
            self.change(&poller.step, |branch| branch.poll = Some(Watch::ended(poller)));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Branch)) {
        let mut state = self.state();
        if let Some(branch) = state.steps.iter_mut().find(|branch| branch.id == id) {
            change(branch);
        }
    }
}

impl Observer for Tree {
    fn tell(&self, news: &News<'_>) {
        let now = self.clock.moment();
        match news {
            News::StepBegan { step } => {
                self.change(step, |branch| branch.state = Growth::Running(now));
            }
            News::StepEnded(step) => self.change(&step.id, |branch| branch.end(step)),
            News::Event(event) => {
                let at = words::time(event.offset_ms);
                let line = words::plain(&format!("{} at {at}", event.name));
                self.change(&event.step, |branch| {
                    if branch.events.len() >= MAX_EVENTS {
                        branch.events.pop_front();
                    }
                    branch.events.push_back(line);
                });
            }
            News::PollerBegan { step } => self.change(step, |branch| {
                branch.watch(now);
            }),
            News::Polled { step, poll_count } => self.change(step, |branch| {
                let watch = branch.watch(now);
                watch.polls = *poll_count;
            }),
            News::PollerEnded { step, error } => self.change(step, |branch| {
                let watch = branch.watch(now);
                watch.state = if error.is_some() { Growth::Failed } else { Growth::Passed };
                watch.error = error.map(str::to_owned);
            }),
            _ => {}
        }
    }
}

impl Branch {
    fn new(id: &str) -> Self {
        let (id, line) = (id.to_owned(), id.to_owned());
        Self { id, state: Growth::Waiting, line, error: None, events: VecDeque::new(), poll: None }
    }

    fn end(&mut self, step: &StepRecord) {
        self.state = match step.state {
            StepState::Passed => Growth::Passed,
            StepState::Failed => Growth::Failed,
            StepState::Skipped => Growth::Skipped,
        };
        self.line = words::step(step);
        self.error.clone_from(&step.error);
    }

    fn watch(&mut self, now: Moment) -> &mut Watch {
        self.poll.get_or_insert(Watch { state: Growth::Running(now), polls: 0, error: None })
    }

    /// What hangs on it.
    fn twigs(&self, now: Moment, colors: bool) -> Vec<String> {
        let error = self.error.iter().map(|error| words::plain(error));
        let events = self.events.iter().map(|event| format!("· {event}"));
        let poll = self.poll.iter().map(|watch| {
            let polls = counted(watch.polls);
            let error = watch.error.as_ref().map(|error| format!(": {error}"));
            let text = words::plain(&format!("polling, {polls}{}", error.unwrap_or_default()));
            format!("{} {text}{}", watch.state.sign(now, colors), watch.state.running(now))
        });
        error.chain(events).chain(poll).collect()
    }
}

impl Watch {
    fn ended(poller: &PollerRecord) -> Self {
        let state = match poller.state {
            PollerState::Done | PollerState::TimedOut => Growth::Passed,
            PollerState::Stopped => Growth::Skipped,
            PollerState::Failed => Growth::Failed,
        };
        Self { state, polls: poller.poll_count, error: poller.error.clone() }
    }
}

impl State {
    /// The title and as many lines as there is room for: where not all fit, those of the steps that began last.
    fn window(&self, now: Moment, colors: bool, room: usize) -> Vec<String> {
        let lines = self.lines(now, colors);
        let below = room.saturating_sub(1);
        let most = lines.len().saturating_sub(below);
        if lines.len() <= room {
            return lines;
        }
        let from = self.begun(now).saturating_sub(below).clamp(1, most);
        let title = lines.iter().take(1);
        title.chain(lines.iter().skip(from).take(below)).cloned().collect()
    }

    /// How many lines there are to the end of the last step that has begun.
    fn begun(&self, now: Moment) -> usize {
        let last = self.steps.iter().rposition(|branch| branch.state != Growth::Waiting);
        let begun = self.steps.iter().take(last.map_or(0, |last| last.saturating_add(1)));
        let lines = begun.map(|branch| branch.twigs(now, false).len().saturating_add(1));
        lines.sum::<usize>().saturating_add(1)
    }

    fn lines(&self, now: Moment, colors: bool) -> Vec<String> {
        let since = now.since(self.began).as_secs_f64() * MILLIS_PER_SECOND;
        let mut lines = vec![words::plain(&format!("{}  {}", self.title, words::time(since)))];
        let last = self.steps.len().saturating_sub(1);
        for (index, branch) in self.steps.iter().enumerate() {
            let (knot, trunk) = if index == last { ("└─", "  ") } else { ("├─", "│ ") };
            let (sign, running) = (branch.state.sign(now, colors), branch.state.running(now));
            lines.push(format!("{knot} {sign} {}{running}", branch.line));
            let twigs = branch.twigs(now, colors);
            lines.extend(twigs.into_iter().map(|twig| format!("{trunk}   {twig}")));
        }
        lines
    }
}

impl Growth {
    fn sign(self, now: Moment, colors: bool) -> String {
        let (sign, color) = match self {
            Self::Waiting => ("○", "2"),
            Self::Running(since) => (turn(now, since), "36"),
            Self::Passed => ("✓", "32"),
            Self::Failed => ("✗", "31"),
            Self::Skipped => ("–", "2"),
        };
        if colors { format!("\u{1b}[{color}m{sign}\u{1b}[0m") } else { sign.to_owned() }
    }

    /// For how long it runs, where it does.
    fn running(self, now: Moment) -> String {
        match self {
            Self::Running(since) => {
                let millis = now.since(since).as_secs_f64() * MILLIS_PER_SECOND;
                format!("  {}", words::time(millis))
            }
            _ => String::new(),
        }
    }
}

/// Writes lines over those that stand there.
fn redraw(state: &mut State, lines: &[String]) {
    let up = match state.drawn {
        0 => String::new(),
        drawn => format!("\u{1b}[{drawn}A\u{1b}[J"),
    };
    state.drawn = lines.len();
    // Whoever went away has no need of the rest.
    let _ = write_stdout(&format!("{up}{}\n", lines.join("\n")));
}

/// Rows and columns of the terminal.
fn size() -> (usize, usize) {
    const USUAL: (usize, usize) = (24, 80);
    let known = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let known = known.map(|size| (usize::from(size.ws_row), usize::from(size.ws_col)));
    known.filter(|(rows, columns)| *rows > 1 && *columns > 1).unwrap_or(USUAL)
}

/// The line without what would go on to the next one; colours take no place, and some letters two.
fn fitting(line: &str, columns: usize) -> String {
    let (mut fitted, mut width, mut is_color) = (String::new(), 0_usize, false);
    for letter in line.chars() {
        is_color |= letter == '\u{1b}';
        if is_color {
            // Also behind the edge: a colour that began has to end.
            fitted.push(letter);
            is_color = letter != 'm';
            continue;
        }
        width = width.saturating_add(place(letter));
        if width <= columns {
            fitted.push(letter);
        }
    }
    fitted
}

/// How many columns a letter takes. Behind a sign that can be a picture too, one asks for the picture, which is wider.
fn place(letter: char) -> usize {
    const PICTURE: char = '\u{FE0F}';
    if letter == PICTURE { 1 } else { letter.width().unwrap_or(0) }
}

fn turn(now: Moment, since: Moment) -> &'static str {
    let turns = now.since(since).as_secs_f64() * MILLIS_PER_SECOND / MILLIS_PER_TURN;
    let count = u32::try_from(TURNS.len()).unwrap_or(1);
    let index = (turns % f64::from(count)).floor();
    let at = TURNS.iter().enumerate().find(|(at, _)| {
        u32::try_from(*at).is_ok_and(|at| (f64::from(at) - index).abs() < f64::EPSILON)
    });
    at.map_or("◐", |(_, sign)| sign)
}

fn counted(polls: u64) -> String {
    words::counted(usize::try_from(polls).unwrap_or(usize::MAX), "poll")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    use mainstay_base::Timestamp;
    use mainstay_journeys::{Mode, RunOutcome};

    fn moment(millis: u64) -> Moment {
        Moment::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_colours_take_no_place() {
        assert_eq!(fitting("├─ \u{1b}[32m✓\u{1b}[0m create", 8), "├─ \u{1b}[32m✓\u{1b}[0m cre");
        assert_eq!(fitting("short", 8), "short");
        assert_eq!(fitting("支払い完了", 7), "支払い");
        assert_eq!(fitting("cafe\u{301} au lait", 7), "cafe\u{301} au");
        assert_eq!(fitting("├─ \u{1b}[32m✓\u{1b}[0m create", 3), "├─ \u{1b}[32m\u{1b}[0m");
        assert_eq!(fitting("❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}", 4), "❤\u{fe0f}❤\u{fe0f}");
    }

    #[test]
    fn a_tree_shows_what_runs_what_was_told_and_what_failed() {
        let mut create = Branch::new("create");
        create.state = Growth::Passed;
        create.line = "create: POST http://x/a → 201 in 12.0 ms".to_owned();
        create.events = ["Created at 12.0 ms".to_owned()].into();
        create.watch(moment(20)).polls = 3;
        let mut charge = Branch::new("charge");
        charge.state = Growth::Failed;
        charge.error = Some("status: expected 201,\ngot 500".to_owned());
        let steps = vec![create, charge, Branch::new("refund")];
        let state = State { title: "pay (halt)".to_owned(), steps, began: moment(0), drawn: 0 };
        assert_eq!(
            state.lines(moment(1_620), false),
            [
                "pay (halt)  1.62 s",
                "├─ ✓ create: POST http://x/a → 201 in 12.0 ms",
                "│    · Created at 12.0 ms",
                "│    ◓ polling, 3 polls  1.60 s",
                "├─ ✗ charge",
                "│    status: expected 201, got 500",
                "└─ ○ refund",
            ]
        );
    }

    fn tree(steps: &[&str]) -> Tree {
        let steps: String =
            steps.iter().map(|id| format!("- id: {id}\n  get: http://127.0.0.1/\n")).collect();
        let journey = Journey::parse(&format!("journey: pay\nsteps:\n{steps}")).unwrap();
        Tree::new(&journey, "halt", false)
    }

    #[test]
    fn where_not_all_fits_what_began_last_is_shown_below_the_title() {
        let ids: Vec<String> = (0..100).map(|number| format!("s{number}")).collect();
        let tree = tree(&ids.iter().map(String::as_str).collect::<Vec<_>>());
        let shown = |room| {
            let lines = tree.state().window(moment(0), false, room);
            let words = lines.iter().map(|line| line.split_whitespace().nth(2).unwrap().to_owned());
            words.skip(1).collect::<Vec<_>>()
        };
        assert_eq!(shown(4), ["s0", "s1", "s2"]);
        for id in ids.iter().take(51) {
            tree.tell(&News::StepBegan { step: id });
        }
        assert_eq!(shown(4), ["s48", "s49", "s50"]);
        assert_eq!((shown(1).len(), shown(101).len()), (0, 100));
        for id in &ids {
            tree.tell(&News::StepBegan { step: id });
        }
        assert_eq!(shown(3), ["s98", "s99"]);
    }

    #[test]
    fn a_poller_is_shown_before_its_first_answer() {
        let tree = tree(&["create"]);
        tree.tell(&News::PollerBegan { step: "create" });
        let lines = tree.state().lines(moment(0), false);
        assert!(lines.iter().any(|line| line.contains("polling, 0 polls")), "{lines:?}");
    }

    #[test]
    fn nothing_is_under_way_once_the_run_has_ended() {
        let tree = tree(&["create", "charge"]);
        tree.tell(&News::StepBegan { step: "create" });
        tree.tell(&News::PollerBegan { step: "create" });
        let step = |id: &str, state| StepRecord {
            id: id.to_owned(),
            state,
            offset_ms: 0.0,
            duration_ms: 20.0,
            request: None,
            answer: None,
            checks: vec![],
            captures: BTreeMap::new(),
            error: Some("the run ended".to_owned()),
        };
        let poller = PollerRecord {
            id: 1,
            step: "create".to_owned(),
            state: PollerState::Stopped,
            offset_ms: 0.0,
            duration_ms: 20.0,
            poll_count: 1,
            skipped_count: 0,
            event_count: 0,
            request: None,
            last_value: None,
            error: None,
        };
        tree.settle(&RunRecord {
            journey: "pay".to_owned(),
            mode: Mode::Halt,
            outcome: RunOutcome::Failed,
            started_at: Timestamp::from_millis(0),
            duration_ms: 20.0,
            vars: BTreeMap::new(),
            steps: vec![step("create", StepState::Failed), step("charge", StepState::Skipped)],
            events: vec![],
            pollers: vec![poller],
            failures: vec![],
        });
        let lines = tree.state().lines(moment(0), false);
        assert_eq!(
            lines.get(1..).unwrap(),
            [
                "├─ ✗ create in 20.0 ms",
                "│    the run ended",
                "│    – polling, 1 poll",
                "└─ – charge",
                "     the run ended",
            ]
        );
    }
}
