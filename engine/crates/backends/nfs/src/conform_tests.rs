//! The contract suite on a server in memory.

use crate::fake_store::StoreServer;
use crate::kind::open;
use crate::Exports;
use assay_conform::{Subject, Verdict};
use assay_core::Kind;
use assay_core::{Backend, SetupError};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, Job, NfsTarget, Target};
use std::sync::{Arc, Mutex};

struct Export {
    target: NfsTarget,
    able: BackendCapabilities,
}

impl Subject for Export {
    fn capabilities(&self) -> &BackendCapabilities {
        &self.able
    }

    fn target(&self, number: u32) -> Target {
        Target::Nfs(NfsTarget { directory: format!("c{number:04}-r1"), ..self.target.clone() })
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        match &job.target {
            Target::Nfs(target) => Ok(Arc::new(open(target, job)?)),
            _ => unreachable!("it has given out no other"),
        }
    }
}

#[test]
fn everything_holds_of_a_server_that_does_what_it_should() {
    let server = StoreServer::start();
    let target = server.target();
    let export = Export { able: Exports.probe(&Target::Nfs(target.clone())).unwrap(), target };
    let report = assay_conform::run(&export, "", &StopFlag::default(), &Mutex::default());
    assert_eq!(report.count(Verdict::Holds), report.rows.len(), "{report}");
    let names: Vec<&str> = report.rows.iter().map(|row| row.check.as_str()).collect();
    for operation in &export.able.operations {
        assert!(names.contains(&operation.name()), "{operation:?}");
    }
    assert_eq!(server.store().paths(0), ["assay", "assay/.assay-target"]);
}
