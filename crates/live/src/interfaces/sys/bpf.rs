//! The program that passes the frames of an interface to an AF_XDP socket, loaded with bpf(2).
//!
//! It has a dozen instructions, so it is written here as bytes and not compiled. It is attached by a BPF link, which is
//! a file descriptor: when the process ends in any way, the program is detached. While the process lives, a command
//! detaches it, because a child between fork and exec has a copy of the descriptor and would keep the program attached.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// In the driver, before there is a socket buffer.
    Native,
    /// In the network stack, for drivers without XDP.
    Generic,
}

/// The map with the socket of a queue.
#[derive(Debug)]
pub struct SocketMap(OwnedFd);

/// A program that is attached as long as this value lives.
#[derive(Debug)]
pub struct Attachment {
    link: OwnedFd,
}

// Commands and types of linux/bpf.h.
const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const PROGRAM_LOAD: libc::c_int = 5;
const LINK_CREATE: libc::c_int = 28;
const LINK_DETACH: libc::c_int = 34;
const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_OF_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const FLAG_GENERIC: u32 = 1 << 1;
const FLAG_NATIVE: u32 = 1 << 2;

impl SocketMap {
    /// Makes a map for one queue.
    pub fn new() -> io::Result<Self> {
        #[repr(C)]
        struct Attributes {
            map_type: u32,
            key_bytes: u32,
            value_bytes: u32,
            entries: u32,
            flags: u32,
        }
        let mut attributes =
            Attributes { map_type: MAP_OF_SOCKETS, key_bytes: 4, value_bytes: 4, entries: 1, flags: 0 };
        bpf_descriptor(MAP_CREATE, &mut attributes).map(Self)
    }

    /// Sets the socket of queue 0, which must be bound.
    pub fn set(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        #[repr(C)]
        struct Attributes {
            map: u32,
            padding: u32,
            key: u64,
            value: u64,
            flags: u64,
        }
        let key = 0_u32;
        let value = number(&socket);
        let mut attributes = Attributes {
            map: number(&self.0),
            padding: 0,
            key: std::ptr::from_ref(&key).addr() as u64,
            value: std::ptr::from_ref(&value).addr() as u64,
            flags: 0,
        };
        // Both values must live until here, which the compiler cannot infer from their addresses.
        let result = bpf(MAP_UPDATE, &mut attributes).map(drop);
        std::hint::black_box((&key, &value));
        result
    }

    /// Loads the program and attaches it to the interface with `index`.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_BPF and CAP_NET_ADMIN, `ResourceBusy` if another program is attached,
    /// `EOPNOTSUPP` if the driver does not support XDP.
    pub fn attach(&self, index: libc::c_int, hook: Hook) -> io::Result<Attachment> {
        #[repr(C)]
        struct Attributes {
            program: u32,
            interface: u32,
            attach_type: u32,
            flags: u32,
        }
        let program = self.load()?;
        let flags = match hook {
            Hook::Native => FLAG_NATIVE,
            Hook::Generic => FLAG_GENERIC,
        };
        let interface = u32::try_from(index).map_err(io::Error::other)?;
        let mut attributes = Attributes { program: number(&program), interface, attach_type: ATTACH_XDP, flags };
        let link = bpf_descriptor(LINK_CREATE, &mut attributes)?;
        Ok(Attachment { link })
    }

    fn load(&self) -> io::Result<OwnedFd> {
        #[repr(C)]
        struct Attributes {
            program_type: u32,
            instruction_count: u32,
            instructions: u64,
            license: u64,
            log_level: u32,
            log_bytes: u32,
            log: u64,
            kernel_version: u32,
            flags: u32,
            name: [u8; 16],
        }
        let instructions = program(self.0.as_raw_fd());
        let license = c"Apache-2.0";
        let mut attributes = Attributes {
            program_type: PROGRAM_OF_XDP,
            instruction_count: u32::try_from(instructions.len()).map_err(io::Error::other)?,
            instructions: instructions.as_ptr().addr() as u64,
            license: license.as_ptr().addr() as u64,
            log_level: 0,
            log_bytes: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name: *b"hitless_port\0\0\0\0",
        };
        let result = bpf_descriptor(PROGRAM_LOAD, &mut attributes);
        std::hint::black_box(&instructions);
        result
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut link = number(&self.link);
        // A kernel without this command (before 5.9), or one that refuses it to a process without its capabilities,
        // detaches the program when the last copy of the descriptor is closed.
        let _ = bpf(LINK_DETACH, &mut link);
    }
}

/// Encodes an instruction: operation, registers, offset, immediate (RFC 9669, section 3).
const fn instruction(operation: u8, destination: u8, source: u8, offset: i16, immediate: i32) -> [u8; 8] {
    let registers = if cfg!(target_endian = "little") { destination | source << 4 } else { destination << 4 | source };
    let [o0, o1] = offset.to_ne_bytes();
    let [i0, i1, i2, i3] = immediate.to_ne_bytes();
    [operation, registers, o0, o1, i0, i1, i2, i3]
}

