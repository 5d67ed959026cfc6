//! What an NFS export can do in general, and what a given one can do.

use crate::place::Place;
use assay_core::files_by_protocol;
use assay_spec::{BackendCapabilities, Layout, PlaceCapabilities};

/// What NFS exports can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    files_by_protocol("nfs")
}

/// What can be done at `place`.
pub(crate) fn at(place: &Place) -> BackendCapabilities {
    let mut limits = vec!["no cache on this side, but the server's cannot be bypassed or emptied".to_owned()];
    let mut found = general();
    if place.servers.len() > 1 {
        found.layouts = vec![Layout::Separate];
        limits.push("no shared file: the servers do not share files".to_owned());
    }
    for (number, server) in place.servers.iter().enumerate() {
        let (rsize, wsize) = place.sizes(number);
        let short = |what, size, wanted, limit| {
            (u64::from(size) < wanted)
                .then(|| format!("{}: {what} {size}, as the server takes no more than {limit}", server.name))
        };
        limits.extend(short("rsize", rsize, place.target.rsize, server.read_limit));
        limits.extend(short("wsize", wsize, place.target.wsize, server.write_limit));
    }
    found.place = Some(PlaceCapabilities {
        path: place.root_path(0),
        filesystem: "nfs".to_owned(),
        free_bytes: place.servers.iter().map(|server| server.free_bytes).min(),
        limits,
        absent: String::new(),
    });
    found
}
