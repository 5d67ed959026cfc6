//! Finding an export: the portmapper (RFC 1833 section 3), MOUNT version 3 (RFC 1813 appendix I), and what the server
//! says of the file system behind it.

use crate::client::{Client, Handle};
use crate::replies::{mounted, MAX_HANDLE};
use crate::rpc::{Identity, Procedure};
use crate::status::mount_message;
use crate::transport::Transport;
use crate::xdr::put_opaque;
use assay_core::{clock, fault_message, os_message, Fault, SetupError};
use assay_spec::NfsTarget;
use nfs3_types::mount::{mountstat3, MOUNT_PROGRAM};
use nfs3_types::nfs3::{FSINFO3resok, FSSTAT3resok, NFS_PROGRAM};
use nfs3_types::portmap::{mapping, IPPROTO_TCP, PMAP_PORT, PMAP_PROG};
use nfs3_types::xdr_codec::{Pack, Unpack};
use nfs3_types::{mount, xdr_codec};
use std::net::SocketAddr;
use std::sync::Arc;

/// The port of NFS where none is named (RFC 7530 section 3.1 and common practice for version 3).
const NFS_PORT: u16 = 2049;
/// A server that is not there when the job is set up is waited for no longer than that, in nanoseconds.
const REACH_NS: u64 = 10_000_000_000;
/// What was being done when nobody answered.
const CONNECT: &str = "connect";
/// Bytes of one call, where a server does not say what it can take.
const MIN_SIZE: u32 = 4096;
/// Least and most bytes of a listing that are asked for at once.
const LISTING: (u32, u32) = (4096, 1 << 20);

/// A server whose export is mounted.
pub(crate) struct Server {
    /// As in the job.
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    /// The export's top directory.
    pub(crate) export: Handle,
    /// File system the export is.
    pub(crate) file_system: u64,
    /// Most bytes of a READ and of a WRITE that the server takes (RFC 1813 section 3.3.19, rtmax and wtmax).
    pub(crate) read_limit: u32,
    pub(crate) write_limit: u32,
    /// Bytes of a listing that are asked for at once.
    pub(crate) listing_bytes: u32,
    /// Bytes that this user may still fill (RFC 1813 section 3.3.18, abytes).
    pub(crate) free_bytes: u64,
}

impl Server {
    /// Name and address, for people.
    pub(crate) fn shown(&self) -> String {
        let address = self.address.to_string();
        if address.starts_with(&self.name) {
            address
        } else {
            format!("{} ({address})", self.name)
        }
    }
}

/// Mounts a target's export from one of its servers: at the first of its addresses where somebody answers.
pub(crate) fn mount(target: &NfsTarget, name: &str, identity: &Arc<Identity>) -> Result<Server, SetupError> {
    let mut outcome = Err(SetupError::new("find", name, "the name has no address"));
    for address in assay_tcp::resolve(name, NFS_PORT)? {
        outcome = mount_at(target, name, address, identity);
        if !outcome.as_ref().is_err_and(|error| error.action == CONNECT) {
            break;
        }
    }
    outcome
}

fn mount_at(
    target: &NfsTarget,
    name: &str,
    address: SocketAddr,
    identity: &Arc<Identity>,
) -> Result<Server, SetupError> {
    let whole = format!("{name}:{}", target.export);
    let error = |fault| SetupError::new("mount", &whole, fault_message(fault)).because(fault);
    let port = match target.mount_port {
        Some(port) => port,
        None => mount_port(target, name, address, identity)?,
    };
    let export = export_handle(target, &whole, SocketAddr::new(address.ip(), port), identity)?;
    let mut client = reach(target, "NFS", address, identity)?;
    let attributes = client.attributes(&export).map_err(error)?;
    let read = |client: &mut Client, procedure| {
        client.call(Procedure::nfs(procedure), |out| put_opaque(out, &export)).map_err(error)
    };
    let info: FSINFO3resok = unpack(&read(&mut client, NFS_PROGRAM::NFSPROC3_FSINFO)?, &whole)?;
    let space: FSSTAT3resok = unpack(&read(&mut client, NFS_PROGRAM::NFSPROC3_FSSTAT)?, &whole)?;
    Ok(Server {
        name: name.to_owned(),
        address,
        export,
        file_system: attributes.file_system,
        read_limit: info.rtmax.max(MIN_SIZE),
        write_limit: info.wtmax.max(MIN_SIZE),
        listing_bytes: info.dtpref.clamp(LISTING.0, LISTING.1),
        free_bytes: space.abytes,
    })
}

