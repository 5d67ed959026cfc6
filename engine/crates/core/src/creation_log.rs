//! Reports of what backends create that no job names beforehand, such as multipart uploads: each report is sent as it
//! is created, so that what it names can be removed after this process has ended.

use assay_spec::Event;
use std::sync::{Mutex, PoisonError};

type Sink = Box<dyn Fn(&Event) + Send>;

/// Receives the reports.
static SINK: Mutex<Option<Sink>> = Mutex::new(None);

/// Send all later events to `sink`; earlier ones are dropped.
pub fn set_sink(sink: impl Fn(&Event) + Send + 'static) {
    *SINK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(sink));
}

/// Report that something was created or completed.
pub fn record(event: &Event) {
    if let Some(sink) = SINK.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        sink(event);
    }
}
