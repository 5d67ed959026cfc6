//! Fuzz target: see `assay_fuzz::nfs_reply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    assay_fuzz::nfs_reply(bytes);
});
