//! In which ways data can be read and written: layouts, caches, methods, what makes writes stable.

use crate::data::LANES;
use assay_spec::{BackendCapabilities, Layout, Method, SyncPolicy};

/// Operations in flight where a method allows several.
const DEPTH: u32 = 4;

/// One of them.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) lanes: u32,
    pub(crate) layout: Layout,
    pub(crate) direct: bool,
    pub(crate) method: Method,
    pub(crate) sync: SyncPolicy,
}

impl Way {
    /// The first of all.
    pub(crate) fn least(able: &BackendCapabilities) -> Self {
        let layout = able.layouts.first().copied().unwrap_or(Layout::Shared);
        Way { lanes: lanes(able), layout, direct: false, method: Method::Auto, sync: SyncPolicy::Fsync }
    }

    /// The same files in the simplest way.
    pub(crate) fn plain(self) -> Self {
        Way { direct: false, method: Method::Auto, sync: SyncPolicy::Fsync, ..self }
    }

    pub(crate) fn depth(self) -> u32 {
        match self.method {
            Method::IoUring | Method::Threads | Method::Protocol | Method::MpiIo => DEPTH,
            Method::Auto | Method::Sync | Method::Mmap => 1,
        }
    }

    /// As jobs have it.
    pub(crate) fn sync_word(self) -> &'static str {
        match self.sync {
            SyncPolicy::None => "none",
            SyncPolicy::Fsync => "fsync",
            SyncPolicy::Fdatasync => "fdatasync",
            SyncPolicy::OSync => "o_sync",
            SyncPolicy::ODsync => "o_dsync",
        }
    }

    /// For people.
    pub(crate) fn words(self) -> String {
        let files = if self.layout == Layout::Shared { "shared" } else { "separate" };
        let cache = if self.direct { "direct" } else { "buffered" };
        [files, cache, method(self.method)].join(", ")
    }
}

/// So many work at a time; a rank of an MPI has one.
fn lanes(able: &BackendCapabilities) -> u32 {
    if able.methods.contains(&Method::MpiIo) {
        1
    } else {
        LANES
    }
}

/// As jobs have it.
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

/// Past the cache or through it. Where the engine speaks the protocol itself there is no cache to be past.
pub(crate) fn directs(able: &BackendCapabilities) -> Vec<bool> {
    let cached = able.methods.iter().any(|method| *method != Method::Protocol);
    if able.direct && cached {
        vec![false, true]
    } else {
        vec![false]
    }
}

/// Every layout, through the cache and past it, by every method.
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

/// Every policy of stable writes, by every method that can have it.
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
    use crate::fake::{Fake, Lie};

    /// What can be done with files here, by these methods.
    fn able(methods: &[Method]) -> BackendCapabilities {
        let mut able = Fake::files(Lie::None).capabilities().clone();
        able.methods = methods.to_vec();
        able.direct = true;
        able
    }

    #[test]
    fn every_way_comes_once() {
        let mut able = able(&[Method::Sync, Method::IoUring]);
        able.layouts = vec![Layout::Separate, Layout::Shared];
        let words: Vec<String> = of(&able).into_iter().map(Way::words).collect();
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
        assert_eq!(words, expected);
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

    /// A mapping is written to by no call that could be stable by itself.
    #[test]
    fn each_policy_goes_with_the_methods_that_can_have_it() {
        let mut able = able(&[Method::Sync, Method::Mmap]);
        able.sync = vec![SyncPolicy::Fdatasync, SyncPolicy::OSync, SyncPolicy::ODsync];
        let ways: Vec<(&str, Method)> = of_sync(&able).iter().map(|way| (way.sync_word(), way.method)).collect();
        let (sync, mmap) = (Method::Sync, Method::Mmap);
        assert_eq!(ways, [("fdatasync", sync), ("fdatasync", mmap), ("o_sync", sync), ("o_dsync", sync)]);
    }
}
