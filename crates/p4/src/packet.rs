//! A packet within the switch: its bytes, the values of its headers, and what the program has asked for it.

use crate::program::Program;

/// How a packet came about, as `standard_metadata.instance_type` says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instance {
    /// It came in at a port.
    #[default]
    Normal = 0,
    /// A copy of one that came in.
    IngressClone = 1,
    /// A copy of one that was to leave.
    EgressClone = 2,
    /// It was sent round from egress.
    Recirculated = 4,
    /// One of a multicast.
    Replica = 5,
    /// It was sent back to the beginning of ingress.
    Resubmitted = 6,
    /// The packet generator made it.
    Generated = 8,
    /// It was moved from egress to another queue.
    Moved = 9,
}

/// What a program asked for, done at the end of the control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Requests {
    /// A clone: its session and the list of fields that it keeps.
    pub clone: Option<(u32, u32)>,
    /// To begin again as it came in; the list of fields.
    pub resubmit: Option<u32>,
    /// To begin again as it leaves; the list of fields.
    pub recirculate: Option<u32>,
    /// A digest; its list.
    pub digest: Option<u32>,
    /// Its port and queue.
    pub queue: Option<(u32, u32)>,
    /// The port and queue of the clone.
    pub clone_to: Option<(u32, u32)>,
}

/// A packet. Its vectors keep their room from packet to packet, so that a used one costs no allocation.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct Packet {
    /// The values of all headers and metadata.
    pub values: Vec<u8>,
    /// Which headers are valid.
    pub valid: Vec<bool>,
    /// How many elements of each stack are filled.
    pub filled: Vec<u32>,
    /// The bits in each header's field of variable length.
    pub var_bits: Vec<u32>,
    /// The packet as it came in.
    pub bytes: Vec<u8>,
    /// How many bytes follow that are not here: of a simulated packet only the headers are.
    pub unseen_bytes: usize,
    /// Where in it the headers that were parsed end.
    pub payload_start: usize,
    /// Its length, as headers come and go.
    pub length: i64,
    /// The bytes after which it is cut off.
    pub length_max: usize,
    /// What was asked for.
    pub requests: Requests,
    /// The control was left.
    pub has_exited: bool,
    /// What parsing ended with.
    pub error: u64,
    /// A checksum is wrong.
    pub has_checksum_error: bool,
    /// The message of the `assert` that does not hold.
    pub failed_assert: Option<u32>,
    /// It took more steps than any program should.
    pub ran_too_long: bool,
    /// Where it came in.
    pub ingress_port: u32,
}

impl Packet {
    /// A packet for `program`, without bytes.
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

    /// Makes it one that has just come in at `port` with `bytes`.
    pub fn arrive(&mut self, program: &Program, port: u32, bytes: &[u8], instance: Instance) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.unseen_bytes = 0;
        self.begin(program, port, instance);
    }

    /// Its length in bytes as it came in, with those that are not here.
    #[inline]
    pub fn whole_bytes(&self) -> usize {
        self.bytes.len() + self.unseen_bytes
    }

    /// The same for the bytes that are in it.
    pub fn begin(&mut self, program: &Program, port: u32, instance: Instance) {
        self.forget(program);
        self.ingress_port = port;
        self.length = self.whole_bytes() as i64;
        let standard = &program.standard;
        self.set(standard.ingress_port, u64::from(port));
        self.set(standard.packet_length, self.whole_bytes() as u64);
        self.set(standard.instance_type, instance as u64);
    }

    /// Makes it a copy of `other`, in the room that it has. A copy is whole, and has no requests: as in BMv2, truncate
    /// cuts off the packet that asked for it alone.
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

    /// Zeros all metadata, as a clone begins.
    pub fn reset_metadata(&mut self, program: &Program) {
        for header in program.headers.iter().filter(|header| header.is_metadata) {
            self.values[header.area()].fill(0);
        }
    }

    /// What of it follows the headers that were parsed.
    pub fn payload(&self) -> &[u8] {
        assert!(self.payload_start <= self.bytes.len(), "parsed headers end within the packet");
        &self.bytes[self.payload_start..]
    }

    /// Writes a field that the program may have.
    #[inline]
    pub fn set(&mut self, slot: Option<crate::bits::Slot>, value: u64) {
        if let Some(slot) = slot {
            crate::bits::write(&mut self.values, slot.bit as usize, slot.width.min(64) as usize, value);
        }
    }

    /// Writes a field that the program may have, at most the greatest value that it has room for.
    #[inline]
    pub fn set_at_most(&mut self, slot: Option<crate::bits::Slot>, value: u64) {
        if let Some(slot) = slot {
            self.set(Some(slot), value.min(u64::MAX >> (64 - slot.width.clamp(1, 64))));
        }
    }

    /// Reads a field that the program may have; else 0.
    #[inline]
    pub fn get(&self, slot: Option<crate::bits::Slot>) -> u64 {
        slot.map_or(0, |slot| crate::bits::read(&self.values, slot.bit as usize, slot.width.min(64) as usize))
    }

    /// Bytes of `header` as it would leave now.
    pub fn wire_bytes(&self, program: &Program, header: u32) -> usize {
        let of = &program.headers[header as usize];
        of.wire_bytes as usize + self.var_bits[header as usize] as usize / 8
    }

    /// Makes a header valid, and the others of its union invalid.
    #[inline]
    pub fn validate(&mut self, program: &Program, header: u32) {
        if let Some(union) = program.headers[header as usize].union {
            for &other in &program.unions[union as usize].headers {
                self.valid[other as usize] = false;
            }
        }
        self.valid[header as usize] = true;
    }

    /// Copies the fields of `from` to `to`, and whether it is valid.
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

    /// Moves the elements of a stack by `by` to the back; what has no room is lost, and what comes is invalid.
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

    /// Moves them to the front.
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

    /// How many elements a stack has.
    fn stack_size(&self, program: &Program, stack: u32) -> usize {
        let size = program.stacks[stack as usize].headers.len();
        assert!(self.filled[stack as usize] as usize <= size, "a stack has no more filled elements than elements");
        size
    }

    /// Copies all headers of a union.
    pub fn assign_union(&mut self, program: &Program, to: u32, from: u32) {
        let members = program.unions[to as usize].headers.len().min(program.unions[from as usize].headers.len());
        for member in 0..members {
            let to = program.unions[to as usize].headers[member];
            let from = program.unions[from as usize].headers[member];
            self.assign_header(program, to, from);
        }
    }

    /// Copies one element of a stack of either kind.
    pub fn move_element(&mut self, program: &Program, stack: u32, to: usize, from: usize) {
        let of = &program.stacks[stack as usize];
        if of.of_unions {
            self.assign_union(program, of.headers[to], of.headers[from]);
        } else {
            self.assign_header(program, of.headers[to], of.headers[from]);
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

    /// Copies a stack.
    pub fn assign_stack(&mut self, program: &Program, to: u32, from: u32) {
        let (target, source) = (&program.stacks[to as usize], &program.stacks[from as usize]);
        assert_eq!(target.headers.len(), source.headers.len(), "stacks that are assigned have one size");
        for (&to, &from) in target.headers.iter().zip(&source.headers) {
            if target.of_unions {
                self.assign_union(program, to, from);
            } else {
                self.assign_header(program, to, from);
            }
        }
        self.filled[to as usize] = self.filled[from as usize];
    }
}