/// Assembles the program:
///
/// ```text
/// if (bpf_xdp_adjust_meta(context, -8) == 0)
///     *(u64 *)context->data_meta = bpf_ktime_get_ns();
/// return bpf_redirect_map(&sockets, context->rx_queue_index, XDP_PASS);
/// ```
///
/// It stores the time before the frame, where the process finds it. A frame of a queue without a socket continues to
/// the kernel's own stack.
fn program(map: libc::c_int) -> [[u8; 8]; 17] {
    const MOVE: u8 = 0xbf;
    const MOVE_NUMBER: u8 = 0xb7;
    const ADD_NUMBER: u8 = 0x07;
    const LOAD_WORD: u8 = 0x61;
    const STORE_LONG: u8 = 0x7b;
    const CALL: u8 = 0x85;
    const JUMP_UNEQUAL: u8 = 0x55;
    const JUMP_GREATER: u8 = 0x2d;
    const LOAD_IMMEDIATE: u8 = 0x18;
    const EXIT: u8 = 0x95;
    const MAP_DESCRIPTOR: u8 = 1;
    const ADJUST_META: i32 = 54;
    const TIME: i32 = 5;
    const REDIRECT_MAP: i32 = 51;
    const PASS: i32 = 2;
    // Members of struct xdp_md.
    const DATA: i16 = 0;
    const DATA_META: i16 = 8;
    const QUEUE: i16 = 16;
    [
        instruction(MOVE, 6, 1, 0, 0),
        instruction(MOVE_NUMBER, 2, 0, 0, -8),
        instruction(CALL, 0, 0, 0, ADJUST_META),
        instruction(JUMP_UNEQUAL, 0, 0, 7, 0),
        instruction(CALL, 0, 0, 0, TIME),
        instruction(LOAD_WORD, 2, 6, DATA_META, 0),
        instruction(LOAD_WORD, 3, 6, DATA, 0),
        instruction(MOVE, 4, 2, 0, 0),
        instruction(ADD_NUMBER, 4, 0, 0, 8),
        instruction(JUMP_GREATER, 4, 3, 1, 0),
        instruction(STORE_LONG, 2, 0, 0, 0),
        instruction(LOAD_WORD, 2, 6, QUEUE, 0),
        instruction(LOAD_IMMEDIATE, 1, MAP_DESCRIPTOR, 0, map),
        instruction(0, 0, 0, 0, 0),
        instruction(MOVE_NUMBER, 3, 0, 0, PASS),
        instruction(CALL, 0, 0, 0, REDIRECT_MAP),
        instruction(EXIT, 0, 0, 0, 0),
    ]
}

fn number(descriptor: &impl AsRawFd) -> u32 {
    descriptor.as_raw_fd().cast_unsigned()
}

fn bpf_descriptor<T>(command: libc::c_int, attributes: &mut T) -> io::Result<OwnedFd> {
    let result = bpf(command, attributes)?;
    // SAFETY: these commands return a new descriptor, which has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}

fn bpf<T>(command: libc::c_int, attributes: &mut T) -> io::Result<libc::c_int> {
    // SAFETY: `attributes` lives for the call, which reads its size. Every caller passes the layout of its command, and
    // the addresses in it point to values that outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) };
    match libc::c_int::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, id};

    use super::*;
    use crate::interfaces::namespace::Namespace;

    const LOOPBACK: libc::c_int = 1;

    fn ip(arguments: &[&str]) -> bool {
        Command::new("ip").args(arguments).output().is_ok_and(|output| output.status.success())
    }

    /// On a busy machine a child can stay between fork and exec for a long time, with every descriptor of its parent.
    #[test]
    fn a_copy_of_the_descriptor_in_a_child_does_not_keep_the_program() {
        let name = format!("hl-bpf-{}", id());
        if !ip(&["netns", "add", &name]) {
            eprintln!("skipped: network namespaces are not permitted here, or `ip` is missing");
            return;
        }
        let namespace = Namespace::named(&name).expect("it has just been made");
        let looked = namespace.within(|| {
            let map = SocketMap::new()?;
            let first = map.attach(LOOPBACK, Hook::Generic)?;
            let taken = map.attach(LOOPBACK, Hook::Generic).map(drop);
            let of_the_child = first.link.try_clone()?;
            drop(first);
            let again = map.attach(LOOPBACK, Hook::Generic).map(drop);
            drop(of_the_child);
            Ok((taken.is_err(), again.is_ok()))
        });
        ip(&["netns", "del", &name]);
        match looked.expect("who can make a namespace can enter it") {
            Ok(looked) => assert_eq!(looked, (true, true)),
            Err::<_, io::Error>(reason) => eprintln!("skipped: no XDP here: {reason}"),
        }
    }
}
