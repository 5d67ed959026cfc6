//! Helpers of the tests.

use flate2::write::GzEncoder;
use flate2::Compression;
use std::io::Write;

/// The first line of a trace.
pub(crate) const HEADER: &str = "{\"assay_trace\":1,\"source\":\"strace\",\"command\":null,\"losses\":[]}";

/// Lines as a gzip member.
pub(crate) fn packed(lines: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(lines.as_bytes()).unwrap();
    encoder.finish().unwrap()
}
