use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;

use crate::interfaces::sys::socket::enter_network_namespace;

/// A network namespace that is kept alive by this value.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Opens the namespace that `ip netns add NAME` made.
    pub fn named(name: &str) -> io::Result<Self> {
        Self::at(&Path::new("/run/netns").join(name))
    }

    /// Opens the namespace of the file at `path`, such as `/proc/PID/ns/net`.
    pub fn at(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Runs `work` in a new thread in this namespace. Sockets that it opens stay in the namespace; the calling thread
    /// does not change its namespace.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_SYS_ADMIN.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let thread = scope.spawn(|| enter_network_namespace(&self.0).map(|()| work()));
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
