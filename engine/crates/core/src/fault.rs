//! Names and messages of faults.

use crate::named::{
    status_and_name, CHECKSUM_MISMATCH, ETAG_MISMATCH, ITEM_LENGTH, NO_REQUESTS_LEFT, NO_SUCH_ITEM, NO_UNITS_LEFT,
    SIZE_CHANGED, UNPROCESSED_ITEMS,
};
use crate::{ntstatus, os_message};
use assay_spec::{Fault, FaultDomain};

/// Names of nfsstat3 (RFC 1813 section 2.6).
const NFS: &[(i32, &str)] = &[
    (1, "NFS3ERR_PERM"),
    (2, "NFS3ERR_NOENT"),
    (5, "NFS3ERR_IO"),
    (6, "NFS3ERR_NXIO"),
    (13, "NFS3ERR_ACCES"),
    (17, "NFS3ERR_EXIST"),
    (18, "NFS3ERR_XDEV"),
    (19, "NFS3ERR_NODEV"),
    (20, "NFS3ERR_NOTDIR"),
    (21, "NFS3ERR_ISDIR"),
    (22, "NFS3ERR_INVAL"),
    (27, "NFS3ERR_FBIG"),
    (28, "NFS3ERR_NOSPC"),
    (30, "NFS3ERR_ROFS"),
    (31, "NFS3ERR_MLINK"),
    (63, "NFS3ERR_NAMETOOLONG"),
    (66, "NFS3ERR_NOTEMPTY"),
    (69, "NFS3ERR_DQUOT"),
    (70, "NFS3ERR_STALE"),
    (71, "NFS3ERR_REMOTE"),
    (10001, "NFS3ERR_BADHANDLE"),
    (10002, "NFS3ERR_NOT_SYNC"),
    (10003, "NFS3ERR_BAD_COOKIE"),
    (10004, "NFS3ERR_NOTSUPP"),
    (10005, "NFS3ERR_TOOSMALL"),
    (10006, "NFS3ERR_SERVERFAULT"),
    (10007, "NFS3ERR_BADTYPE"),
    (10008, "NFS3ERR_JUKEBOX"),
];

/// Names of the HTTP statuses that storage services use (RFC 9110 section 15, RFC 6585).
const HTTP: &[(i32, &str)] = &[
    (301, "Moved Permanently"),
    (304, "Not Modified"),
    (307, "Temporary Redirect"),
    (400, "Bad Request"),
    (401, "Unauthorized"),
    (403, "Forbidden"),
    (404, "Not Found"),
    (405, "Method Not Allowed"),
    (408, "Request Timeout"),
    (409, "Conflict"),
    (411, "Length Required"),
    (412, "Precondition Failed"),
    (413, "Content Too Large"),
    (416, "Range Not Satisfiable"),
    (429, "Too Many Requests"),
    (500, "Internal Server Error"),
    (501, "Not Implemented"),
    (502, "Bad Gateway"),
    (503, "Service Unavailable"),
    (504, "Gateway Timeout"),
    (507, "Insufficient Storage"),
];

/// Names of the errors of AoE targets (AoEr11 section 2.4).
const AOE: &[(i32, &str)] = &[
    (1, "unrecognized command code"),
    (2, "bad argument parameter"),
    (3, "device unavailable"),
    (4, "config string present"),
    (5, "unsupported version"),
    (6, "target is reserved"),
];

/// AoE codes from this number on hold ATA's registers: status x 256 + error.
const AOE_REGISTERS: i32 = 0x1_0000;

/// Meaning of the bits of ATA's error register (ATA/ATAPI-6 section 7.9), the most specific first.
const ATA: &[(i32, &str)] = &[
    (0x40, "ATA UNC (uncorrectable data)"),
    (0x10, "ATA IDNF (no such sector)"),
    (0x80, "ATA ICRC (damaged on the way)"),
    (0x20, "ATA MC (medium changed)"),
    (0x04, "ATA ABRT (command aborted)"),
];

