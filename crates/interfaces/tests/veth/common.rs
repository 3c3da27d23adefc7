//! Pairs of veth in a network namespace of their own.

use std::process::{Command, id};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use hitless_interfaces::namespace::Namespace;
use hitless_interfaces::{Interface, Options, open};

/// A namespace with a veth pair whose ends are called `left` and `right`, both up; removed at drop.
pub struct Pair {
    name: String,
    namespace: Namespace,
}

impl Pair {
    /// Makes one. None, and the reason on stderr, where that is not permitted.
    pub fn make(mtu_bytes: usize) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("hl-if-{}-{}", id(), COUNT.fetch_add(1, Ordering::Relaxed));
        if let Err(reason) = run("ip", &["netns", "add", &name]) {
            eprintln!("skipped: network namespaces are not permitted here, or `ip` is missing: {reason}");
            return None;
        }
        let namespace = Namespace::named(&name).expect("it has just been made");
        let pair = Self { name, namespace };
        let mtu = mtu_bytes.to_string();
        pair.ip(&["link", "add", "left", "mtu", &mtu, "type", "veth", "peer", "name", "right", "mtu", &mtu]);
        for end in ["left", "right"] {
            // Without IPv6 the kernel has nothing to say on these interfaces.
            pair.ip(&["link", "set", end, "addrgenmode", "none", "arp", "off", "up"]);
        }
        Some(pair)
    }

    /// Runs `ip` in the namespace; returns what it prints.
    pub fn ip(&self, arguments: &[&str]) -> String {
        let arguments: Vec<&str> = ["-n", &self.name].into_iter().chain(arguments.iter().copied()).collect();
        run("ip", &arguments).expect("iproute2 works in a namespace of ours")
    }

    /// Opens one end.
    pub fn open(&self, end: &str, options: Options) -> Box<dyn Interface + Send> {
        self.within(|| open(end, options)).expect("the interface can be opened")
    }

    /// Does `work` in the namespace.
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

/// Receives until `count` frames are there or five seconds have passed.
pub fn collect(port: &mut dyn Interface, count: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let end = Instant::now() + Duration::from_secs(5);
    while frames.len() < count && Instant::now() < end {
        port.receive(64, &mut |frame| frames.push(frame.bytes.to_vec())).expect("the interface is there");
    }
    frames
}

/// A frame of `length` bytes whose payload depends on `seed`.
pub fn frame(length: usize, seed: u8) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..length).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect();
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5]);
    frame
}

/// Sends all of `frames`, as fast as the ring takes them.
pub fn send_all(port: &mut dyn Interface, frames: &[Vec<u8>]) {
    for frame in frames {
        port.send(frame).expect("the ring has room");
    }
    port.flush().expect("the interface is there");
}
