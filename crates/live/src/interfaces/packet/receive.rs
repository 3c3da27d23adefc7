use std::io;
use std::mem::offset_of;
use std::os::fd::AsFd;

use super::checksum::{self, State};
use super::merged::{InSlot, Reader};
use super::ring::{self, Ring, open_socket};
use crate::interfaces::device::NetworkDevice;
use crate::interfaces::frame::{self, insert_tag, limit_bytes};
use crate::interfaces::interface::{Arrived, Counters, MonotonicTime, Received};
use crate::interfaces::sys::machine::{monotonic_ns, realtime_ns};
use crate::interfaces::sys::slots::{Direction, Slots};
use crate::interfaces::sys::socket::Socket;

#[derive(Debug)]
pub struct ReceiveRing {
    // Before the socket: fields are dropped in order, and a ring must be unmapped before its socket is closed.
    slots: Slots,
    pub socket: Socket,
    shape: Ring,
    next: usize,
    pub mtu_bytes: usize,
    /// Index of the interface that is in promiscuous mode for this ring.
    watched: libc::c_int,
    counters: Counters,
    reader: Reader,
    clock: Clock,
}

/// Maximum size of all buffers that wait to be split.
const QUEUE_BYTES: libc::c_int = 1 << 26;

impl ReceiveRing {
    /// Opens the ring of `device`; the interface's frames arrive in it afterwards.
    pub fn open(device: &NetworkDevice, shape: Ring, mtu_bytes: usize) -> io::Result<Self> {
        let socket = open_socket(libc::PACKET_RX_RING, shape, &[])?;
        let slots = Slots::map(socket.as_fd(), shape.slot_bytes, shape.slots, Direction::Receive)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        // A buffer that is longer than a slot goes whole into the socket's queue.
        socket.set(libc::SOL_PACKET, libc::PACKET_COPY_THRESH, &1)?;
        socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &QUEUE_BYTES)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous(device.index())?)?;
        // Bind last, because binding starts the reception.
        ring::bind(&socket, device, libc::ETH_P_ALL)?;
        Ok(Self {
            slots,
            socket,
            shape,
            next: 0,
            mtu_bytes,
            watched: device.index(),
            counters: Counters::default(),
            reader: Reader::default(),
            clock: Clock::read(),
        })
    }

    pub fn rejoin(&mut self, device: &NetworkDevice) -> io::Result<()> {
        // The kernel has dropped the membership of a removed interface; this error only reports the removal.
        let _ = self.socket.set(libc::SOL_PACKET, libc::PACKET_DROP_MEMBERSHIP, &promiscuous(self.watched)?);
        let _ = self.socket.take_error();
        ring::bind(&self.socket, device, libc::ETH_P_ALL)?;
        // A renamed interface kept receiving; its frames do not belong to this port.
        while self.slots.owned(self.next).is_some() {
            self.slots.give(self.next, libc::TP_STATUS_KERNEL);
            self.next = self.shape.after(self.next);
        }
        self.reader.discard_queued(&self.socket);
        self.socket.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous(device.index())?)?;
        self.watched = device.index();
        Ok(())
    }

    /// Passes up to `limit` frames or merged buffers to `take`; returns the number of frames.
    pub fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Arrived<'_>)) -> usize {
        let (mut handed, mut has_read_clock) = (0, false);
        // Unusable slots count too, so that the length of a turn is bounded for any input.
        for _ in 0..limit {
            let Some((status, bytes)) = self.slots.owned(self.next) else { break };
            let slot = Slot::read(status, bytes);
            if !has_read_clock && slot.at_ns.abs_diff(self.clock.realtime_ns) > Clock::VALID_NS {
                (self.clock, has_read_clock) = (Clock::read(), true);
            }
            let at = self.clock.monotonic(slot.at_ns);
            if let Some(bytes) = slot.frame(bytes, self.mtu_bytes, &mut self.counters) {
                take(Arrived::Frame(Received { bytes, at }));
                handed += 1;
            } else {
                let slot = slot.merged(bytes);
                match slot.and_then(|slot| self.reader.read(slot, &self.socket, self.mtu_bytes, at)) {
                    Some(merged) => {
                        handed += merged.segments.count();
                        take(Arrived::Merged(merged));
                    }
                    None => self.counters.frames_merged += 1,
                }
            }
            self.slots.give(self.next, libc::TP_STATUS_KERNEL);
            self.next = self.shape.after(self.next);
        }
        self.counters.frames_received += handed as u64;
        handed
    }

    /// Returns the counters, including the kernel's count of frames without room.
    pub fn counters(&mut self) -> io::Result<Counters> {
        // The kernel's counter restarts with each read.
        let since: libc::tpacket_stats = self.socket.get(libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
        self.counters.frames_overrun += u64::from(since.tp_drops);
        Ok(self.counters)
    }
}

