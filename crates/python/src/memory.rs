//! How much memory a run may take: what is asked before it, and what is looked at beside it.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The variable by which a limit in bytes reaches every process of a command.
const VARIABLE: &str = "HITLESS_MEMORY";

/// Between two looks. A run takes some 100 MB more meanwhile at the most.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What must be free on the machine: below it the kernel may end a process that holds much before the next look.
const FREE_BYTES: u64 = 256 << 20;

/// Holding less than one part in so many of the machine's memory, a process is not the one that the kernel would end.
const SMALL_PART: u64 = 16;

/// The limit in bytes: what was asked for, or else what the machine has and lets this process have. None where nobody
/// says.
pub fn limit() -> Option<u64> {
    asked().or_else(|| [available(), of_group(), of_process()].into_iter().flatten().min())
}

fn asked() -> Option<u64> {
    std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok())
}

/// What is free, or can be freed at once.
fn available() -> Option<u64> {
    of_machine("MemAvailable:")
}

/// A line of proc_meminfo(5), in bytes.
fn of_machine(field: &str) -> Option<u64> {
    Some(number_in("/proc/meminfo", field)? * 1024)
}

/// The number behind `field` in a file of the kernel's.
fn number_in(path: &str, field: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let behind = text.lines().find_map(|line| line.strip_prefix(field))?;
    behind.split_whitespace().next()?.parse().ok()
}

/// What the container may use (cgroups(7), version 2); "max" is no limit.
fn of_group() -> Option<u64> {
    fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()
}

/// What the shell lets a process have (ulimit -v).
fn of_process() -> Option<u64> {
    number_in("/proc/self/limits", "Max address space")
}

/// The memory of this process, as Linux tells: what it holds (`VmRSS:`), the most that it ever held (`VmHWM:`), or the
/// addresses that it has (`VmSize:`); 0 elsewhere.
pub fn held_bytes(field: &str) -> u64 {
    number_in("/proc/self/status", field).unwrap_or(0) * 1_024
}

/// What a process may come to while a run is under way, so that there is room to end it.
struct Bounds {
    resident: Option<u64>,
    addresses: Option<u64>,
    is_asked: bool,
}

impl Bounds {
    /// A run that keeps its rows makes tables of them at its end, which are as large again: where the kernel holds the
    /// process to a limit, half of it is left for them. Else an eighth is room enough.
    fn new(keeps_rows: bool) -> Self {
        let of_held_to = |limit: u64| if keeps_rows { limit / 2 } else { limit - limit / 8 };
        let of_asked = |limit: u64| if keeps_rows { limit - limit / 4 } else { limit - limit / 8 };
        let asked = asked();
        Self {
            resident: asked.map(of_asked).or_else(|| of_group().map(of_held_to)),
            addresses: of_process().map(of_held_to),
            is_asked: asked.is_some(),
        }
    }

    /// In a sentence, what is passed.
    fn passed(&self) -> Option<String> {
        let megabytes = |bytes: u64| bytes / 1_000_000;
        let resident = held_bytes("VmRSS:");
        if let Some(most) = self.resident.filter(|&most| resident > most) {
            let whose = if self.is_asked { "--memory" } else { "the container" };
            let (held, most) = (megabytes(resident), megabytes(most));
            return Some(format!("it held {held} MB, of {most} MB that {whose} leaves it while it runs"));
        }
        let addresses = self.addresses.filter(|&most| held_bytes("VmSize:") > most);
        if let Some(most) = addresses {
            return Some(format!("it took more than {} MB of addresses, which ulimit -v leaves it", megabytes(most)));
        }
        // What others take is no reason to end a run that would give back little.
        let is_large = || of_machine("MemTotal:").is_some_and(|total| resident > total / SMALL_PART);
        let free = available().filter(|&free| free < FREE_BYTES && is_large());
        free.map(|free| format!("it held {} MB, and the machine had {} MB left", megabytes(resident), megabytes(free)))
    }
}

/// Does `work`, and looks beside it how much memory the process holds: when it is too much, `stop` is called once with
/// a sentence.
pub fn watched<T>(keeps_rows: bool, stop: impl FnOnce(String) + Send, work: impl FnOnce() -> T) -> T {
    let bounds = Bounds::new(keeps_rows);
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if let Some(passed) = bounds.passed() {
                    return stop(passed);
                }
                thread::park_timeout(BETWEEN_LOOKS);
            }
        });
        // A broken check of the simulator unwinds through here: the watch must end all the same.
        let _end = EndOfWatch { is_done: &is_done, watch: watch.thread().clone() };
        work()
    })
}

struct EndOfWatch<'a> {
    is_done: &'a AtomicBool,
    watch: thread::Thread,
}

impl Drop for EndOfWatch<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        self.watch.unpark();
    }
}
