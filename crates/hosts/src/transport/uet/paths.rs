//! Choice of the entropy value of each packet.

use std::collections::VecDeque;

use hitless_core::engine::Stream;
use hitless_core::wire::{Duration, Time};
use rand_distr::{Distribution, StandardUniform};

use super::settings::PathChoice;

/// Maximum penalty of a value.
const PENALTY_MAX: u8 = 15;
/// Values that REPS remembers.
const RING: usize = 8;
/// Random values that REPS explores with after it was frozen.
const EXPLORATIONS: u8 = 16;
/// Duration of the freeze after a timeout, when REPS uses only remembered values.
const FREEZE: Duration = Duration::from_ms(10);
/// Number of turns of a suspected port for one trial. Chosen: a trial costs a repeated packet if the port is still
/// dead.
const TRIALS: u16 = 64;

/// A sender's observation of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    /// A packet arrived without a mark.
    Good,
    /// A packet arrived with Congestion Experienced.
    Marked,
    Trimmed,
    Lost,
    /// A probe came back.
    Restored,
}

/// The paths of a connection.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct Paths {
    choice: PathChoice,
    stream: Stream,
    /// Low bits that select a path.
    mask: u16,
    /// High bits of all values of the connection.
    high: u16,
    /// Number of the host's ports, for choices that use values again: a value modulo this number is its port. They take
    /// the ports in turn, because the values of acknowledged packets can all belong to the same port. Otherwise 1.
    ports: u16,
    /// The port in turn.
    port: u16,
    /// The port of the next packet; `None`: any port.
    taken: Option<u16>,
    /// Ports with a loss since their last good packet, one bit each; they lose their turns.
    suspected: u64,
    /// Position in the round of all values.
    index: u16,
    /// Order of the round.
    order: u16,
    /// Penalties by value, for "bitmap" and "mixed".
    penalties: Vec<u8>,
    /// Values to use again, oldest first, for "reps" and "mixed".
    good: VecDeque<u16>,
    /// The last values of "reps", used again while it is frozen.
    ring: VecDeque<u16>,
    frozen_until: Option<Time>,
    explorations: u8,
    /// Retired values and the times of their next probes, for "mrc".
    retired: VecDeque<(Time, u16)>,
    probe_interval: Duration,
}

impl Paths {
    /// Creates the paths of a connection from a host with `ports`; `count` is a power of 2.
    pub fn new(choice: PathChoice, count: u16, ports: u16, probe_interval: Duration, mut stream: Stream) -> Self {
        let mask = count - 1;
        let (high, order) = (draw(&mut stream) & !mask, draw(&mut stream) & mask);
        let ports = if matches!(choice, PathChoice::Reps | PathChoice::Mixed) { ports.min(count) } else { 1 };
        // Connections begin at different ports: many send a single packet.
        let port = if ports > 1 { draw(&mut stream) % ports } else { 0 };
        Self {
            choice,
            stream,
            mask,
            high,
            index: 0,
            order,
            ports,
            port,
            taken: None,
            suspected: 0,
            penalties: vec![0; count.into()],
            good: VecDeque::new(),
            ring: VecDeque::new(),
            frozen_until: None,
            explorations: 0,
            retired: VecDeque::new(),
            probe_interval,
        }
    }

    pub fn next(&mut self) -> u16 {
        if self.ports > 1 {
            self.port = (self.port + 1) % self.ports;
            self.taken = self.port_for_turn();
        }
        match self.choice {
            PathChoice::Oblivious => self.in_turn(),
            PathChoice::Bitmap => self.without_penalty(),
            PathChoice::Reps => self.remembered(),
            PathChoice::Mixed => self.take_good().unwrap_or_else(|| self.without_penalty()),
            PathChoice::Mrc => self.not_retired(),
        }
    }

    /// Learns of the path of a packet.
    pub fn learn(&mut self, now: Time, entropy: u16, feedback: Feedback) {
        if self.ports > 1 {
            self.suspect(entropy % self.ports, feedback);
        }
        match self.choice {
            PathChoice::Oblivious => {}
            PathChoice::Bitmap => self.punish(entropy, feedback),
            PathChoice::Reps => self.remember(now, entropy, feedback),
            PathChoice::Mixed => {
                self.punish(entropy, feedback);
                if feedback == Feedback::Good {
                    self.good.push_back(entropy);
                }
            }
            PathChoice::Mrc => self.retire_or_restore(now, entropy, feedback),
        }
    }