/// Requests all frames of the interface with this index, for any destination.
fn promiscuous(index: libc::c_int) -> io::Result<libc::packet_mreq> {
    let mr_type = libc::c_ushort::try_from(libc::PACKET_MR_PROMISC).map_err(io::Error::other)?;
    Ok(libc::packet_mreq { mr_ifindex: index, mr_type, mr_alen: 0, mr_address: [0; 8] })
}

/// Both clocks at the same time: packet sockets stamp frames with the real-time clock, which can be set.
#[derive(Clone, Copy, Debug)]
struct Clock {
    monotonic_ns: u64,
    realtime_ns: u64,
}

impl Clock {
    /// Distance of a stamp from the last reading, above which both are read again, once per batch: a real-time clock
    /// that is set puts stamps wrong by at most this. Chosen.
    const VALID_NS: u64 = 1_000_000;

    fn read() -> Self {
        Self { monotonic_ns: monotonic_ns(), realtime_ns: realtime_ns() }
    }

    fn monotonic(self, at_realtime_ns: u64) -> MonotonicTime {
        MonotonicTime((self.monotonic_ns + at_realtime_ns).saturating_sub(self.realtime_ns))
    }
}

/// The header of a received slot (`struct tpacket2_hdr`).
#[derive(Clone, Copy, Debug)]
struct Slot {
    status: u32,
    length: usize,
    captured: usize,
    start: usize,
    at_ns: u64,
    tag: u16,
    tag_type: u16,
}

impl Slot {
    fn read(status: u32, bytes: &[u8]) -> Self {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let seconds = word(offset_of!(libc::tpacket2_hdr, tp_sec));
        let nanoseconds = word(offset_of!(libc::tpacket2_hdr, tp_nsec));
        Self {
            status,
            length: word(offset_of!(libc::tpacket2_hdr, tp_len)) as usize,
            captured: word(offset_of!(libc::tpacket2_hdr, tp_snaplen)) as usize,
            start: usize::from(half(offset_of!(libc::tpacket2_hdr, tp_mac))),
            at_ns: u64::from(seconds) * 1_000_000_000 + u64::from(nanoseconds),
            tag: half(offset_of!(libc::tpacket2_hdr, tp_vlan_tci)),
            tag_type: half(offset_of!(libc::tpacket2_hdr, tp_vlan_tpid)),
        }
    }

    /// Returns the captured part of several merged frames, or of a frame longer than the link allows.
    fn merged(self, bytes: &[u8]) -> Option<InSlot<'_>> {
        Some(InSlot {
            state: State::read(bytes.get(self.start.checked_sub(checksum::BYTES)?..self.start)?),
            captured: bytes.get(self.start..self.start.checked_add(self.captured)?)?,
            length: self.length,
            is_queued: self.status & libc::TP_STATUS_COPY != 0,
            tag: self.removed_tag(),
        })
    }

    /// Returns type and value of the VLAN tag that the kernel removed.
    fn removed_tag(self) -> Option<(u16, u16)> {
        let is_typed = self.status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
        let tag_type = if is_typed { self.tag_type } else { frame::TAG_TYPE };
        (self.status & libc::TP_STATUS_VLAN_VALID != 0).then_some((tag_type, self.tag))
    }

    /// Restores the frame as it was on the wire. `None` for several merged frames, or a frame longer than the link
    /// allows.
    fn frame<'a>(self, bytes: &'a mut [u8], mtu_bytes: usize, counters: &mut Counters) -> Option<&'a [u8]> {
        let state = State::read(bytes.get(self.start.checked_sub(checksum::BYTES)?..self.start)?);
        let end = self.start.checked_add(self.captured)?;
        let frame = bytes.get_mut(self.start..end)?;
        if state.is_merged || self.captured < self.length || frame.len() > limit_bytes(frame, mtu_bytes) {
            return None;
        }
        if let Some(partial) = state.partial {
            // A checksum outside the frame is left incomplete: the receiver will reject the frame.
            counters.checksums_completed += u64::from(partial.complete(frame));
        }
        let start = match self.removed_tag() {
            Some((tag_type, tag)) => insert_tag(bytes, self.start, tag_type, tag)?,
            None => self.start,
        };
        bytes.get(start..end)
    }
}
