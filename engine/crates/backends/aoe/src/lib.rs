//! Disks behind ATA over Ethernet (AoEr11), by an initiator of our own on packet(7) sockets: many commands in flight,
//! no cache, no driver of the kernel.

mod backend;
mod capability;
mod discover;
mod disk;
#[cfg(test)]
mod fake;
mod file;
mod frame;
mod identity;
mod initiator;
mod kind;
mod lane;
mod owner;
mod path;
mod show;
mod status;
mod trace;
mod wire;

pub use file::serve;
pub use kind::Disks;
pub use show::{discover, show, DiscoveredDisk, DiskShown, WayShown};
pub use trace::Trace;
pub use wire::ethernet_interfaces;
