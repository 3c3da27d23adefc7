//! Chooses between running a window on all threads and running all partitions on one.
//!
//! On a busy machine, or if a window has few events, waiting for other threads takes longer than the work. The choice
//! is by wall-clock time; it affects only which thread does the work, never the results.

use std::time::Duration;

/// Warm-up before a measurement: threads wake up and load their partitions into their caches.
const WARMS_UP: Duration = Duration::from_millis(1);
/// Minimum duration of a measurement, and its minimum number of windows.
const MEASURED: Duration = Duration::from_millis(2);
const WINDOWS_MIN: u64 = 3;
/// How long the faster mode is kept before the other is tried again: initially, and after repeated wins.
const KEPT_MIN: Duration = Duration::from_millis(50);
const KEPT_MAX: Duration = Duration::from_secs(5);

/// Measures both modes and selects the faster.
pub struct Pace {
    /// Current mode: threads run together.
    together: bool,
    /// The current mode is a trial of the one that was slower.
    tries: bool,
    /// The trial is in its warm-up.
    warms_up: bool,
    /// How long to keep the faster mode.
    kept: Duration,
    /// Events per second of the faster mode at its last measurement.
    rate: f64,
    /// Start and length of the current phase, its number of windows, and the number of events before it.
    began: Duration,
    length: Duration,
    windows: u64,
    events_before: u64,
}

impl Pace {
    /// Starts in the mode "together" at time 0.
    pub fn new() -> Self {
        Self {
            together: true,
            tries: false,
            warms_up: true,
            kept: KEPT_MIN,
            rate: 0.0,
            began: Duration::ZERO,
            length: MEASURED,
            windows: 0,
            events_before: 0,
        }
    }

    /// Whether the threads run the next window together.
    pub fn together(&self) -> bool {
        self.together
    }

    /// A window has ended; `events` is the total of all windows up to `now`.
    pub fn note(&mut self, now: Duration, events: u64) {
        self.windows += 1;
        let took = now.saturating_sub(self.began);
        if self.warms_up && took >= WARMS_UP {
            self.warms_up = false;
            return self.begin(now, events);
        }
        if self.warms_up || took < self.length || self.windows < WINDOWS_MIN {
            return;
        }
        let rate = (events - self.events_before) as f64 / took.as_secs_f64();
        // The trial was slower: the other mode stays for twice as long as before.
        if self.tries && rate < self.rate {
            self.kept = (2 * self.kept).min(KEPT_MAX);
            self.go_on(!self.together, false, self.kept);
        } else if self.tries {
            (self.rate, self.kept) = (rate, KEPT_MIN);
            self.go_on(self.together, false, self.kept);
        } else {
            self.rate = rate;
            self.go_on(!self.together, true, MEASURED);
        }
        self.begin(now, events);
    }

    fn go_on(&mut self, together: bool, tries: bool, length: Duration) {
        self.warms_up = tries;
        (self.together, self.tries, self.length) = (together, tries, length);
    }

    fn begin(&mut self, now: Duration, events: u64) {
        (self.began, self.windows, self.events_before) = (now, 0, events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a second of windows with 100 events each, which last `of_threads` or `of_one`. Returns the time spent
    /// in the mode "together".
    fn together(of_threads: Duration, of_one: Duration) -> Duration {
        let (mut pace, mut now, mut events, mut together) = (Pace::new(), Duration::ZERO, 0, Duration::ZERO);
        while now < Duration::from_secs(1) {
            let took = if pace.together() { of_threads } else { of_one };
            together += if pace.together() { took } else { Duration::ZERO };
            (now, events) = (now + took, events + 100);
            pace.note(now, events);
        }
        together
    }

    #[test]
    fn the_faster_way_takes_nearly_all_of_the_time() {
        let [fast, slow] = [10, 18].map(Duration::from_micros);
        assert!(together(fast, slow) > Duration::from_millis(980));
        assert!(together(slow, fast) < Duration::from_millis(20));
        // Threads that wait for a busy machine in each window, and long windows.
        assert!(together(Duration::from_millis(10), slow) < Duration::from_millis(250));
        assert!(together(Duration::from_millis(3), Duration::from_millis(6)) > Duration::from_millis(850));
    }

    /// A trial is slow at first, because a thread that slept has a cold cache.
    #[test]
    fn a_way_that_has_to_warm_up_is_judged_by_what_it_does_then() {
        let (mut pace, mut now, mut events, mut since) = (Pace::new(), Duration::ZERO, 0, Duration::ZERO);
        let (mut was_together, mut together) = (false, Duration::ZERO);
        while now < Duration::from_secs(1) {
            since = if pace.together() == was_together { since } else { now };
            was_together = pace.together();
            let is_warm = now - since > Duration::from_micros(800);
            let took = Duration::from_micros(if !was_together {
                18
            } else if is_warm {
                10
            } else {
                50
            });
            together += if was_together { took } else { Duration::ZERO };
            (now, events) = (now + took, events + 100);
            pace.note(now, events);
        }
        assert!(together > Duration::from_millis(900), "{together:?}");
    }

    #[test]
    fn a_machine_that_becomes_busy_is_noticed() {
        let (mut pace, mut now) = (Pace::new(), Duration::ZERO);
        for window in 1..10_000_u64 {
            let of_threads = if window < 5_000 { 10 } else { 1_000 };
            now += Duration::from_micros(if pace.together() { of_threads } else { 18 });
            pace.note(now, 100 * window);
        }
        assert!(!pace.together());
    }
}
