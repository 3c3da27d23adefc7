//! Pairs of veth in separate network namespaces.

use std::net::UdpSocket;
use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hitless_live::interfaces::namespace::Namespace;
use hitless_live::interfaces::{Interface, Options, open};

pub type Port = Box<dyn Interface + Send>;

/// A namespace with a veth pair `left` and `right`, both up; removed at drop.
pub struct Pair {
    name: String,
    namespace: Namespace,
}

impl Pair {
    /// Makes a pair. Returns `None` and prints the reason if that is not permitted.
    pub fn make(mtu_bytes: usize) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("hl-if-{}-{}", id(), COUNT.fetch_add(1, Ordering::Relaxed));
        if let Err(reason) = run("ip", &["netns", "add", &name]) {
            eprintln!("skipped: network namespaces are not permitted here, or `ip` is missing: {reason}");
            return None;
        }
        let namespace = Namespace::named(&name).expect("it has just been made");
        let pair = Self { name, namespace };
        pair.cable("left", "right", mtu_bytes);
        Some(pair)
    }

    /// Makes a veth with these ends, both up.
    pub fn cable(&self, left: &str, right: &str, mtu_bytes: usize) {
        let mtu = mtu_bytes.to_string();
        self.ip(&["link", "add", left, "mtu", &mtu, "type", "veth", "peer", "name", right, "mtu", &mtu]);
        for end in [left, right] {
            // Without IPv6 the kernel sends nothing on these interfaces.
            self.ip(&["link", "set", end, "addrgenmode", "none", "arp", "off", "up"]);
        }
    }

    /// Makes a pair, and opens both ends.
    pub fn ports(mtu_bytes: usize) -> Option<(Self, Port, Port)> {
        let pair = Self::make(mtu_bytes)?;
        let [left, right] = ["left", "right"].map(|end| pair.open(end, Options::default()));
        Some((pair, left, right))
    }

    /// Runs `ip` in the namespace; returns its output.
    pub fn ip(&self, arguments: &[&str]) -> String {
        let arguments: Vec<&str> = ["-n", &self.name].into_iter().chain(arguments.iter().copied()).collect();
        run("ip", &arguments).expect("iproute2 works in a namespace of ours")
    }

    pub fn open(&self, end: &str, options: Options) -> Port {
        self.within(|| open(end, options)).expect("the interface can be opened")
    }

    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.namespace.within(work).expect("who can make a namespace can enter it")
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = run("ip", &["netns", "del", &self.name]);
    }
}

fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// Receives until `count` frames have arrived or five seconds have passed.
pub fn collect(port: &mut dyn Interface, count: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let end = Instant::now() + Duration::from_secs(5);
    while frames.len() < count && Instant::now() < end {
        port.receive(64, &mut |frame| frames.push(frame.bytes.to_vec())).expect("the interface is there");
    }
    frames
}

/// A frame of `length` bytes with a payload that depends on `seed`.
pub fn frame(length: usize, seed: u8) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..length).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect();
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]);
    frame
}

/// Sends all of `frames`, as fast as the ring accepts them.
pub fn send_all(port: &mut dyn Interface, frames: &[Vec<u8>]) {
    for frame in frames {
        port.send(frame).expect("the ring has room");
    }
    port.flush().expect("the interface is there");
}

/// Sends frames of all sizes in both directions, `at_once` at a time, and checks the ports' counters.
pub fn cross_in_both_directions(left: &mut Port, right: &mut Port, at_once: usize) {
    let mode = left.mode().to_owned();
    let frames: Vec<Vec<u8>> = (14..=left.frame_limit_bytes()).map(|length| frame(length, length as u8)).collect();
    for frames in frames.chunks(at_once) {
        send_all(&mut **left, frames);
        send_all(&mut **right, frames);
        assert_eq!(collect(&mut **right, frames.len()), frames, "{mode}, left to right");
        assert_eq!(collect(&mut **left, frames.len()), frames, "{mode}, right to left");
    }
    for port in [left, right] {
        let counters = port.counters().expect("counters");
        assert_eq!(counters.frames_sent, frames.len() as u64);
        assert_eq!(counters.frames_received, frames.len() as u64, "none of our own comes back");
        assert_eq!((counters.frames_overrun, counters.frames_merged, counters.frames_refused), (0, 0, 0));
    }
}

/// Checks that the port of a removed interface reports it within five seconds, and then refuses to send.
pub fn finds_itself_gone(port: &mut dyn Interface) {
    let end = Instant::now() + Duration::from_secs(5);
    let error = loop {
        if let Err(error) = port.receive(64, &mut |_| {}) {
            break error;
        }
        assert!(Instant::now() < end, "no error within five seconds");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("interface left is gone"), "{error}");
    port.send(&frame(60, 1)).expect("the ring is there still");
    assert_eq!(port.flush().expect_err("gone").kind(), std::io::ErrorKind::NotFound);
}

/// Makes the kernel send a datagram from `left`, and receives its frame at a port on `right`.
pub fn datagram_from_kernel(
    pair: &Pair,
    payload: &[u8],
    right: impl FnOnce() -> Option<Port>,
) -> Option<(Port, Vec<u8>)> {
    pair.ip(&["address", "add", "10.9.0.1/24", "dev", "left"]);
    pair.ip(&["neighbour", "replace", "10.9.0.2", "lladdr", "02:00:00:00:00:02", "dev", "left"]);
    let mut right = right()?;
    pair.within(|| {
        let socket = UdpSocket::bind("10.9.0.1:5000").expect("an address of ours");
        socket.send_to(payload, "10.9.0.2:6000").expect("sent");
    });
    let frame = collect(&mut *right, 1).pop().expect("it comes");
    assert_eq!(&frame[14 + 20 + 8..], payload);
    Some((right, frame))
}

/// Checks the UDP checksum of a frame, with the pseudo-header of RFC 768: addresses, protocol, length.
pub fn has_right_checksum(frame: &[u8]) -> bool {
    let (header, datagram) = frame.split_at(14 + 20);
    let covered = [&header[26..34], &[0, 17, 0, datagram.len() as u8], datagram, &[0]].concat();
    let sum: u32 = covered.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    (sum & 0xffff) + (sum >> 16) == 0xffff
}
