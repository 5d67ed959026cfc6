//! The ways in which data can be read and written: layouts, caches, methods and sync policies.

use crate::data::LANES;
use assay_spec::{BackendCapabilities, Layout, Method, SyncPolicy};

/// Queue depth for methods that allow several operations in flight.
const DEPTH: u32 = 4;

/// One way to read and write data.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) lanes: u32,
    pub(crate) layout: Layout,
    pub(crate) direct: bool,
    pub(crate) method: Method,
    pub(crate) sync: SyncPolicy,
}

impl Way {
    /// The default way: the first layout, buffered, with automatic method.
    pub(crate) fn least(able: &BackendCapabilities) -> Self {
        let layout = able.layouts.first().copied().unwrap_or(Layout::Shared);
        Way { lanes: lanes(able), layout, direct: false, method: Method::Auto, sync: SyncPolicy::Fsync }
    }

    /// The same files, buffered, with automatic method.
    pub(crate) fn plain(self) -> Self {
        Way { direct: false, method: Method::Auto, sync: SyncPolicy::Fsync, ..self }
    }

    pub(crate) fn depth(self) -> u32 {
        match self.method {
            Method::IoUring | Method::Threads | Method::Protocol | Method::MpiIo => DEPTH,
            Method::Auto | Method::Sync | Method::Mmap => 1,
        }
    }

    /// The sync policy as jobs write it.
    pub(crate) fn sync_word(self) -> &'static str {
        match self.sync {
            SyncPolicy::None => "none",
            SyncPolicy::Fsync => "fsync",
            SyncPolicy::Fdatasync => "fdatasync",
            SyncPolicy::OSync => "o_sync",
            SyncPolicy::ODsync => "o_dsync",
        }
    }

    /// Description shown in reports.
    pub(crate) fn description(self) -> String {
        let files = if self.layout == Layout::Shared { "shared" } else { "separate" };
        let cache = if self.direct { "direct" } else { "buffered" };
        [files, cache, method(self.method)].join(", ")
    }
}

/// Number of lanes. An MPI rank has one.
fn lanes(able: &BackendCapabilities) -> u32 {
    if able.methods.contains(&Method::MpiIo) {
        1
    } else {
        LANES
    }
}

/// The method as jobs write it.
pub(crate) fn method(method: Method) -> &'static str {
    match method {
        Method::Auto => "auto",
        Method::IoUring => "io_uring",
        Method::Sync => "sync",
        Method::Threads => "threads",
        Method::Mmap => "mmap",
        Method::Protocol => "protocol",
        Method::MpiIo => "mpi_io",
    }
}

/// Whether to use direct I/O: both values where both are possible. Where the engine speaks the protocol itself, there
/// is no cache to bypass.
pub(crate) fn directs(able: &BackendCapabilities) -> Vec<bool> {
    let cached = able.methods.iter().any(|method| *method != Method::Protocol);
    if able.direct && cached {
        vec![false, true]
    } else {
        vec![false]
    }
}

/// Every layout, buffered and direct, with every method.
pub(crate) fn of(able: &BackendCapabilities) -> Vec<Way> {
    let mut all = Vec::new();
    for layout in able.layouts.iter().copied() {
        for direct in directs(able) {
            let sync = SyncPolicy::Fsync;
            let lanes = lanes(able);
            all.extend(able.methods.iter().map(|method| Way { lanes, layout, direct, method: *method, sync }));
        }
    }
    all
}

/// Every sync policy, with every method that supports it.
pub(crate) fn of_sync(able: &BackendCapabilities) -> Vec<Way> {
    let each = |sync: SyncPolicy| matches!(sync, SyncPolicy::OSync | SyncPolicy::ODsync);
    let mut all = Vec::new();
    for sync in able.sync.iter().copied() {
        let methods = able.methods.iter().copied().filter(|method| !(each(sync) && *method == Method::Mmap));
        all.extend(methods.map(|method| Way { method, sync, ..Way::least(able) }));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Subject;
    use crate::fake::{Defect, Fake};

    /// Capabilities of storage with files and with these methods.
    fn able(methods: &[Method]) -> BackendCapabilities {
        let mut able = Fake::files(Defect::None).capabilities().clone();
        able.methods = methods.to_vec();
        able.direct = true;
        able
    }

    #[test]
    fn every_way_comes_once() {
        let mut able = able(&[Method::Sync, Method::IoUring]);
        able.layouts = vec![Layout::Separate, Layout::Shared];
        let descriptions: Vec<String> = of(&able).into_iter().map(Way::description).collect();
        let expected = [
            "separate, buffered, sync",
            "separate, buffered, io_uring",
            "separate, direct, sync",
            "separate, direct, io_uring",
            "shared, buffered, sync",
            "shared, buffered, io_uring",
            "shared, direct, sync",
            "shared, direct, io_uring",
        ];
        assert_eq!(descriptions, expected);
        let plain: Vec<Way> = of(&able).into_iter().map(Way::plain).collect();
        assert!(plain.iter().all(|way| !way.direct && way.method == Method::Auto && way.depth() == 1));
    }

    #[test]
    fn a_protocol_has_no_cache_to_be_past() {
        assert_eq!(directs(&able(&[Method::Protocol])), [false]);
        assert_eq!(directs(&able(&[Method::Protocol, Method::Sync])), [false, true]);
        assert_eq!(directs(&BackendCapabilities { direct: false, ..able(&[Method::Sync]) }), [false]);
    }

    #[test]
    fn a_rank_of_an_mpi_is_one_lane() {
        assert_eq!(Way::least(&able(&[Method::MpiIo])).lanes, 1);
        assert_eq!(Way::least(&able(&[Method::Sync])).lanes, LANES);
    }

    /// A memory mapping is written without a call, so per-write sync policies do not apply to it.
    #[test]
    fn each_policy_goes_with_the_methods_that_can_have_it() {
        let mut able = able(&[Method::Sync, Method::Mmap]);
        able.sync = vec![SyncPolicy::Fdatasync, SyncPolicy::OSync, SyncPolicy::ODsync];
        let ways: Vec<(&str, Method)> = of_sync(&able).iter().map(|way| (way.sync_word(), way.method)).collect();
        let (sync, mmap) = (Method::Sync, Method::Mmap);
        assert_eq!(ways, [("fdatasync", sync), ("fdatasync", mmap), ("o_sync", sync), ("o_dsync", sync)]);
    }
}