fn unpack<T: Unpack>(results: &[u8], server: &str) -> Result<T, SetupError> {
    let read: xdr_codec::Result<(T, usize)> = T::unpack(&mut &results[..]);
    read.map(|(value, _)| value)
        .map_err(|error| SetupError::new("mount", server, format!("the server's answer cannot be read: {error:?}")))
}

/// A client that is connected; a server that is not there is an error at once.
fn reach(target: &NfsTarget, what: &str, address: SocketAddr, identity: &Arc<Identity>) -> Result<Client, SetupError> {
    let mut transport = Transport::new(address, 1, Arc::clone(identity));
    let patience = target.timeout_ns.min(REACH_NS);
    transport.reach(clock::now() + patience).map_err(|errno| {
        let hint = match errno {
            libc::ECONNREFUSED => format!("is the {what} service running there, at this port?"),
            _ => "is the server up, and the way to it open?".to_owned(),
        };
        let message = format!("{}: {hint}", os_message(errno));
        SetupError { fault: Some(Fault::os(errno)), ..SetupError::new(CONNECT, address.to_string(), message) }
    })?;
    Ok(Client { transport, timeout_ns: patience })
}

/// Asks the portmapper for the port of the mount service (PMAPPROC_GETPORT).
fn mount_port(
    target: &NfsTarget,
    name: &str,
    address: SocketAddr,
    identity: &Arc<Identity>,
) -> Result<u16, SetupError> {
    let hint = "name the port of the mount service (mount_port)";
    let portmapper = SocketAddr::new(address.ip(), PMAP_PORT);
    let mut client = reach(target, "portmapper", portmapper, identity)
        .map_err(|error| SetupError { message: format!("{}; or {hint}", error.message), ..error })?;
    let wanted = mapping { prog: mount::PROGRAM, vers: mount::VERSION, prot: IPPROTO_TCP, port: 0 };
    let asked = client.call(Procedure::portmap(PMAP_PROG::PMAPPROC_GETPORT), |out| {
        // Writing to a Vec cannot fail.
        let _ = wanted.pack(out);
    });
    let results = asked.map_err(|fault| {
        SetupError::new("ask the portmapper", name, format!("{}: {hint}", fault_message(fault))).because(fault)
    })?;
    match crate::xdr::u32_at(&results, 0).and_then(|port| u16::try_from(port).ok()) {
        Some(port) if port > 0 => Ok(port),
        _ => Err(SetupError::new("ask the portmapper", name, format!("it knows no mount service for TCP: {hint}"))),
    }
}

/// Asks the mount service for the handle of the export (MOUNTPROC3_MNT).
fn export_handle(
    target: &NfsTarget,
    whole: &str,
    address: SocketAddr,
    identity: &Arc<Identity>,
) -> Result<Handle, SetupError> {
    let mut client = reach(target, "mount", address, identity)?;
    let procedure = Procedure::mount(MOUNT_PROGRAM::MOUNTPROC3_MNT);
    let asked = client.call(procedure, |out| put_opaque(out, target.export.as_bytes()));
    let results = asked.map_err(|fault| SetupError::new("mount", whole, fault_message(fault)).because(fault))?;
    match mounted(&results) {
        Some(Ok(handle)) => Ok(handle.to_vec()),
        Some(Err(status)) => {
            let known: mountstat3 = unpack(&status.to_be_bytes(), whole)?;
            // A mountstat3 is the nfsstat3 of the same number (RFC 1813 appendix I).
            Err(SetupError::new("mount", whole, mount_message(known)).because(Fault::nfs(status)))
        }
        None => {
            let message = format!("the server's answer has no handle of at most {MAX_HANDLE} bytes");
            Err(SetupError::new("mount", whole, message))
        }
    }
}
