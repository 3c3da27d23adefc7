//! The sending end: puts frames into blocks and sends parity behind each block.

use crate::wharf::header::WharfHeader;
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Packet, PortId, QueueId, Shim, Time};
use hitless_switch::{Context, HookSet, Needs, QueueConfig, QueueLimit, Report};

use super::coder::{DATA_FRAMES_MAX, PARITY_FRAMES_MAX, parity_frame_bytes};
use super::contents::{Coded, Writer};
use super::settings::WharfSettings;

/// Priority of parity before all waiting frames: it belongs to the block that has just left.
const PARITY_PRIORITY: u8 = u8::MAX;
/// The only role of this mechanism's packets.
const PARITY: u8 = 1;
const CHECK_SEQUENCE_BYTES: u32 = 4;
const ETHERNET_HEADER_BYTES: u32 = 14;

hitless_switch::counters! {
    pub struct Counters {
        data_frames as data_frames_sent = "data frames sent",
        parity_frames as parity_frames_sent = "parity frames sent",
        parity_bytes as parity_sent_bytes = "parity bytes sent",
        blocks = "blocks",
        blocks_flushed = "blocks flushed",
        peak_bytes as encoder_buffer_peak_bytes = "encoder buffer peak (bytes)",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Encoder {
    port: PortId,
    #[configured]
    settings: WharfSettings,
    parity_queue: QueueId,
    #[part]
    contents: Writer,
    block: u8,
    coded: Vec<Coded>,
    coded_bytes: u64,
    wakes_at: Time,
    check_number: u32,
    counters: Counters,
}

impl Encoder {
    /// Visits each packet that the other end can restore at `now` or later.
    pub fn each_coded(&self, now: Time, see: &mut dyn FnMut(&Packet)) {
        self.coded.iter().for_each(|coded| see(&coded.packet));
        self.contents.each_recent(now, see);
    }

    pub fn new(port: PortId, settings: &WharfSettings, contents: Writer) -> Self {
        let (data, parity) = (usize::from(settings.data_frames), usize::from(settings.parity_frames));
        assert!((1..=DATA_FRAMES_MAX).contains(&data), "a block has 1 to {DATA_FRAMES_MAX} data frames, not {data}");
        assert!(parity <= PARITY_FRAMES_MAX, "a block has at most {PARITY_FRAMES_MAX} parity frames, not {parity}");
        Self {
            port,
            settings: settings.clone(),
            parity_queue: QueueId(0),
            contents,
            block: 0,
            coded: Vec::with_capacity(usize::from(settings.data_frames)),
            coded_bytes: 0,
            wakes_at: Time::NEVER,
            check_number: 0,
            counters: Counters::default(),
        }
    }

    /// Requests queue and hook. Without parity frames the port stays unchanged.
    pub fn subscribe(&mut self, queue_counts: &[usize], wanted: &mut Needs) {
        if self.settings.parity_frames == 0 {
            return;
        }
        let port = self.port;
        self.parity_queue = QueueId(queue_counts[usize::from(port.0)] as u8);
        wanted
            .queues
            .push((port, QueueConfig::normal(QueueLimit::Unlimited).with_priority(PARITY_PRIORITY).of_mechanism()));
        wanted.hooks.push((port, HookSet::TX));
    }

    /// Lets a frame leave at once, with its position in the block.
    pub fn send(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let (block, index) = (self.block, self.coded.len() as u8);
        assert!(index < self.settings.data_frames, "frame {index} is behind the end of its block");
        let check_number = CheckNumber(self.check_number);
        let packet = context.packet();
        let length = (packet.frame_bytes - CHECK_SEQUENCE_BYTES) as u16;
        let pushed = packet.push_shim(check_number);
        // Parity covers the frame without Wharf's header, so that the copy is taken before it is pushed.
        let coded = *packet;
        let header = WharfHeader { class: 0, block, index, ether_type: 0, length };
        let pushed = pushed.and_then(|()| packet.push_shim(header));
        pushed.expect("a composition whose shims do not fit is refused when the scenario is read");
        self.check_number = self.check_number.wrapping_add(1);
        self.coded.push(Coded { packet: coded, sent_at: now });
        self.coded_bytes += u64::from(coded.frame_bytes);
        self.counters.data_frames += 1;
        self.counters.peak_bytes = self.counters.peak_bytes.max(self.coded_bytes);
        if self.coded.len() == usize::from(self.settings.data_frames) {
            self.end_block(context);
        } else {
            self.arm(context);
        }
    }

    /// Ends a block early if it has waited long enough.
    pub fn look_at_time(&mut self, context: &mut Context<'_>) {
        if context.now() < self.wakes_at {
            return;
        }
        self.wakes_at = Time::NEVER;
        // The timer may be left from a block that was filled in time; the current block is then armed below, because
        // `arm` never moves a timer back.
        if self.flush_at() <= context.now() {
            self.counters.blocks_flushed += 1;
            self.end_block(context);
        }
        self.arm(context);
    }

    fn flush_at(&self) -> Time {
        self.coded.first().map_or(Time::NEVER, |first| first.sent_at + self.settings.flush_time())
    }

    fn arm(&mut self, context: &mut Context<'_>) {
        let flush_at = self.flush_at();
        if flush_at < self.wakes_at {
            self.wakes_at = flush_at;
            context.wake_at(flush_at, self.port);
        }
    }

    fn end_block(&mut self, context: &mut Context<'_>) {
        let WharfSettings { data_frames, parity_frames, .. } = self.settings;
        let port = self.port;
        assert!(!self.coded.is_empty(), "parity protects at least one frame");
        let number = self.contents.put(&self.coded);
        let longest = self.coded.iter().map(|coded| coded.packet.frame_bytes).max().unwrap_or(0);
        let frame_bytes = parity_frame_bytes(longest);
        let length = frame_bytes - ETHERNET_HEADER_BYTES - WharfHeader::WIRE_BYTES - CHECK_SEQUENCE_BYTES;
        for place in 0..parity_frames {
            let header = WharfHeader {
                class: 0,
                block: self.block,
                index: data_frames + place,
                ether_type: self.coded.len() as u16,
                length: length as u16,
            };
            let mut parity = Packet { frame_bytes: frame_bytes - WharfHeader::WIRE_BYTES, ..Packet::default() };
            let pushed = parity.push_shim(header).and_then(|()| parity.push_shim(CheckNumber(number)));
            pushed.expect("an empty stack has room for both");
            context.queue(port, self.parity_queue).emit_at_mac(parity, PARITY);
        }
        self.counters.blocks += 1;
        self.counters.parity_frames += u64::from(parity_frames);
        self.counters.parity_bytes += u64::from(frame_bytes) * u64::from(parity_frames);
        self.block = (self.block + 1) % WharfHeader::BLOCKS;
        self.coded.clear();
        self.coded_bytes = 0;
    }

    pub fn report(&self, report: &mut Report) {
        let scope = format!("port {} encoder", self.port.0);
        report.acted |= self.counters.data_frames > 0;
        self.counters.report(&scope, report);
    }
}
