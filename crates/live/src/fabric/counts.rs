//! What became of frames.

use hitless_switch::DropReason;

/// Why a frame was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refused {
    /// All places for frames are taken.
    PoolEmpty,
    /// It is longer than a place.
    TooLong,
    /// It has no whole Ethernet header.
    Malformed,
    /// The network card of its host is full.
    CardFull,
    /// Its destination is where it comes from.
    SameSide,
    /// It is none that a switch elsewhere may send; [`hitless_core::wire::link::Refusal`] says why.
    NotOfTheLink,
}

impl Refused {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Refused; 6] = [
        Refused::PoolEmpty,
        Refused::TooLong,
        Refused::Malformed,
        Refused::CardFull,
        Refused::SameSide,
        Refused::NotOfTheLink,
    ];

    /// The reason in plain words.
    pub const fn name(self) -> &'static str {
        match self {
            Refused::PoolEmpty => "no room for a frame",
            Refused::TooLong => "frame too long",
            Refused::Malformed => "no Ethernet header",
            Refused::CardFull => "network card full",
            Refused::SameSide => "destination is where it comes from",
            Refused::NotOfTheLink => "no frame of the link",
        }
    }

    /// Whether a packet was lost by it. A bridge that keeps to itself what stays on one side loses nothing.
    pub const fn is_loss(self) -> bool {
        !matches!(self, Refused::SameSide)
    }
}

/// What became of frames. Packets without a frame (a mechanism's own) are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Frames that came.
    pub offered: u64,
    /// Not let in, by [`Refused`].
    pub refused: [u64; Refused::ALL.len()],
    /// Let in.
    pub entered: u64,
    /// Copies made in switches.
    pub copied: u64,
    /// Left the fabric.
    pub left: u64,
    /// Ended in switches, by [`DropReason`].
    pub ended: [u64; DropReason::COUNT],
    /// Spoilt by links.
    pub corrupted: u64,
    /// Lost on links that were down.
    pub lost_down: u64,
    /// Control frames of a switch elsewhere that carry no frame of a host.
    pub control: u64,
}

impl FrameCounts {
    /// A frame that has left is found to be one that should not have been let in.
    pub(super) fn refuse_late(&mut self, reason: Refused) {
        self.refused[reason as usize] += 1;
        self.entered -= 1;
        self.left -= 1;
    }

    /// Packets with a frame that must still be in the fabric.
    pub fn inside(&self) -> u64 {
        let gone = self.left + self.ended.iter().sum::<u64>() + self.corrupted + self.lost_down;
        debug_assert!(gone <= self.entered + self.copied, "more frames are gone than ever were in the fabric");
        self.entered + self.copied - gone
    }
}
