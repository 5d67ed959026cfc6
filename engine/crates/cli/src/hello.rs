//! The first event: the engine, its host and the job.

use assay_core::{clock, hex};
use assay_spec::{BackendCapabilities, Hello, Job, SPEC_VERSION};
use sha2::{Digest, Sha256};

fn own_hash() -> String {
    let program = std::fs::read("/proc/self/exe");
    program.map_or_else(|_| "unknown".to_owned(), |program| hex(&Sha256::digest(&program)))
}

fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned()).unwrap_or_default()
}

pub(crate) fn event(job: &Job, text: &str, backend: BackendCapabilities) -> Hello {
    Hello {
        spec_version: SPEC_VERSION,
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine_sha256: own_hash(),
        job_sha256: hex(&Sha256::digest(text.as_bytes())),
        job: job.clone(),
        pid: std::process::id(),
        wall_ns: clock::wall(),
        mono_ns: clock::now(),
        clock: clock::source().to_owned(),
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        memory_bytes: assay_drive::host_memory_bytes(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        boot_id: boot_id(),
        backend,
    }
}