/// Names of MPI's error classes (MPI-3.1 section 8.4), by Open MPI's numbers.
const MPI: &[(i32, &str)] = &[
    (1, "MPI_ERR_BUFFER"),
    (2, "MPI_ERR_COUNT"),
    (3, "MPI_ERR_TYPE"),
    (4, "MPI_ERR_TAG"),
    (5, "MPI_ERR_COMM"),
    (6, "MPI_ERR_RANK"),
    (7, "MPI_ERR_REQUEST"),
    (8, "MPI_ERR_ROOT"),
    (9, "MPI_ERR_GROUP"),
    (10, "MPI_ERR_OP"),
    (11, "MPI_ERR_TOPOLOGY"),
    (12, "MPI_ERR_DIMS"),
    (13, "MPI_ERR_ARG"),
    (14, "MPI_ERR_UNKNOWN"),
    (15, "MPI_ERR_TRUNCATE"),
    (16, "MPI_ERR_OTHER"),
    (17, "MPI_ERR_INTERN"),
    (18, "MPI_ERR_IN_STATUS"),
    (19, "MPI_ERR_PENDING"),
    (20, "MPI_ERR_ACCESS"),
    (21, "MPI_ERR_AMODE"),
    (23, "MPI_ERR_BAD_FILE"),
    (25, "MPI_ERR_CONVERSION"),
    (27, "MPI_ERR_DUP_DATAREP"),
    (28, "MPI_ERR_FILE_EXISTS"),
    (29, "MPI_ERR_FILE_IN_USE"),
    (30, "MPI_ERR_FILE"),
    (31, "MPI_ERR_INFO_KEY"),
    (32, "MPI_ERR_INFO_NOKEY"),
    (33, "MPI_ERR_INFO_VALUE"),
    (34, "MPI_ERR_INFO"),
    (35, "MPI_ERR_IO"),
    (39, "MPI_ERR_NO_MEM"),
    (40, "MPI_ERR_NOT_SAME"),
    (41, "MPI_ERR_NO_SPACE"),
    (42, "MPI_ERR_NO_SUCH_FILE"),
    (44, "MPI_ERR_QUOTA"),
    (45, "MPI_ERR_READ_ONLY"),
    (51, "MPI_ERR_UNSUPPORTED_DATAREP"),
    (52, "MPI_ERR_UNSUPPORTED_OPERATION"),
];

/// The name of an AoE target's error.
fn aoe_name(code: i32) -> Option<&'static str> {
    if code < AOE_REGISTERS {
        return named(AOE, code);
    }
    let bit = ATA.iter().find(|(bit, _)| code & bit != 0);
    Some(bit.map_or("ATA error", |(_, name)| name))
}

