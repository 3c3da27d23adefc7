//! A packet within the switch: its bytes, its header values, and the program's requests for it.

use crate::program::Program;

/// The origin of a packet, as in `standard_metadata.instance_type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instance {
    /// It arrived at a port.
    #[default]
    Normal = 0,
    /// A clone of an arrived packet.
    IngressClone = 1,
    /// A clone of a departing packet.
    EgressClone = 2,
    Recirculated = 4,
    /// A multicast copy.
    Replica = 5,
    Resubmitted = 6,
    /// The packet generator created it.
    Generated = 8,
    /// It was moved from egress to another queue.
    Moved = 9,
}

/// Requests of a program that are executed at the end of the control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Requests {
    /// Clone: session and list of preserved fields.
    pub clone: Option<(u32, u32)>,
    /// Resubmission of the packet as it arrived: list of preserved fields.
    pub resubmit: Option<u32>,
    /// Recirculation of the packet as it departs: list of preserved fields.
    pub recirculate: Option<u32>,
    /// Digest: its list.
    pub digest: Option<u32>,
    /// Port and queue of the packet.
    pub queue: Option<(u32, u32)>,
    /// Port and queue of the clone.
    pub clone_to: Option<(u32, u32)>,
}

/// A packet. Its vectors keep their capacity between packets, so a reused one needs no allocation.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct Packet {
    /// The values of all headers and metadata.
    pub values: Vec<u8>,
    pub valid: Vec<bool>,
    /// Number of filled elements of each stack.
    pub filled: Vec<u32>,
    /// Length in bits of each header's variable-length field.
    pub var_bits: Vec<u32>,
    /// The packet's bytes at its arrival.
    pub bytes: Vec<u8>,
    /// Number of further bytes that are not stored: a simulated packet carries only its headers.
    pub unseen_bytes: usize,
    /// End of the parsed headers in `bytes`.
    pub payload_start: usize,
    /// The packet's present length, given added and removed headers.
    pub length: i64,
    /// Length of the truncated packet.
    pub length_max: usize,
    pub requests: Requests,
    /// Whether the control was left by `exit`.
    pub has_exited: bool,
    pub error: u64,
    pub has_checksum_error: bool,
    /// The message of a failed `assert`.
    pub failed_assert: Option<u32>,
    /// Whether the packet exceeded the limit of steps.
    pub ran_too_long: bool,
    pub ingress_port: u32,
}

impl Packet {
    pub fn new(program: &Program) -> Self {
        let mut packet = Self {
            values: vec![0; program.values_bytes],
            valid: program.headers.iter().map(|header| header.is_metadata).collect(),
            filled: vec![0; program.stacks.len()],
            var_bits: vec![0; program.headers.len()],
            ..Self::default()
        };
        packet.forget(program);
        packet
    }

