//! Numbers that keep the tags of a host's lanes apart, over all processes.

use assay_core::{clock, random, SetupError};
use rustix::fd::OwnedFd;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// How many numbers there are.
const COUNT: u32 = 1 << 11;

/// A number that no other lane of this network namespace has while this lives: the name of an abstract socket
/// (unix(7)), which is unique in a network namespace and is freed with its process.
pub(crate) struct Owner {
    pub(crate) number: u32,
    _socket: OwnedFd,
}

impl Owner {
    /// Takes a free number.
    ///
    /// # Errors
    /// If all are taken, or the kernel has no such sockets.
    pub(crate) fn take() -> Result<Self, SetupError> {
        let error = |errno| SetupError::os("open", "a socket that keeps tags apart", errno);
        let first = random::mix(clock::now() ^ u64::from(std::process::id()) << 32) as u32;
        for step in 0..COUNT {
            let number = first.wrapping_add(step) % COUNT;
            let name = SocketAddrUnix::new_abstract_name(format!("assay-aoe-{number}").as_bytes()).map_err(error)?;
            let socket = net::socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
            let socket = socket.map_err(error)?;
            match net::bind(&socket, &name) {
                Ok(()) => return Ok(Owner { number, _socket: socket }),
                Err(rustix::io::Errno::ADDRINUSE) => {}
                Err(errno) => return Err(error(errno)),
            }
        }
        let message = format!("{COUNT} lanes of this host use AoE already: use fewer");
        Err(SetupError::new("open", "AoE", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_have_the_same_number() {
        let owners: Vec<Owner> = (0..100).map(|_| Owner::take().unwrap()).collect();
        let mut numbers: Vec<u32> = owners.iter().map(|owner| owner.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 100);
    }
}
