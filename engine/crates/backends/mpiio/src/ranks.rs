//! What concerns all ranks: starting and ending MPI, and agreements between ranks.

use crate::ffi::{self, RankInfo};
use crate::status;
use assay_core::SetupError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

/// How long a rank that was asked to stop waits for the others, to end MPI properly.
const LAST_WAIT: Duration = Duration::from_secs(5);
/// Exit code of a process that has waited for the others in vain.
const EXIT_ABANDONED: i32 = 1;

static STARTED: OnceLock<Result<RankInfo, i32>> = OnceLock::new();
/// Lanes that have a file open, or are about to open or close one.
static WORKING_LANES: AtomicU32 = AtomicU32::new(0);

/// Starts MPI, if this process has not done so.
pub(crate) fn start() -> Result<RankInfo, SetupError> {
    let answer = *STARTED.get_or_init(ffi::begin);
    answer.map_err(|number| status::error("start", "MPI", number))
}

/// Counts a lane as working, until `lane_ended`.
pub(crate) fn lane_started() {
    WORKING_LANES.fetch_add(1, Ordering::SeqCst);
}

/// Counts a lane that has closed its file.
pub(crate) fn lane_ended() {
    WORKING_LANES.fetch_sub(1, Ordering::SeqCst);
}

/// Ends MPI, if it was started. If not all is `well`, other ranks may not come to this point, and are waited for only a
/// while. MPI's launcher then ends the others, as this process has not ended MPI.
pub(crate) fn leave(well: bool) {
    if !matches!(STARTED.get(), Some(Ok(_))) || WORKING_LANES.load(Ordering::SeqCst) > 0 {
        return;
    }
    if !well {
        std::thread::spawn(|| {
            std::thread::sleep(LAST_WAIT);
            std::process::exit(EXIT_ABANDONED);
        });
    }
    ffi::end();
}

/// The ranks, for agreements that each of them calls for in the same order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks(pub(crate) RankInfo);

impl Ranks {
    /// The minimum of each value over all ranks.
    pub(crate) fn least<const N: usize>(self, values: [i64; N]) -> Result<[i64; N], i32> {
        if self.0.size == 1 {
            return Ok(values);
        }
        ffi::least(values)
    }

    /// Returns `mine` if all ranks have succeeded.
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