    /// Initializes the packet as just arrived at `port` with `bytes`.
    pub fn arrive(&mut self, program: &Program, port: u32, bytes: &[u8], instance: Instance) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.unseen_bytes = 0;
        self.begin(program, port, instance);
    }

    /// Length in bytes at arrival, including those not stored.
    #[inline]
    pub fn whole_bytes(&self) -> usize {
        self.bytes.len() + self.unseen_bytes
    }

    /// Like [`Self::arrive`], with the bytes already in the packet.
    pub fn begin(&mut self, program: &Program, port: u32, instance: Instance) {
        self.forget(program);
        self.ingress_port = port;
        self.length = self.whole_bytes() as i64;
        let standard = &program.standard;
        self.set(standard.ingress_port, u64::from(port));
        self.set(standard.packet_length, self.whole_bytes() as u64);
        self.set(standard.instance_type, instance as u64);
    }

    /// Makes the packet a copy of `other` within its own capacity. A copy is not truncated and has no requests: as in
    /// BMv2, truncation affects only the packet that requested it.
    pub fn copy_from(&mut self, other: &Self) {
        let mut mine = std::mem::take(self);
        mine.values.clone_from(&other.values);
        mine.valid.clone_from(&other.valid);
        mine.filled.clone_from(&other.filled);
        mine.var_bits.clone_from(&other.var_bits);
        mine.bytes.clone_from(&other.bytes);
        *self = Self {
            values: mine.values,
            valid: mine.valid,
            filled: mine.filled,
            var_bits: mine.var_bits,
            bytes: mine.bytes,
            requests: Requests::default(),
            length_max: usize::MAX,
            ..*other
        };
    }

    fn forget(&mut self, program: &Program) {
        assert_eq!(self.values.len(), program.values_bytes, "a packet is used again by its program");
        self.values.fill(0);
        for (valid, header) in self.valid.iter_mut().zip(&program.headers) {
            *valid = header.is_metadata;
        }
        self.filled.fill(0);
        self.var_bits.fill(0);
        self.payload_start = 0;
        self.length_max = usize::MAX;
        self.requests = Requests::default();
        self.has_exited = false;
        self.error = program.errors.none;
        self.has_checksum_error = false;
        self.failed_assert = None;
        self.ran_too_long = false;
    }

    /// Sets all metadata to 0, as for a new clone.
    pub fn reset_metadata(&mut self, program: &Program) {
        for header in program.headers.iter().filter(|header| header.is_metadata) {
            self.values[header.area()].fill(0);
        }
    }

    /// The bytes after the parsed headers.
    pub fn payload(&self) -> &[u8] {
        assert!(self.payload_start <= self.bytes.len(), "parsed headers end within the packet");
        &self.bytes[self.payload_start..]
    }

    /// Writes a field that the program may lack.
    #[inline]
    pub fn set(&mut self, slot: Option<crate::bits::Slot>, value: u64) {
        if let Some(slot) = slot {
            crate::bits::write(&mut self.values, slot.bit as usize, slot.width.min(64) as usize, value);
        }
    }

    /// Writes a field that the program may lack; the value saturates at the field's maximum.
    #[inline]
    pub fn set_at_most(&mut self, slot: Option<crate::bits::Slot>, value: u64) {
        if let Some(slot) = slot {
            self.set(Some(slot), value.min(u64::MAX >> (64 - slot.width.clamp(1, 64))));
        }
    }

    /// Reads a field that the program may lack; 0 if it does.
    #[inline]
    pub fn get(&self, slot: Option<crate::bits::Slot>) -> u64 {
        slot.map_or(0, |slot| crate::bits::read(&self.values, slot.bit as usize, slot.width.min(64) as usize))
    }

    /// Present length of `header` on the wire in bytes.
    pub fn wire_bytes(&self, program: &Program, header: u32) -> usize {
        let of = &program.headers[header as usize];
        of.wire_bytes as usize + self.var_bits[header as usize] as usize / 8
    }

    /// Makes a header valid, and the other members of its union invalid.
    #[inline]
    pub fn validate(&mut self, program: &Program, header: u32) {
        if let Some(union) = program.headers[header as usize].union {
            for &other in &program.unions[union as usize].headers {
                self.valid[other as usize] = false;
            }
        }
        self.valid[header as usize] = true;
    }

    /// Copies fields and validity of a header.
    pub fn assign_header(&mut self, program: &Program, to: u32, from: u32) {
        if !self.valid[from as usize] {
            self.valid[to as usize] = false;
            return;
        }
        self.copy_fields(program, to, from);
        self.validate(program, to);
    }

    fn copy_fields(&mut self, program: &Program, to: u32, from: u32) {
        let (target, source) = (program.headers[to as usize].area(), program.headers[from as usize].area());
        let count = source.len().min(target.len());
        self.values.copy_within(source.start..source.start + count, target.start);
        self.var_bits[to as usize] = self.var_bits[from as usize];
    }

    /// Shifts the elements of a stack back by `by`; elements beyond the end are discarded, and new ones are invalid.
    pub fn push(&mut self, program: &Program, stack: u32, by: usize) {
        let size = self.stack_size(program, stack);
        let by = by.min(size);
        for place in (by..size).rev() {
            self.move_element(program, stack, place, place - by);
        }
        (0..by).for_each(|place| self.clear_element(program, stack, place));
        let filled = &mut self.filled[stack as usize];
        *filled = (*filled as usize + by).min(size) as u32;
    }

    /// Shifts the elements of a stack to the front by `by`.
    pub fn pop(&mut self, program: &Program, stack: u32, by: usize) {
        let size = self.stack_size(program, stack);
        let by = by.min(size);
        for place in 0..size - by {
            self.move_element(program, stack, place, place + by);
        }
        (size - by..size).for_each(|place| self.clear_element(program, stack, place));
        let filled = &mut self.filled[stack as usize];
        *filled = filled.saturating_sub(by as u32);
    }

    fn stack_size(&self, program: &Program, stack: u32) -> usize {
        let size = program.stacks[stack as usize].headers.len();
        assert!(self.filled[stack as usize] as usize <= size, "a stack has no more filled elements than elements");
        size
    }

    pub fn assign_union(&mut self, program: &Program, to: u32, from: u32) {
        let members = program.unions[to as usize].headers.len().min(program.unions[from as usize].headers.len());
        for member in 0..members {
            let to = program.unions[to as usize].headers[member];
            let from = program.unions[from as usize].headers[member];
            self.assign_header(program, to, from);
        }
    }

    /// Copies an element of a stack of headers or unions.
    fn move_element(&mut self, program: &Program, stack: u32, to: usize, from: usize) {
        let of = &program.stacks[stack as usize];
        self.assign_element(program, of.of_unions, of.headers[to], of.headers[from]);
    }

    fn assign_element(&mut self, program: &Program, is_union: bool, to: u32, from: u32) {
        if is_union {
            self.assign_union(program, to, from);
        } else {
            self.assign_header(program, to, from);
        }
    }

    fn clear_element(&mut self, program: &Program, stack: u32, place: usize) {
        let of = &program.stacks[stack as usize];
        if of.of_unions {
            for &header in &program.unions[of.headers[place] as usize].headers {
                self.valid[header as usize] = false;
            }
        } else {
            self.valid[of.headers[place] as usize] = false;
        }
    }

    pub fn assign_stack(&mut self, program: &Program, to: u32, from: u32) {
        let (target, source) = (&program.stacks[to as usize], &program.stacks[from as usize]);
        assert_eq!(target.headers.len(), source.headers.len(), "stacks that are assigned have one size");
        for (&to, &from) in target.headers.iter().zip(&source.headers) {
            self.assign_element(program, target.of_unions, to, from);
        }
        self.filled[to as usize] = self.filled[from as usize];
    }
}
