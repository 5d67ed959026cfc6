//! Random record numbers from a generator of a few instructions.

pub(crate) struct Offsets {
    state: u64,
    records: u64,
    record: u64,
}

impl Offsets {
    /// Offsets of whole records in the first `size` bytes.
    pub(crate) fn new(size: u64, record: u64) -> Result<Self, String> {
        let records = size / record;
        if records == 0 || records > u64::from(u32::MAX) {
            return Err(format!("{size} bytes hold {records} records of {record}; 1 to 2^32 - 1 are possible"));
        }
        Ok(Offsets { state: 0x9E37_79B9_7F4A_7C15, records, record })
    }

    /// A random record's offset (xorshift64, reduced by a multiplication).
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (((self.state >> 32) * self.records) >> 32) * self.record
    }
}
