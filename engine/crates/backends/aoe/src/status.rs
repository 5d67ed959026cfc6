//! What an AoE target refuses with.

use assay_core::Fault;
use assay_spec::FaultDomain;

/// ATA's registers are in codes from here on: status x 256 + error.
pub(crate) const REGISTERS: i32 = 0x1_0000;
/// Bits of ATA's status register that say that a command has failed: error, device fault (ATA/ATAPI-6 section 7.15).
const FAILED: u8 = 0x21;

/// No answer in time.
pub(crate) const TIMED_OUT: Fault = Fault::os(libc::ETIMEDOUT);
/// An answer that is none: not of the disk, but this host says so.
pub(crate) const GARBAGE: Fault = Fault::os(libc::EBADMSG);
/// Not whole sectors.
pub(crate) const UNALIGNED: Fault = Fault::os(libc::EINVAL);

/// A refusal of the AoE layer (AoEr11 section 2.4).
pub(crate) fn refused(error: u8) -> Fault {
    Fault::new(FaultDomain::Aoe, i32::from(error))
}

/// What the registers of an answer say.
pub(crate) fn of_registers(status: u8, error: u8) -> Result<(), Fault> {
    if status & FAILED == 0 {
        return Ok(());
    }
    Err(Fault::new(FaultDomain::Aoe, REGISTERS | i32::from(status) << 8 | i32::from(error)))
}
