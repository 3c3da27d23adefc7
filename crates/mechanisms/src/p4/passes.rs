//! Packets of a program between its ingress and its egress: their metadata stays here, and the packet carries a number.

use hitless_core::wire::{Shim, ShimId};
use hitless_p4::packet::Packet;

/// The place of a packet. It takes no room on a link; hardware carries it as bridged metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bridged {
    pub place: u32,
    /// Distinguishes successive users of a place.
    pub turn: u8,
}

impl Shim for Bridged {
    const ID: ShimId = ShimId::new(5, 1);
    const WIRE_BYTES: u32 = 0;

    fn emit(&self, bytes: &mut [u8]) {
        bytes[..4].copy_from_slice(&self.place.to_be_bytes());
        bytes[4] = self.turn;
    }

    fn parse(bytes: &[u8]) -> Self {
        Self { place: u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), turn: bytes[4] }
    }
}

#[derive(Debug, Default, hitless_core::state::Value)]
struct Place {
    turn: u8,
    kept: Option<Packet>,
}

/// All packets between ingress and egress.
#[derive(Debug, Default, hitless_core::state::Value)]
pub struct Passes {
    places: Vec<Place>,
    free: Vec<u32>,
}

impl Passes {
    pub fn put(&mut self, packet: Packet) -> Bridged {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() as u32 - 1
        });
        let place = &mut self.places[number as usize];
        assert!(place.kept.is_none(), "a free place keeps no packet");
        place.kept = Some(packet);
        Bridged { place: number, turn: place.turn }
    }

    pub fn take(&mut self, of: Bridged) -> Option<Packet> {
        let place = self.places.get_mut(of.place as usize).filter(|place| place.turn == of.turn)?;
        let kept = place.kept.take()?;
        // A copy of the packet that still carries the number must not take the next user's metadata.
        place.turn = place.turn.wrapping_add(1);
        self.free.push(of.place);
        Some(kept)
    }
}
