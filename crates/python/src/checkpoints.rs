//! Checkpoints of a run in a file. The file is always complete, and a run can continue from it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use hitless_core::engine::Progress;
use hitless_core::settings::input;
use hitless_core::wire::Duration;
use hitless_simulation::{Outcome, Resumable, Simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The file of a run's newest checkpoint, the interval of checkpoints, and whether the run continues from the file.
#[pyclass(frozen, module = "hitless._native")]
pub struct Checkpoints {
    path: PathBuf,
    program: String,
    every: Every,
    resumes: bool,
}

enum Every {
    Wall(std::time::Duration),
    Simulated(Duration),
}

#[pymethods]
impl Checkpoints {
    /// Writes a checkpoint to the file `path` every `wall_s` seconds of wall-clock time, or every `simulated_ps` of
    /// simulated time. `program` identifies the build of the program. With `resumes` the run continues from the file.
    #[new]
    #[pyo3(signature = (path, program, *, wall_s=None, simulated_ps=None, resumes=false))]
    fn new(
        path: PathBuf,
        program: String,
        wall_s: Option<f64>,
        simulated_ps: Option<u64>,
        resumes: bool,
    ) -> PyResult<Self> {
        let every = match (wall_s, simulated_ps) {
            (Some(seconds), None) => std::time::Duration::try_from_secs_f64(seconds).ok().map(Every::Wall),
            (None, Some(ps)) => Some(Every::Simulated(Duration(ps))),
            _ => None,
        };
        let is_some = |every: &Every| match every {
            Every::Wall(every) => !every.is_zero(),
            Every::Simulated(every) => *every > Duration::ZERO,
        };
        let every = every.filter(is_some).ok_or_else(|| PyValueError::new_err("an interval of one clock is needed"))?;
        Ok(Self { path, program, every, resumes })
    }
}

impl Checkpoints {
    /// Runs a simulation to its end, from its start or its newest checkpoint.
    pub fn run(&self, simulation: Simulation, progress: &Progress) -> Result<Outcome, String> {
        let mut run = Resumable::new(simulation, &self.program)?;
        if self.resumes {
            let named = |why: &dyn std::fmt::Display| format!("{}: {why}", self.path.display());
            let bytes = input::read(&self.path).map_err(|error| named(&error))?;
            run.restore(&bytes).map_err(|refusal| named(&refusal))?;
        } else {
            run.start();
        }
        let keep = |bytes: Vec<u8>| {
            let because = |error| format!("{}: the checkpoint cannot be written: {error}", self.path.display());
            write_whole(&self.path, &bytes).map_err(because)
        };
        match self.every {
            Every::Simulated(every) => run.run(Some(every), progress, keep),
            Every::Wall(every) => thread::scope(|scope| {
                let (at_work, is_over) = mpsc::channel::<()>();
                scope.spawn(move || {
                    while is_over.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                        progress.ask_for_pause();
                    }
                });
                let outcome = run.run(None, progress, keep);
                drop(at_work);
                outcome
            }),
        }
    }
}

/// Writes a file next to `path` and renames it to `path` after it is on the disk: a process killed meanwhile leaves the
/// old file intact.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    if let Err(refused) = written {
        // An incomplete file takes room and is useless.
        let _ = fs::remove_file(&beside);
        return Err(refused);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The new name must also survive a loss of power.
    File::open(folder)?.sync_all()
}

/// Returns the reason why a run of this simulation cannot write checkpoints; None if it can.
pub fn refusal(simulation: Simulation) -> Option<String> {
    Resumable::new(simulation, "").err()
}
