//! The receiving end: forwards data frames as they arrive, and restores missing ones when parity allows.

use crate::wharf::header::WharfHeader;
use hdrhistogram::Histogram;
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Packet, PortId};
use hitless_switch::{Context, DropReason, HookSet, Needs, Quantity, Report, Verdict};

use super::contents::{Coded, Reader};
use super::settings::WharfSettings;
use crate::link_checker::Checker;

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Block {
    /// One bit per data frame.
    data: u64,
    /// One bit per parity frame.
    parity: u8,
    /// Bytes of the data frames, kept until none is missing.
    held_bytes: u64,
    is_done: bool,
}

pub const RESTORATION_DELAY: Quantity = Quantity::new("restoration_delay_ns", "time from sending to restoration (ns)");

hitless_switch::counters! {
    pub struct DeliveryCounters(decoder: &Decoder) {
        packets_delivered_late = "packets delivered late": decoder.checker.reordered,
        packets_lost = "packets lost": decoder.checker.lost(),
        decoder_buffer_peak_bytes = "decoder buffer peak (bytes)": decoder.peak_bytes,
    }
}

hitless_switch::counters! {
    pub struct Counters {
        data_frames as data_frames_received = "data frames received",
        parity_frames as parity_frames_received = "parity frames received",
        restored as frames_restored = "frames restored",
        blocks_restored = "blocks restored",
        strays as stray_frames = "frames of blocks that were over",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Decoder {
    port: PortId,
    #[configured]
    settings: WharfSettings,
    #[configured]
    contents: Reader,
    newest: u8,
    /// The newest block and the one before it, whose parity may come behind a frame of the next block.
    open: [Block; 2],
    #[part]
    restoration_delay_ns: Histogram<u64>,
    checker: Checker,
    peak_bytes: u64,
    counters: Counters,
}

impl Decoder {
    pub fn new(port: PortId, settings: &WharfSettings, contents: Reader) -> Self {
        const HIGHEST_DELAY_NS: u64 = 1_000_000_000;
        Self {
            port,
            settings: settings.clone(),
            contents,
            newest: 0,
            // Nothing comes before the first block, so that stray parity must not restore there.
            open: [Block::default(), Block { is_done: true, ..Block::default() }],
            restoration_delay_ns: Histogram::new_with_max(HIGHEST_DELAY_NS, 3).expect("valid bounds"),
            checker: Checker::default(),
            peak_bytes: 0,
            counters: Counters::default(),
        }
    }

    pub fn subscribe(&self, wanted: &mut Needs) {
        if self.settings.parity_frames > 0 {
            wanted.hooks.push((self.port, HookSet::RX));
        }
    }

    pub fn take(&mut self, context: &mut Context<'_>) -> Verdict {
        let Some(header) = context.packet().remove_shim::<WharfHeader>() else { return Verdict::Continue };
        let check: Option<CheckNumber> = context.packet().remove_shim();
        let (place, check) = (self.place_of(header.block), check.map_or(0, |CheckNumber(number)| number));
        match header.index.checked_sub(self.settings.data_frames) {
            None => self.take_data(header, place, check, context),
            Some(parity) => self.take_parity(header, parity, place, check, context),
        }
    }

    fn take_data(
        &mut self,
        header: WharfHeader,
        place: Option<usize>,
        check: u32,
        context: &mut Context<'_>,
    ) -> Verdict {
        self.counters.data_frames += 1;
        self.checker.deliver(check);
        if let Some(place) = place {
            let block = &mut self.open[place];
            block.data |= 1 << header.index;
            block.held_bytes += u64::from(context.packet().frame_bytes);
            let held_bytes = self.open.iter().map(|block| block.held_bytes).sum();
            self.peak_bytes = self.peak_bytes.max(held_bytes);
        } else {
            self.counters.strays += 1;
        }
        Verdict::Continue
    }

    fn take_parity(
        &mut self,
        header: WharfHeader,
        parity: u8,
        place: Option<usize>,
        number: u32,
        context: &mut Context<'_>,
    ) -> Verdict {
        self.counters.parity_frames += 1;
        let Some(place) = place.filter(|_| parity < self.settings.parity_frames) else {
            self.counters.strays += 1;
            return Verdict::Drop(DropReason::ControlAbsorbed);
        };
        let block = &mut self.open[place];
        block.parity |= 1 << parity;
        // Parity carries the number of data frames in its block, because a flushed block has fewer.
        let is_whole = block.data.count_ones() == u32::from(header.ether_type);
        if !is_whole && !block.is_done {
            let (data, parity) = (block.data, block.parity.count_ones() as usize);
            self.restore(place, number, data, parity, context);
        } else {
            *block = Block { is_done: true, held_bytes: 0, ..*block };
        }
        Verdict::Drop(DropReason::ControlAbsorbed)
    }

    fn restore(&mut self, place: usize, number: u32, data: u64, parity: usize, context: &mut Context<'_>) {
        let restored = self.contents.restore(number, data, parity);
        if restored.is_empty() {
            return;
        }
        self.counters.blocks_restored += 1;
        self.counters.restored += restored.len() as u64;
        self.open[place] = Block { is_done: true, held_bytes: 0, ..self.open[place] };
        for Coded { packet, sent_at } in restored {
            let delay = context.now().saturating_since(sent_at);
            self.restoration_delay_ns.saturating_record(delay.as_ps() / 1_000);
            self.pass_on(packet, context);
        }
    }

    /// Lets a restored frame enter the switch as if it came from the link.
    fn pass_on(&mut self, mut packet: Packet, context: &mut Context<'_>) {
        if let Some(CheckNumber(number)) = packet.remove_shim() {
            self.checker.deliver(number);
        }
        // Reception counts the hop, and this packet does not pass it.
        packet.ttl = packet.ttl.saturating_sub(1);
        context.mac(self.port).emit_at_ingress(packet);
    }

    /// The position of the block; `None` if it is over. A newer block replaces the older of the two.
    fn place_of(&mut self, block: u8) -> Option<usize> {
        // Block numbers have 5 bits: less than half of the range ahead is newer, everything else is old.
        let ahead = block.wrapping_sub(self.newest) % WharfHeader::BLOCKS;
        const BEHIND_BY_ONE: u8 = WharfHeader::BLOCKS - 1;
        match ahead {
            0 => Some(0),
            BEHIND_BY_ONE => Some(1),
            _ if ahead < WharfHeader::BLOCKS / 2 => {
                // If blocks are skipped, no frame of the one before the newest has arrived.
                let before = if ahead == 1 { self.open[0] } else { Block::default() };
                self.open = [Block::default(), before];
                self.newest = block;
                Some(0)
            }
            _ => None,
        }
    }

    pub fn report(&self, report: &mut Report) {
        let scope = format!("port {} decoder", self.port.0);
        let (counters, checker) = (&self.counters, &self.checker);
        report.acted |= counters.data_frames > 0;
        counters.report(&scope, report);
        report.count(&scope, DeliveryCounters::values(self));
        report.histograms.push((scope.clone(), RESTORATION_DELAY, self.restoration_delay_ns.clone()));
        if checker.duplicates > 0 {
            let promise = format!("wharf {scope}: delivered {} frames twice", checker.duplicates);
            report.violated_invariants.push(promise);
        }
    }
}
