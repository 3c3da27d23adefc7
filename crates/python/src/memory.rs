//! Limits on the memory of a run: they are computed before the run and supervised during it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pyo3::pyfunction;

use groups::GroupLimit;

mod groups;

/// Environment variable that passes a limit in bytes to every process of a command.
const VARIABLE: &str = "HITLESS_MEMORY";

/// Interval between two checks. A run can grow by at most about 100 MB in this time.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Minimum free memory of the machine: below it the kernel can kill a large process before the next check.
const FREE_BYTES: u64 = 256 << 20;

/// A process that holds less than 1/N of the machine's memory is not the kernel's first choice to kill.
const SMALL_PART: u64 = 16;

/// Finds the minimum of all limits in bytes: `--memory`, the process, its control groups, and the machine's memory.
/// `root` contains proc and sys.
pub fn limit(root: &Path) -> Option<u64> {
    let asked = asked();
    // Without `--memory`, leave other processes the memory that they use.
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

/// Reads the number after `field` in a file of the kernel.
fn number_in(path: &Path, field: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let behind = text.lines().find_map(|line| line.strip_prefix(field))?;
    behind.split_whitespace().next()?.parse().ok()
}

/// The limit of the shell (ulimit -v).
fn of_process(root: &Path) -> Option<u64> {
    number_in(&root.join("proc/self/limits"), "Max address space")
}

/// Reads the memory of this process on Linux: the present amount (`VmRSS:`), the maximum so far (`VmHWM:`), or the
/// address space (`VmSize:`); 0 on other systems.
pub fn held_bytes(field: &str) -> u64 {
    number_in(Path::new("/proc/self/status"), field).unwrap_or(0) * 1_024
}

/// Bounds of a process during a run, with enough reserve to end the run.
struct Bounds {
    /// Maximum resident memory, and the source of the limit.
    resident: Option<(u64, &'static str)>,
    addresses: Option<u64>,
    groups: Vec<GroupLimit>,
}

impl Bounds {
    /// A run that keeps its rows makes tables from them at its end, which are as large again. If the kernel enforces
    /// the limit, half of it is reserved for them. Otherwise an eighth is sufficient.
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

    /// Returns the exceeded bound, in a sentence.
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
        // Do not end a run because of other processes if that would free little memory.
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

/// Runs `work`, and supervises the memory of the process: if it exceeds a bound, `stop` is called once with a sentence.
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
        // A broken assertion of the simulator unwinds through here, and the watch must end then too.
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

/// Returns the memory limit of a run in bytes. `root` contains proc and sys.
#[pyfunction]
#[pyo3(signature = (root = PathBuf::from("/")))]
pub fn memory_limit(root: PathBuf) -> Option<u64> {
    limit(&root)
}
