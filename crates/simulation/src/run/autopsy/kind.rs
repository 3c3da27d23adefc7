//! The kinds of frames in a queue.

use hitless_core::wire::Packet;
use hitless_switch::Switch;

/// The kind of a frame: its maker, if that is not a host, and three properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind(pub u8);

impl Kind {
    /// The flow's receiver has sent it.
    const ANSWER: u8 = 1;
    const TRIMMED: u8 = 2;
    /// It belongs to no flow.
    const VOID: u8 = 4;
    const MAKER_SHIFT: u32 = 3;
    /// The last maker: any without a name in [`Makers`].
    const MAKERS: usize = 31;

    pub const DATA: Self = Self(0);

    /// A packet of a flow, as a host sends it.
    #[inline(always)]
    pub const fn sent(is_of_receiver: bool) -> Self {
        Self(is_of_receiver as u8)
    }

    /// A copy of a packet of this kind, made by a switch.
    pub const fn copied(self, maker: u8) -> Self {
        Self(self.0 & Self::ANSWER | maker << Self::MAKER_SHIFT)
    }

    /// A packet of no flow.
    pub const fn void(maker: u8) -> Self {
        Self(Self::VOID | maker << Self::MAKER_SHIFT)
    }

    /// The kind after the link: the next switch cannot tell a copy from its original.
    #[inline(always)]
    pub const fn arrived(self) -> Self {
        Self(self.0 & (Self::ANSWER | Self::TRIMMED | Self::VOID))
    }

    /// The kind of the packet after a switch has trimmed it.
    pub const fn trimmed(self) -> Self {
        Self(self.0 | Self::TRIMMED)
    }

    pub const fn is_trimmed(self) -> bool {
        self.0 & Self::TRIMMED != 0
    }

    #[inline(always)]
    pub const fn is_void(self) -> bool {
        self.0 & Self::VOID != 0
    }

    /// Whether a switch has made it as a copy, and has not sent it yet.
    #[inline(always)]
    pub const fn is_copy(self) -> bool {
        !self.is_void() && self.maker() != 0
    }

    /// Whether it is a flow's packet, with its payload: these are counted by flow.
    pub const fn is_of_flow(self) -> bool {
        self.0 & !Self::ANSWER == 0
    }

    pub const fn is_answer(self) -> bool {
        self.0 & Self::ANSWER != 0
    }

    pub const fn maker(self) -> u8 {
        self.0 >> Self::MAKER_SHIFT
    }

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self.0 {
            kind if kind & Self::VOID != 0 => "control",
            kind if kind & Self::TRIMMED != 0 => "trimmed",
            kind if kind >> Self::MAKER_SHIFT != 0 => "copies",
            kind if kind & Self::ANSWER != 0 => "acknowledgements",
            _ => "data",
        }
    }
}

/// Length and kind of a frame in one word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame(u32);

impl Frame {
    const KIND_SHIFT: u32 = 24;

    #[inline(always)]
    pub const fn new(frame_bytes: u32, kind: Kind) -> Self {
        Self(frame_bytes | (kind.0 as u32) << Self::KIND_SHIFT)
    }

    pub const fn bytes(self) -> u32 {
        self.0 & ((1 << Self::KIND_SHIFT) - 1)
    }

    pub const fn kind(self) -> Kind {
        Kind((self.0 >> Self::KIND_SHIFT) as u8)
    }
}

/// The mechanisms that make packets, with a number for each name, counted from 1.
#[derive(Debug, Default)]
pub(super) struct Makers {
    names: Vec<&'static str>,
    /// By switch, and by number of the mechanism there.
    of_switches: Vec<Vec<u8>>,
}

impl Makers {
    pub fn new(switches: &[Switch]) -> Self {
        let mut makers = Self::default();
        for switch in switches {
            let numbers = switch.mechanism_names().map(|name| makers.number(name)).collect();
            makers.of_switches.push(numbers);
        }
        makers
    }

    fn number(&mut self, name: &'static str) -> u8 {
        let known = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        (known + 1).min(Kind::MAKERS) as u8
    }

    /// The maker of a packet that a switch has just made: its owner.
    pub fn of(&self, switch: u32, packet: &Packet) -> u8 {
        let owner = usize::from(packet.owner).checked_sub(1);
        // Hosts have no number here: they make messages of flow control.
        let numbers = self.of_switches.get(switch as usize);
        owner.and_then(|owner| numbers?.get(owner)).copied().unwrap_or(Kind::MAKERS as u8)
    }

    /// The name of a maker; empty for the switch itself.
    pub fn name(&self, kind: Kind) -> &'static str {
        let place = usize::from(kind.maker()).checked_sub(1).filter(|place| place + 1 < Kind::MAKERS);
        place.and_then(|place| self.names.get(place)).copied().unwrap_or("")
    }
}
