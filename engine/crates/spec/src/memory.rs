//! Memory that a job needs, computed before any is allocated.

use crate::{Job, Layout, Method, Operation, Phase};

/// Bytes of one write of `prepare`.
pub const PREPARE_BYTES: u64 = 1 << 20;
/// Writes of `prepare` in flight per lane.
pub const PREPARE_DEPTH: u32 = 4;
/// With one operation in flight and no page cache, the data of records of at least this length is made while the one
/// before is written.
pub const AHEAD_BYTES: u64 = 256 << 10;
/// Buffers start on pages.
const PAGE: u64 = 4096;
/// A lane's stack and histograms.
const LANE_BYTES: u64 = 1 << 20;
/// Memory of an operation in flight: its work, completion and calls.
const SLOT_BYTES: u64 = 1 << 10;
/// Memory of a thread that waits for an operation: its stack and C library data.
const THREAD_BYTES: u64 = 16 << 10;
/// Memory for the base of all data, and of the program itself.
const COMMON_BYTES: u64 = 16 << 20;

impl Job {
    /// Bytes of the buffers of the job's phases, in whole pages, of all lanes of one process.
    pub(crate) fn buffer_bytes(&self) -> u64 {
        let slot = self.record_size_bytes.next_multiple_of(PAGE);
        u64::from(self.lanes).saturating_mul(u64::from(self.queue_depth)).saturating_mul(slot)
    }

    /// Buffers of each lane: one for each operation in flight, and one for data that is made ahead.
    pub fn buffers_per_lane(&self) -> u32 {
        self.queue_depth + u32::from(self.makes_ahead())
    }

    fn makes_ahead(&self) -> bool {
        let one_file = self.tree.is_none() && self.objects.is_none();
        let uncached = self.direct || !self.target.rules().kernel_files();
        let long = self.queue_depth == 1 && self.record_size_bytes >= AHEAD_BYTES;
        one_file && uncached && long && self.some_phase(|phase| phase.operation.writes())
    }

    /// Most bytes of memory that the job takes in one process: buffers, copies, scripts, and the lanes' own data. Never
    /// less than what is allocated, except for the kernel and the C library.
    pub fn memory_bytes(&self) -> u64 {
        let lanes = u64::from(self.lanes);
        let each = [
            LANE_BYTES,
            self.slot_bytes(),
            u64::from(self.makes_ahead()).saturating_mul(self.record_size_bytes.next_multiple_of(PAGE)),
            self.prepare_bytes(),
            self.stdio_bytes(),
            self.target.rules().lane_bytes(self),
        ];
        let each = each.into_iter().fold(0, u64::saturating_add);
        self.buffer_bytes().saturating_add(lanes.saturating_mul(each)).saturating_add(COMMON_BYTES)
    }

    fn some_phase(&self, wanted: impl Fn(&Phase) -> bool) -> bool {
        self.phases.iter().any(wanted)
    }

    fn slot_bytes(&self) -> u64 {
        let files = self.target.rules().kernel_files() && self.tree.is_none();
        let threads = files && matches!(self.method, Method::Auto | Method::Threads) && self.queue_depth > 1;
        u64::from(self.queue_depth).saturating_mul(SLOT_BYTES + if threads { THREAD_BYTES } else { 0 })
    }

    /// Bytes of the separate buffers of `prepare`.
    fn prepare_bytes(&self) -> u64 {
        let data = self.tree.is_none() && self.objects.is_none();
        let prepares = data && self.some_phase(|phase| phase.operation == Operation::Prepare);
        let slot = PREPARE_BYTES.min(self.file_size_bytes).next_multiple_of(PAGE);
        u64::from(prepares) * u64::from(PREPARE_DEPTH) * slot
    }

    /// Bytes of the buffer of a C library stream: one record.
    fn stdio_bytes(&self) -> u64 {
        u64::from(self.some_phase(|phase| phase.operation.stdio())) * self.record_size_bytes
    }

    /// Bytes of the files of all processes together: the data set of the job.
    pub fn data_bytes(&self) -> u128 {
        let lanes = self.all_lanes();
        let of_tree = self.tree.as_ref().map(|tree| u128::from(tree.all_files(lanes)));
        let of_objects = self.objects.as_ref().map(|objects| u128::from(objects.count) * u128::from(lanes));
        let objects = match (of_tree.or(of_objects), self.layout) {
            (Some(all), _) => all,
            (None, Layout::Separate) => u128::from(lanes),
            (None, Layout::Shared) => 1,
        };
        objects * u128::from(self.largest_size())
    }
}
