//! Refusals of AoE targets, as faults.

use assay_core::Fault;
use assay_spec::FaultDomain;

/// Codes from here on hold ATA's registers: status x 256 + error.
pub(crate) const REGISTERS: i32 = 0x1_0000;
/// Bits of ATA's status register for a failed command: error, device fault (ATA/ATAPI-6 section 7.15).
const FAILED: u8 = 0x21;

/// No answer in time.
pub(crate) const TIMED_OUT: Fault = Fault::os(libc::ETIMEDOUT);
/// A malformed answer.
pub(crate) const MALFORMED: Fault = Fault::os(libc::EBADMSG);
/// Not whole sectors.
pub(crate) const UNALIGNED: Fault = Fault::os(libc::EINVAL);

/// A refusal of the AoE layer (AoEr11 section 2.4).
pub(crate) fn refusal(error: u8) -> Fault {
    Fault::new(FaultDomain::Aoe, i32::from(error))
}

/// The fault in the registers of an answer, if there is one.
pub(crate) fn check_registers(status: u8, error: u8) -> Result<(), Fault> {
    if status & FAILED == 0 {
        return Ok(());
    }
    Err(Fault::new(FaultDomain::Aoe, REGISTERS | i32::from(status) << 8 | i32::from(error)))
}
