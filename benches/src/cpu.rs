//! The CPU time of one thread or of the process: what others do on the same cores is not in it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that the calling thread has used so far.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The CPU time that all threads of this process have used so far.
#[must_use]
pub fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let before = thread_time();
        for number in 0..1_000_000_u64 {
            std::hint::black_box(number);
        }
        assert!(thread_time() > before);
    }
}