/// Names of errno on Linux (errno(3)).
const OS: &[(i32, &str)] = &[
    (1, "EPERM"),
    (2, "ENOENT"),
    (3, "ESRCH"),
    (4, "EINTR"),
    (5, "EIO"),
    (6, "ENXIO"),
    (7, "E2BIG"),
    (8, "ENOEXEC"),
    (9, "EBADF"),
    (10, "ECHILD"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (14, "EFAULT"),
    (15, "ENOTBLK"),
    (16, "EBUSY"),
    (17, "EEXIST"),
    (18, "EXDEV"),
    (19, "ENODEV"),
    (20, "ENOTDIR"),
    (21, "EISDIR"),
    (22, "EINVAL"),
    (23, "ENFILE"),
    (24, "EMFILE"),
    (25, "ENOTTY"),
    (26, "ETXTBSY"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (29, "ESPIPE"),
    (30, "EROFS"),
    (31, "EMLINK"),
    (32, "EPIPE"),
    (33, "EDOM"),
    (34, "ERANGE"),
    (35, "EDEADLOCK"),
    (36, "ENAMETOOLONG"),
    (37, "ENOLCK"),
    (38, "ENOSYS"),
    (39, "ENOTEMPTY"),
    (40, "ELOOP"),
    (42, "ENOMSG"),
    (43, "EIDRM"),
    (44, "ECHRNG"),
    (45, "EL2NSYNC"),
    (46, "EL3HLT"),
    (47, "EL3RST"),
    (48, "ELNRNG"),
    (49, "EUNATCH"),
    (50, "ENOCSI"),
    (51, "EL2HLT"),
    (52, "EBADE"),
    (53, "EBADR"),
    (54, "EXFULL"),
    (55, "ENOANO"),
    (56, "EBADRQC"),
    (57, "EBADSLT"),
    (59, "EBFONT"),
    (60, "ENOSTR"),
    (61, "ENODATA"),
    (62, "ETIME"),
    (63, "ENOSR"),
    (64, "ENONET"),
    (65, "ENOPKG"),
    (66, "EREMOTE"),
    (67, "ENOLINK"),
    (68, "EADV"),
    (69, "ESRMNT"),
    (70, "ECOMM"),
    (71, "EPROTO"),
    (72, "EMULTIHOP"),
    (73, "EDOTDOT"),
    (74, "EBADMSG"),
    (75, "EOVERFLOW"),
    (76, "ENOTUNIQ"),
    (77, "EBADFD"),
    (78, "EREMCHG"),
    (79, "ELIBACC"),
    (80, "ELIBBAD"),
    (81, "ELIBSCN"),
    (82, "ELIBMAX"),
    (83, "ELIBEXEC"),
    (84, "EILSEQ"),
    (85, "ERESTART"),
    (86, "ESTRPIPE"),
    (87, "EUSERS"),
    (88, "ENOTSOCK"),
    (89, "EDESTADDRREQ"),
    (90, "EMSGSIZE"),
    (91, "EPROTOTYPE"),
    (92, "ENOPROTOOPT"),
    (93, "EPROTONOSUPPORT"),
    (94, "ESOCKTNOSUPPORT"),
    (95, "ENOTSUP"),
    (96, "EPFNOSUPPORT"),
    (97, "EAFNOSUPPORT"),
    (98, "EADDRINUSE"),
    (99, "EADDRNOTAVAIL"),
    (100, "ENETDOWN"),
    (101, "ENETUNREACH"),
    (102, "ENETRESET"),
    (103, "ECONNABORTED"),
    (104, "ECONNRESET"),
    (105, "ENOBUFS"),
    (106, "EISCONN"),
    (107, "ENOTCONN"),
    (108, "ESHUTDOWN"),
    (109, "ETOOMANYREFS"),
    (110, "ETIMEDOUT"),
    (111, "ECONNREFUSED"),
    (112, "EHOSTDOWN"),
    (113, "EHOSTUNREACH"),
    (114, "EALREADY"),
    (115, "EINPROGRESS"),
    (116, "ESTALE"),
    (117, "EUCLEAN"),
    (118, "ENOTNAM"),
    (119, "ENAVAIL"),
    (120, "EISNAM"),
    (121, "EREMOTEIO"),
    (122, "EDQUOT"),
    (123, "ENOMEDIUM"),
    (124, "EMEDIUMTYPE"),
    (125, "ECANCELED"),
    (126, "ENOKEY"),
    (127, "EKEYEXPIRED"),
    (128, "EKEYREVOKED"),
    (129, "EKEYREJECTED"),
    (130, "EOWNERDEAD"),
    (131, "ENOTRECOVERABLE"),
    (132, "ERFKILL"),
];

/// The name of a fault, such as `EIO`; None if it has none here.
pub fn fault_name(fault: Fault) -> Option<&'static str> {
    let table = match fault.domain() {
        FaultDomain::Os => OS,
        FaultDomain::Nfs => NFS,
        FaultDomain::Http => HTTP,
        FaultDomain::S3 | FaultDomain::Dynamodb => {
            let (status, name) = status_and_name(fault);
            return if name.is_empty() { named(HTTP, status) } else { Some(name) };
        }
        FaultDomain::Aoe => return aoe_name(fault.code()),
        FaultDomain::Smb => return ntstatus::name(fault.code()),
        FaultDomain::Mpi => MPI,
        FaultDomain::Program | FaultDomain::Replay => return None,
    };
    named(table, fault.code())
}

fn named(table: &[(i32, &'static str)], code: i32) -> Option<&'static str> {
    table.binary_search_by_key(&code, |(code, _)| *code).ok().map(|place| table[place].1)
}

/// The errno that corresponds to a fault; None if none does. Callers that check whether a name is missing need not know
/// which protocol answered.
pub fn as_errno(fault: Fault) -> Option<i32> {
    match fault.domain() {
        FaultDomain::Os => Some(fault.code()),
        FaultDomain::Nfs => errno_of_nfs(fault.code()),
        FaultDomain::Http => errno_of_status(fault.code()),
        FaultDomain::S3 => errno_of_status(status_and_name(fault).0),
        FaultDomain::Dynamodb => errno_of_table(fault),
        FaultDomain::Aoe => errno_of_aoe(fault.code()),
        FaultDomain::Smb => ntstatus::errno(fault.code()),
        FaultDomain::Mpi => errno_of_mpi(fault.code()),
        FaultDomain::Program | FaultDomain::Replay => None,
    }
}

/// The errno of a DynamoDB error. Nearly all have the same status, so the name decides.
fn errno_of_table(fault: Fault) -> Option<i32> {
    use rustix::io::Errno;
    let errno = match status_and_name(fault).1 {
        "NoSuchItem" | "ResourceNotFoundException" => Errno::NOENT,
        "ResourceInUseException" => Errno::EXIST,
        "AccessDeniedException" | "InvalidSignatureException" | "UnrecognizedClientException" => Errno::ACCESS,
        _ => return None,
    };
    Some(errno.raw_os_error())
}

/// The errno of an AoE target's error.
fn errno_of_aoe(code: i32) -> Option<i32> {
    use rustix::io::Errno;
    let errno = match code {
        1 | 2 | 5 => Errno::INVAL,
        3 => Errno::NODEV,
        6 => Errno::BUSY,
        AOE_REGISTERS.. => Errno::IO,
        _ => return None,
    };
    Some(errno.raw_os_error())
}

/// The errno of an error class of MPI.
fn errno_of_mpi(class: i32) -> Option<i32> {
    use rustix::io::Errno;
    let errno = match class {
        20 => Errno::ACCESS,
        28 => Errno::EXIST,
        29 => Errno::BUSY,
        35 => Errno::IO,
        39 => Errno::NOMEM,
        41 => Errno::NOSPC,
        42 => Errno::NOENT,
        44 => Errno::DQUOT,
        45 => Errno::ROFS,
        52 => Errno::OPNOTSUPP,
        _ => return None,
    };
    Some(errno.raw_os_error())
}

/// The errno of an HTTP status (RFC 9110 section 15).
fn errno_of_status(status: i32) -> Option<i32> {
    use rustix::io::Errno;
    match status {
        401 | 403 => Some(Errno::ACCESS.raw_os_error()),
        404 => Some(Errno::NOENT.raw_os_error()),
        412 => Some(Errno::EXIST.raw_os_error()),
        507 => Some(Errno::NOSPC.raw_os_error()),
        _ => None,
    }
}

/// The errno of an nfsstat3 (RFC 1813 section 2.6).
fn errno_of_nfs(status: i32) -> Option<i32> {
    use rustix::io::Errno;
    let errno = match status {
        1 => Errno::PERM,
        2 => Errno::NOENT,
        5 => Errno::IO,
        6 => Errno::NXIO,
        13 => Errno::ACCESS,
        17 => Errno::EXIST,
        18 => Errno::XDEV,
        19 => Errno::NODEV,
        20 => Errno::NOTDIR,
        21 => Errno::ISDIR,
        22 | 10003 | 10005 | 10007 => Errno::INVAL,
        27 => Errno::FBIG,
        28 => Errno::NOSPC,
        30 => Errno::ROFS,
        31 => Errno::MLINK,
        63 => Errno::NAMETOOLONG,
        66 => Errno::NOTEMPTY,
        69 => Errno::DQUOT,
        // A handle that the server cannot read is as useless as that of a removed file.
        70 | 10001 => Errno::STALE,
        71 => Errno::REMOTE,
        10004 => Errno::OPNOTSUPP,
        10006 => Errno::REMOTEIO,
        10008 => Errno::AGAIN,
        _ => return None,
    };
    Some(errno.raw_os_error())
}

/// One line that describes a fault for users.
pub fn fault_message(fault: Fault) -> String {
    let speaker = match fault.domain() {
        FaultDomain::Os => return os_message(fault.code()),
        FaultDomain::Nfs => "the NFS server",
        FaultDomain::Http => "the server",
        FaultDomain::S3 => return s3_message(fault),
        FaultDomain::Dynamodb => return table_message(fault),
        FaultDomain::Smb => "the SMB server",
        FaultDomain::Aoe => "the AoE target",
        FaultDomain::Mpi => "MPI",
        FaultDomain::Program => return program_message(fault.code()),
        FaultDomain::Replay => return replay_message(fault.code()),
    };
    let name = fault_name(fault).map_or(String::new(), |name| format!(" {name}"));
    if fault.domain() == FaultDomain::Aoe && fault.code() >= AOE_REGISTERS {
        let (status, error) = (fault.code() >> 8 & 0xff, fault.code() & 0xff);
        return format!("the disk answered status {status:#04x}, error {error:#04x}:{name}");
    }
    if fault.domain() == FaultDomain::Smb {
        let words = as_errno(fault).map_or(String::new(), |errno| format!(": {}", os_message(errno)));
        return format!("{speaker} answered {:#010X}{name}{words}", fault.code());
    }
    // HTTP's names already say it.
    let errno = as_errno(fault).filter(|_| fault.domain() != FaultDomain::Http);
    let words = errno.map_or(String::new(), |errno| format!(": {}", os_message(errno)));
    format!("{speaker} answered {}{name}{words}", fault.code())
}

fn program_message(code: i32) -> String {
    match code {
        0 => "the program was not run to its end".to_owned(),
        1.. => format!("the program ended with exit code {code}"),
        ..0 => format!("the program was ended by signal {}", -code),
    }
}

fn replay_message(code: i32) -> String {
    match code {
        0 => "the trace was not replayed to its end".to_owned(),
        1 => "an operation ended otherwise than recorded".to_owned(),
        _ => format!("{code} operations ended otherwise than recorded"),
    }
}

fn s3_message(fault: Fault) -> String {
    let name = fault_name(fault).unwrap_or_default();
    match status_and_name(fault).0 {
        0 if fault == ETAG_MISMATCH => "what was stored has another ETag than what was sent".to_owned(),
        0 if fault == CHECKSUM_MISMATCH => "what came has another checksum than the service says".to_owned(),
        0 if fault == SIZE_CHANGED => "the object has another size than when it was listed".to_owned(),
        0 => "the answer of the service cannot be understood".to_owned(),
        status => format!("S3 answered {status} {name}").trim_end().to_owned(),
    }
}

fn table_message(fault: Fault) -> String {
    let name = fault_name(fault).unwrap_or_default();
    match status_and_name(fault).0 {
        0 if fault == UNPROCESSED_ITEMS => "the service has left items of a batch undone".to_owned(),
        0 if fault == NO_SUCH_ITEM => "there is no such item".to_owned(),
        0 if fault == NO_REQUESTS_LEFT => "max_requests is reached".to_owned(),
        0 if fault == NO_UNITS_LEFT => "max_capacity_units is reached".to_owned(),
        0 if fault == ITEM_LENGTH => "an item is not as long as what was stored".to_owned(),
        0 => "the answer of the DynamoDB service cannot be understood".to_owned(),
        status => format!("DynamoDB answered {status} {name}").trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_tables_are_in_order() {
        for table in [OS, NFS, HTTP, AOE, MPI] {
            assert!(table.is_sorted_by(|one, other| one.0 < other.0));
        }
        assert_eq!(fault_name(Fault::os(5)), Some("EIO"));
        assert_eq!(fault_name(Fault::http(503)), Some("Service Unavailable"));
        assert_eq!(fault_name(Fault::new(FaultDomain::Nfs, 70)), Some("NFS3ERR_STALE"));
        assert_eq!(fault_name(Fault::http(299)), None);
        assert_eq!(fault_message(Fault::http(404)), "the server answered 404 Not Found");
        let full = "the NFS server answered 28 NFS3ERR_NOSPC: No space left on device";
        assert_eq!(fault_message(Fault::nfs(28)), full);
        assert_eq!(fault_message(Fault::nfs(4242)), "the NFS server answered 4242");
        let aoe = |code| fault_message(Fault::new(FaultDomain::Aoe, code));
        let mpi = |code| fault_message(Fault::new(FaultDomain::Mpi, code));
        assert_eq!(mpi(41), "MPI answered 41 MPI_ERR_NO_SPACE: No space left on device");
        assert_eq!(mpi(16), "MPI answered 16 MPI_ERR_OTHER");
        assert_eq!(aoe(3), "the AoE target answered 3 device unavailable: No such device");
        assert_eq!(aoe(0x1_4110), "the disk answered status 0x41, error 0x10: ATA IDNF (no such sector)");
        let smb = |code: u32| fault_message(Fault::new(FaultDomain::Smb, code as i32));
        assert_eq!(smb(0xC000_0022), "the SMB server answered 0xC0000022 STATUS_ACCESS_DENIED: Permission denied");
        assert_eq!(smb(0xC123_4567), "the SMB server answered 0xC1234567");
        let s3 = |status, name| fault_message(crate::named_fault(FaultDomain::S3, status, name));
        assert_eq!(s3(503, "SlowDown"), "S3 answered 503 SlowDown");
        assert_eq!(s3(500, "Strange"), "S3 answered 500 Internal Server Error");
        assert_eq!(s3(599, ""), "S3 answered 599");
        assert_eq!(fault_name(ETAG_MISMATCH), Some("ETagMismatch"));
    }

    #[test]
    fn protocol_faults_have_the_errno_of_the_kernel() {
        for (status, errno) in
            [(2, 2), (5, 5), (13, 13), (28, 28), (30, 30), (66, 39), (69, 122), (70, 116), (10001, 116)]
        {
            assert_eq!(as_errno(Fault::nfs(status)), Some(errno), "{status}");
        }
        assert_eq!(
            (as_errno(Fault::os(5)), as_errno(Fault::nfs(4242)), as_errno(Fault::http(404))),
            (Some(5), None, Some(2))
        );
        // All named ones but one have an errno.
        assert!(NFS
            .iter()
            .all(|(status, _)| as_errno(Fault::new(FaultDomain::Nfs, *status)).is_some() || *status == 10002));
    }
}
