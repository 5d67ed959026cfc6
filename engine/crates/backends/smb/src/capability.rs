//! What an SMB share can do in general, and what a given one can do.

use crate::place::Place;
use assay_core::files_by_protocol;
use assay_spec::{BackendCapabilities, Layout, PlaceCapabilities};

/// What SMB shares can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    files_by_protocol("smb")
}

/// What can be done at `place`.
pub(crate) fn at(place: &Place) -> BackendCapabilities {
    let mut limits = vec!["no cache on this side, but the server's cannot be bypassed or emptied".to_owned()];
    let mut found = general();
    if place.shares.len() > 1 {
        found.layouts = vec![Layout::Separate];
        limits.push("no shared file: the shares do not share files".to_owned());
    }
    for (number, share) in place.shares.iter().enumerate() {
        let (rsize, wsize) = place.sizes(number);
        let name = share.peer.shown();
        let short = |what, size, wanted, limit| {
            (u64::from(size) < wanted)
                .then(|| format!("{name}: {what} {size}, as the server takes no more than {limit}"))
        };
        limits.extend(short("rsize", rsize, place.target.rsize, share.limits.0));
        limits.extend(short("wsize", wsize, place.target.wsize, share.limits.1));
        limits.push(format!("{name}: {}; {}", share.about, share.server));
        if share.guest {
            limits.push(format!("{name}: the server takes {} for a guest", share.peer.credentials.user));
        }
    }
    found.place = Some(PlaceCapabilities {
        path: place.root_shown(0),
        filesystem: "smb".to_owned(),
        free_bytes: place.shares.iter().map(|share| share.free_bytes).min(),
        limits,
        absent: String::new(),
    });
    found
}
