//! How much memory a run may take: what is asked before it, and what is looked at beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::pyfunction;

use groups::GroupLimit;

mod groups;

/// The variable by which a limit in bytes reaches every process of a command.
const VARIABLE: &str = "HITLESS_MEMORY";

/// Between two looks. A run takes some 100 MB more meanwhile at the most.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Minimum free memory of the machine: below it the kernel may kill a large process before the next check.
const FREE_BYTES: u64 = 256 << 20;

/// A process that holds less than 1/N of the machine's memory is not the kernel's first choice to kill.
const SMALL_PART: u64 = 16;

/// Finds the minimum of all limits in bytes: `--memory`, the process, its control groups, and the machine's memory.
/// `root` contains proc and sys.
pub fn limit(root: &Path) -> Option<u64> {
    let asked = asked();
    // Without `--memory`, others keep what they have.
    let of_machine = of_machine(root, if asked.is_some() { "MemTotal:" } else { "MemAvailable:" });
    let of_groups = groups::limits(root).iter().map(|group| group.bytes).min();
    [asked, of_machine, of_groups, of_process(root)].into_iter().flatten().min()
}

fn asked() -> Option<u64> {
    std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok())
}

/// A line of proc_meminfo(5), in bytes.
fn of_machine(root: &Path, field: &str) -> Option<u64> {
    Some(number_in(&root.join("proc/meminfo"), field)? * 1024)
}

/// The number behind `field` in a file of the kernel's.
fn number_in(path: &Path, field: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let behind = text.lines().find_map(|line| line.strip_prefix(field))?;
    behind.split_whitespace().next()?.parse().ok()
}

/// What the shell lets a process have (ulimit -v).
fn of_process(root: &Path) -> Option<u64> {
    number_in(&root.join("proc/self/limits"), "Max address space")
}

/// The memory of this process, as Linux tells: what it holds (`VmRSS:`), the most that it ever held (`VmHWM:`), or the
/// addresses that it has (`VmSize:`); 0 elsewhere.
pub fn held_bytes(field: &str) -> u64 {
    number_in(Path::new("/proc/self/status"), field).unwrap_or(0) * 1_024
}

/// What a process may come to while a run is under way, so that there is room to end it.
struct Bounds {
    /// The most that it may hold, and who says so.
    resident: Option<(u64, &'static str)>,
    addresses: Option<u64>,
    groups: Vec<GroupLimit>,
}

impl Bounds {
    /// A run that keeps its rows makes tables of them at its end, which are as large again: where the kernel holds the
    /// process to a limit, half of it is left for them. Else an eighth is room enough.
    fn new(keeps_rows: bool) -> Self {
        let of_held_to = |limit: u64| if keeps_rows { limit / 2 } else { limit - limit / 8 };
        let of_asked = |limit: u64| if keeps_rows { limit - limit / 4 } else { limit - limit / 8 };
        let root = Path::new("/");
        let total = of_machine(root, "MemTotal:").unwrap_or(u64::MAX);
        let groups: Vec<_> = groups::limits(root).into_iter().filter(|group| group.bytes < total).collect();
        let of_groups = groups.iter().map(|group| (of_held_to(group.bytes), "the control group"));
        let resident = asked().map(|limit| (of_asked(limit), "--memory")).into_iter().chain(of_groups).min();
        Self { resident, addresses: of_process(root).map(of_held_to), groups }
    }

    /// In a sentence, what is passed.
    fn passed(&self) -> Option<String> {
        let megabytes = |bytes: u64| bytes / 1_000_000;
        let resident = held_bytes("VmRSS:");
        if let Some((most, whose)) = self.resident.filter(|&(most, _)| resident > most) {
            let (held, most) = (megabytes(resident), megabytes(most));
            return Some(format!("it held {held} MB, of {most} MB that {whose} leaves it while it runs"));
        }
        let addresses = self.addresses.filter(|&most| held_bytes("VmSize:") > most);
        if let Some(most) = addresses {
            return Some(format!("it took more than {} MB of addresses, which ulimit -v leaves it", megabytes(most)));
        }
        // What others take is no reason to end a run that would give back little.
        let is_large_in = |total: u64| resident > total / SMALL_PART;
        let root = Path::new("/");
        let free_in_machine = || of_machine(root, "MemAvailable:").filter(|&free| free < FREE_BYTES);
        let is_large = || of_machine(root, "MemTotal:").is_some_and(is_large_in);
        let of_group = |group: &GroupLimit| {
            let least = FREE_BYTES.min(group.bytes / SMALL_PART);
            group.free_bytes().filter(|&free| free < least && is_large_in(group.bytes))
        };
        let short = |free, of| format!("it held {} MB, and {of} had {} MB left", megabytes(resident), megabytes(free));
        let machine = free_in_machine().filter(|_| is_large()).map(|free| short(free, "the machine"));
        machine.or_else(|| self.groups.iter().find_map(of_group).map(|free| short(free, "the control group")))
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

/// Bytes that a run may take. `root` is where proc and sys are.
#[pyfunction]
#[pyo3(signature = (root = PathBuf::from("/")))]
pub fn memory_limit(root: PathBuf) -> Option<u64> {
    limit(&root)
}
