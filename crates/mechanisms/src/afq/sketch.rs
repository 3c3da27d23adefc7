//! Bids of flows, in a structure like a count-min sketch (section 3.2).
//!
//! A bid is a number of bytes from the beginning of the first round: the service of the flow once the packet has left.
//! Only a bid's distance from the beginning of the current round matters, so that a cell may have 32 bits and wrap.

use hitless_switch::{Half, Pass, RegisterArray, RegisterCell, RegisterUse};

use super::hash::{Hashes, Key};
use super::settings::{AfqSketch, UpdateRule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bid {
    pub ahead_bytes: u64,
    /// Whether the rows differ: in at least one of them the flow shares its cell.
    pub rows_differ: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub key: Key,
    /// The bid at the beginning of the current round: R x BpR.
    pub base_bytes: u64,
    pub charge_bytes: u64,
    /// Distance at which the packet is dropped.
    pub limit_bytes: u64,
}

#[derive(Debug, hitless_core::state::State)]
pub enum Sketch {
    Narrow(Cells<u32>),
    Wide(Cells<u64>),
}

impl Sketch {
    /// An empty sketch; its hash functions follow from `seed`. `limit_max_bytes` is the maximum of
    /// [`Request::limit_bytes`].
    pub fn new(settings: AfqSketch, seed: u64, limit_max_bytes: u64) -> Self {
        if settings.bid_bits == 64 {
            Self::Wide(Cells::new(settings, seed, limit_max_bytes))
        } else {
            Self::Narrow(Cells::new(settings, seed, limit_max_bytes))
        }
    }

    #[inline]
    pub fn raise(&mut self, pass: &mut Pass, request: &Request) -> Bid {
        match self {
            Self::Narrow(cells) => cells.raise(pass, request),
            Self::Wide(cells) => cells.raise(pass, request),
        }
    }

    pub fn stated(&self) -> Vec<RegisterUse> {
        match self {
            Self::Narrow(cells) => cells.rows.iter().map(RegisterArray::stated).collect(),
            Self::Wide(cells) => cells.rows.iter().map(RegisterArray::stated).collect(),
        }
    }

    /// Takes back the charge of a packet that found no room in its queue.
    pub fn refund(&mut self, pass: &mut Pass, request: &Request) {
        match self {
            Self::Narrow(cells) => cells.refund(pass, request),
            Self::Wide(cells) => cells.refund(pass, request),
        }
    }
}

pub trait Cell: RegisterCell + Default {
    /// Half of the values: a cell further ahead is behind.
    const HALF: u64;
    /// The cell that holds `bid_bytes`, truncated to its width.
    fn of(bid_bytes: u64) -> Self;
    /// The distance ahead of `base_bytes`, modulo the width; very large if it is behind.
    fn ahead_of(self, base_bytes: u64) -> u64;
}

impl Cell for u32 {
    const HALF: u64 = 1 << 31;

    #[inline]
    fn of(bid_bytes: u64) -> Self {
        bid_bytes as u32
    }

    #[inline]
    fn ahead_of(self, base_bytes: u64) -> u64 {
        self.wrapping_sub(base_bytes as u32).into()
    }
}

impl Cell for u64 {
    const HALF: u64 = 1 << 63;

    #[inline]
    fn of(bid_bytes: u64) -> Self {
        bid_bytes
    }

    #[inline]
    fn ahead_of(self, base_bytes: u64) -> u64 {
        self.wrapping_sub(base_bytes)
    }
}

/// The names of the rows; the maximum number of rows.
const ROW_NAMES: [&str; 8] = [
    "bids, row 0",
    "bids, row 1",
    "bids, row 2",
    "bids, row 3",
    "bids, row 4",
    "bids, row 5",
    "bids, row 6",
    "bids, row 7",
];

/// The stage of the first row; earlier stages hold the round.
const FIRST_STAGE: u8 = 2;

#[derive(Debug, hitless_core::state::State)]
pub struct Cells<C> {
    #[part]
    rows: Vec<RegisterArray<C>>,
    columns: u32,
    #[configured]
    hashes: Hashes,
    #[configured]
    update: UpdateRule,
    /// A cell further ahead than this is an old bid.
    window_bytes: u64,
}

impl<C: Cell> Cells<C> {
    fn new(settings: AfqSketch, seed: u64, limit_max_bytes: u64) -> Self {
        let row = |number: u8| {
            let name = ROW_NAMES[usize::from(number)];
            RegisterArray::new(name, Half::Ingress, FIRST_STAGE + number, settings.columns as usize, C::default())
        };
        // Only unbounded increments run further ahead than a packet may.
        let window_bytes = if settings.update == UpdateRule::Increment { C::HALF } else { limit_max_bytes };
        assert!(window_bytes <= C::HALF, "bids of {} bits cannot tell so many rounds apart", 8 * size_of::<C>());
        assert!(settings.rows > 0 && settings.columns > 0, "a sketch has cells");
        Self {
            rows: (0..settings.rows).map(row).collect(),
            columns: settings.columns,
            hashes: Hashes::new(settings.hash, seed, settings.rows),
            update: settings.update,
            window_bytes,
        }
    }

    #[inline]
    fn raise(&mut self, pass: &mut Pass, request: &Request) -> Bid {
        match self.update {
            UpdateRule::Increment => self.increment(pass, request, u64::MAX),
            UpdateRule::PredicatedIncrement => self.increment(pass, request, request.limit_bytes),
            UpdateRule::Figure3 => self.read_then_write(pass, request),
        }
    }

    /// The distance of the bid in a cell ahead of the base; 0 if it is behind.
    #[inline]
    fn ahead(cell: C, base_bytes: u64, window_bytes: u64) -> u64 {
        let ahead_bytes = cell.ahead_of(base_bytes);
        // "If it is lower than the starting bid number for the current round, the bid is pushed up" (section 3.3.1).
        // Bids wrap, and a distance beyond the window is a bid of the past.
        if ahead_bytes > window_bytes { 0 } else { ahead_bytes }
    }

    /// Raises each row in a single access. A row stays unchanged if it would reach `bound_bytes`.
    #[inline]
    fn increment(&mut self, pass: &mut Pass, request: &Request, bound_bytes: u64) -> Bid {
        let Request { key, base_bytes, charge_bytes, limit_bytes } = *request;
        let window_bytes = self.window_bytes;
        assert!(limit_bytes <= window_bytes, "bids below the limit can be told from those of long ago");
        let (mut least, mut most) = (u64::MAX, 0);
        for (number, row) in self.rows.iter_mut().enumerate() {
            let column = self.hashes.column(number, key, self.columns);
            let bid = row.access(pass, column, |cell| {
                let bid = Self::ahead(*cell, base_bytes, window_bytes) + charge_bytes;
                // A predicated register updates in the same access that reads (section 3.2). The row decides alone,
                // without the minimum over all rows: a row above the bound keeps its value although the packet may be
                // queued.
                if bid < bound_bytes {
                    *cell = C::of(base_bytes.wrapping_add(bid));
                }
                bid
            });
            (least, most) = (least.min(bid), most.max(bid));
        }
        Bid { ahead_bytes: least, rows_differ: least != most }
    }

    /// Figure 3: `read_sketch`, and `update_sketch` for a packet that is queued.
    fn read_then_write(&mut self, pass: &mut Pass, request: &Request) -> Bid {
        let Request { key, base_bytes, charge_bytes, limit_bytes } = *request;
        let window_bytes = self.window_bytes;
        assert!(limit_bytes <= window_bytes, "bids below the limit can be told from those of long ago");
        let (mut least, mut most) = (u64::MAX, 0);
        for (number, row) in self.rows.iter_mut().enumerate() {
            // `read_sketch`: the minimum over the rows. A collision only raises a cell, so that the minimum is the
            // closest.
            let column = self.hashes.column(number, key, self.columns);
            let ahead = row.access(pass, column, |cell| Self::ahead(*cell, base_bytes, window_bytes));
            (least, most) = (least.min(ahead), most.max(ahead));
        }
        // `bid = bid + pkt.size`; `ahead` has applied `max(bid, R * BpR)` before, by reading a past bid as 0.
        let bid = least + charge_bytes;
        if bid < limit_bytes {
            for (number, row) in self.rows.iter_mut().enumerate() {
                let column = self.hashes.column(number, key, self.columns);
                row.access(pass, column, |cell| {
                    // `update_sketch`: `max(S[i][h], val)`. A row with a higher bid belongs to a flow that shares the
                    // cell.
                    if Self::ahead(*cell, base_bytes, window_bytes) < bid {
                        *cell = C::of(base_bytes.wrapping_add(bid));
                    }
                });
            }
        }
        Bid { ahead_bytes: bid, rows_differ: least != most }
    }

    /// Lowers each row that the packet can have raised, but not below the current round.
    fn refund(&mut self, pass: &mut Pass, request: &Request) {
        let Request { key, base_bytes, charge_bytes, .. } = *request;
        let window_bytes = self.window_bytes;
        for (number, row) in self.rows.iter_mut().enumerate() {
            let column = self.hashes.column(number, key, self.columns);
            row.access(pass, column, |cell| {
                let ahead = Self::ahead(*cell, base_bytes, window_bytes);
                *cell = C::of(base_bytes.wrapping_add(ahead.saturating_sub(charge_bytes)));
            });
        }
    }
}
