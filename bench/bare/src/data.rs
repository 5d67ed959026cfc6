//! How fast Assay makes and checks the bytes that it writes.

use crate::args::Args;
use crate::buffer::aligned;
use crate::meter::{Figures, Meter};
use assay_drive::data::{Base, Data, Writes};
use assay_spec::DataSpec;
use std::hint::black_box;

/// Records that are made or checked in turn; as many as a lane of depth 32 has.
const SLOTS: usize = 32;

pub(crate) fn run(mut args: Args) -> Result<Figures, String> {
    let record = args.positive("--record", 4096)? as usize;
    let seconds = args.seconds()?;
    let (fill, check) = (args.flag("--fill"), args.flag("--check"));
    args.finish()?;
    if fill == check {
        return Err("say --fill or --check".to_owned());
    }
    let buffer = aligned(record * SLOTS)?;
    let spec = DataSpec::default();
    let writes = Writes::in_phase(0, record as u64, None, false);
    let mut data = Data::new(&Base::new(&spec, 1), &spec, 1, 0).with_writes(writes);
    let mut lying = [None; SLOTS];
    for (slot, part) in buffer.chunks_mut(record).enumerate() {
        data.fill((slot * record) as u64, part, &mut lying[slot]);
    }
    let (mut ops, mut at) = (0, 0);
    let meter = Meter::start(seconds);
    while !meter.over() {
        for (slot, part) in buffer.chunks_mut(record).enumerate() {
            if fill {
                data.fill(at, part, &mut lying[slot]);
                black_box(&mut *part);
                at += record as u64;
            } else if data.check((slot * record) as u64, black_box(&*part)).is_some() {
                return Err(format!("record {slot} is not what it should be"));
            }
        }
        ops += SLOTS as u64;
    }
    Ok(meter.finish(ops, ops * record as u64))
}
