//! What is true of all ranks: MPI, started once in a process, and what the ranks agree upon.

use crate::ffi::{self, Self_};
use crate::status;
use assay_core::SetupError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

/// Ranks that were told to stop wait so long for the others, to end MPI in order.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// Exit code of a process that others have left alone.
const LEFT_ALONE: i32 = 1;

static STARTED: OnceLock<Result<Self_, i32>> = OnceLock::new();
/// Lanes that have a file open, or are about to open or close one.
static AT_WORK: AtomicU32 = AtomicU32::new(0);

/// Starts MPI unless that was done.
pub(crate) fn start() -> Result<Self_, SetupError> {
    let answer = *STARTED.get_or_init(ffi::begin);
    answer.map_err(|number| status::error("start", "MPI", number))
}

/// A lane is at work, until `rests`.
pub(crate) fn works() {
    AT_WORK.fetch_add(1, Ordering::SeqCst);
}

/// A lane has closed its file.
pub(crate) fn rests() {
    AT_WORK.fetch_sub(1, Ordering::SeqCst);
}

/// Ends MPI, if it was started. Not `well`: others may not come to this point, and are waited for a while only. A process
/// that does not end MPI is what MPI's launcher ends the others for.
pub(crate) fn leave(well: bool) {
    if !matches!(STARTED.get(), Some(Ok(_))) || AT_WORK.load(Ordering::SeqCst) > 0 {
        return;
    }
    if !well {
        std::thread::spawn(|| {
            std::thread::sleep(LAST_WAIT);
            std::process::exit(LEFT_ALONE);
        });
    }
    ffi::end();
}

/// What ranks agree upon; each calls the same, in the same order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks(pub(crate) Self_);

impl Ranks {
    /// The least of each value.
    pub(crate) fn least<const N: usize>(self, values: [i64; N]) -> Result<[i64; N], i32> {
        if self.0.size == 1 {
            return Ok(values);
        }
        ffi::least(values)
    }

    /// What this rank has, if all have theirs.
    pub(crate) fn all<T>(self, mine: Result<T, SetupError>, object: &str) -> Result<T, SetupError> {
        let [well] = self
            .least([i64::from(mine.is_ok())])
            .map_err(|number| status::error("agree", format!("on {object}"), number))?;
        match mine {
            Ok(_) if well == 0 => Err(SetupError::new("open", object, "another rank could not, and says why")),
            mine => mine,
        }
    }
}