    /// Returns when a retired value is due for a probe.
    pub fn next_probe(&self) -> Time {
        self.retired.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Returns the value to probe, if one is due.
    pub fn take_probe(&mut self, now: Time) -> Option<u16> {
        let (_, entropy) = *self.retired.front().filter(|&&(at, _)| at <= now)?;
        self.retired.pop_front();
        self.retired.push_back((now + self.probe_interval, entropy));
        Some(entropy)
    }

    fn suspect(&mut self, port: u16, feedback: Feedback) {
        match feedback {
            Feedback::Lost => self.suspected |= 1 << port,
            Feedback::Good | Feedback::Marked | Feedback::Trimmed | Feedback::Restored => {
                self.suspected &= !(1 << port)
            }
        }
    }

    /// Returns the port that takes this turn. A suspected port leaves its turn to a random other port. In one turn of
    /// [`TRIALS`] any value is taken, and a good packet ends the suspicion.
    fn port_for_turn(&mut self) -> Option<u16> {
        let is_suspected = |port: u16| self.suspected >> port & 1 == 1;
        if !is_suspected(self.port) {
            return Some(self.port);
        }
        let others = self.ports - self.suspected.count_ones() as u16;
        let drawn = draw(&mut self.stream);
        if others == 0 || drawn.is_multiple_of(TRIALS) {
            return None;
        }
        (0..self.ports).filter(|&port| !is_suspected(port)).nth(usize::from(drawn / TRIALS % others))
    }

    /// Returns whether a value belongs to the port that takes this turn.
    fn is_in_turn(&self, entropy: u16) -> bool {
        self.taken.is_none_or(|port| entropy % self.ports == port)
    }

    fn take_good(&mut self) -> Option<u16> {
        if self.ports == 1 {
            return self.good.pop_front();
        }
        let place = self.good.iter().position(|&entropy| self.is_in_turn(entropy))?;
        self.good.remove(place)
    }

    fn in_turn(&mut self) -> u16 {
        loop {
            let entropy = self.in_round();
            if self.is_in_turn(entropy) {
                return entropy;
            }
        }
    }

    fn in_round(&mut self) -> u16 {
        let low = (self.index ^ self.order) & self.mask;
        self.index += 1;
        if self.index > self.mask {
            self.index = 0;
            self.order = draw(&mut self.stream) & self.mask;
        }
        self.high | low
    }

    /// Takes 1 off the first penalty only, as the authors do, so that a packet costs one skip.
    fn without_penalty(&mut self) -> u16 {
        let mut entropy = self.in_turn();
        for attempt in 0..=self.mask {
            let penalty = &mut self.penalties[usize::from(entropy & self.mask)];
            if *penalty == 0 {
                break;
            }
            if attempt == 0 {
                *penalty -= 1;
            }
            entropy = self.in_turn();
        }
        entropy
    }

    fn punish(&mut self, entropy: u16, feedback: Feedback) {
        let more = match feedback {
            Feedback::Good | Feedback::Restored => 0,
            Feedback::Marked => 1,
            Feedback::Trimmed => 4,
            Feedback::Lost => PENALTY_MAX,
        };
        let penalty = &mut self.penalties[usize::from(entropy & self.mask)];
        *penalty = (*penalty + more).min(PENALTY_MAX);
    }

    fn random(&mut self) -> u16 {
        loop {
            let entropy = self.high | draw(&mut self.stream) & self.mask;
            if self.is_in_turn(entropy) {
                return entropy;
            }
        }
    }

    fn remembered(&mut self) -> u16 {
        if self.explorations > 0 {
            self.explorations -= 1;
            return self.random();
        }
        if self.frozen_until.is_some() {
            let Some(entropy) = self.ring.pop_front() else { return self.random() };
            self.ring.push_back(entropy);
            return entropy;
        }
        self.take_good().unwrap_or_else(|| self.random())
    }

    fn remember(&mut self, now: Time, entropy: u16, feedback: Feedback) {
        if feedback == Feedback::Lost && self.frozen_until.is_none() && self.explorations == 0 {
            self.frozen_until = Some(now + FREEZE);
        }
        if self.frozen_until.is_some_and(|until| now > until) {
            self.frozen_until = None;
            self.ring.clear();
            self.good.clear();
            self.explorations = EXPLORATIONS;
        }
        if feedback == Feedback::Good {
            for values in [&mut self.ring, &mut self.good] {
                if values.len() == RING {
                    values.pop_front();
                }
                values.push_back(entropy);
            }
        }
    }

    fn not_retired(&mut self) -> u16 {
        // If all are retired, all are used.
        for _ in 0..=self.mask {
            let entropy = self.in_turn();
            if !self.retired.iter().any(|&(_, retired)| retired == entropy) {
                return entropy;
            }
        }
        self.in_turn()
    }

    fn retire_or_restore(&mut self, now: Time, entropy: u16, feedback: Feedback) {
        let place = self.retired.iter().position(|&(_, retired)| retired == entropy);
        match (feedback, place) {
            (Feedback::Lost, None) => self.retired.push_back((now + self.probe_interval, entropy)),
            (Feedback::Restored, Some(place)) => drop(self.retired.remove(place)),
            _ => {}
        }
    }
}

fn draw(stream: &mut Stream) -> u16 {
    StandardUniform.sample(stream)
}
