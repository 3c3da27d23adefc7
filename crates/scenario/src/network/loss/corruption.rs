//! The losses of a link, frame by frame.

use hitless_core::engine::Stream;
use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::BitRate;

use super::arrival::ArrivingFrame;
use super::arrival::Chance;
use super::bit_errors::BitErrors;
use super::gilbert_elliott::GilbertElliott;
use super::model::LossModel;
use super::periodic::Periodic;
use super::trace::Playback;

/// The losses of one link in one direction.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Corruption {
    stream: Stream,
    #[part]
    process: Process,
    runs: LossRuns,
}

/// How many frames were lost in a row, and how often.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
struct LossRuns {
    /// The length of the current run.
    length: usize,
    /// Number of completed runs of 1, 2, ... frames; the last element counts all longer runs too.
    ended: Vec<u64>,
}

/// Maximum run length that is counted separately.
const RUN_MAX: usize = 4_096;

impl LossRuns {
    #[inline]
    fn note(&mut self, is_lost: bool) {
        if is_lost {
            self.length += 1;
        } else if self.length > 0 {
            self.end();
        }
    }

    fn end(&mut self) {
        assert!(self.length > 0, "a run of losses that ends has begun");
        let length = std::mem::take(&mut self.length).min(RUN_MAX);
        if self.ended.len() < length {
            self.ended.resize(length, 0);
        }
        self.ended[length - 1] += 1;
    }
}

#[derive(Clone, Debug)]
enum Process {
    None,
    Bernoulli { loss: Chance, repair_loss: Chance },
    GilbertElliott(GilbertElliott),
    BitErrors(BitErrors),
    Periodic(Periodic),
    Trace(Playback),
}

/// The variant is not saved: the loaded run has already applied the same changes of the model.
impl State for Process {
    fn save(&self, out: &mut Writer) {
        match self {
            Self::None | Self::Bernoulli { .. } => {}
            Self::GilbertElliott(chain) => chain.save(out),
            Self::BitErrors(errors) => errors.save(out),
            Self::Periodic(periodic) => periodic.save(out),
            Self::Trace(playback) => playback.save(out),
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        match self {
            Self::None | Self::Bernoulli { .. } => Ok(()),
            Self::GilbertElliott(chain) => chain.load(from),
            Self::BitErrors(errors) => errors.load(from),
            Self::Periodic(periodic) => periodic.load(from),
            Self::Trace(playback) => playback.load(from),
        }
    }
}

impl Corruption {
    /// Starts losses by `model` on a link of `rate`; all random numbers come from `stream`.
    pub fn new(model: &LossModel, rate: BitRate, stream: Stream) -> Self {
        let mut corruption = Self { stream, process: Process::None, runs: LossRuns::default() };
        corruption.set(model, rate);
        corruption
    }

    /// Switches to `model`, from its beginning; the random stream continues.
    pub fn set(&mut self, model: &LossModel, rate: BitRate) {
        let stream = &mut self.stream;
        self.process = match model {
            LossModel::None => Process::None,
            LossModel::Bernoulli(loss) => Process::Bernoulli {
                loss: Chance::of(loss.rate),
                repair_loss: Chance::of(loss.repair_rate.unwrap_or(loss.rate)),
            },
            LossModel::GilbertElliott(loss) => Process::GilbertElliott(GilbertElliott::new(loss, stream)),
            LossModel::BitErrors(loss) => Process::BitErrors(BitErrors::new(loss, rate, stream)),
            LossModel::Periodic(loss) => Process::Periodic(Periodic::new(*loss)),
            LossModel::Trace(loss) => Process::Trace(Playback::new(loss.trace.clone(), loss.at_end)),
        };
    }

    /// Returns whether the next frame is lost.
    #[inline]
    pub fn strikes(&mut self, frame: ArrivingFrame) -> bool {
        let is_lost = match &mut self.process {
            Process::None => false,
            Process::Bernoulli { loss, repair_loss } => {
                let loss = if frame.is_link_retransmission { *repair_loss } else { *loss };
                loss.draw(&mut self.stream)
            }
            Process::GilbertElliott(chain) => chain.strikes(&mut self.stream),
            Process::BitErrors(errors) => errors.strikes(frame, &mut self.stream),
            Process::Periodic(periodic) => periodic.strikes(),
            Process::Trace(playback) => playback.strikes(),
        };
        self.runs.note(is_lost);
        is_lost
    }

    /// Returns the number of completed runs of 1, 2, ... lost frames.
    pub fn runs(&self) -> &[u64] {
        &self.runs.ended
    }
}
