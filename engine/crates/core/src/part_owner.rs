//! Which lane's part of the data each lane works on.

use crate::permutation::Permutation;
use crate::random::mix2;
use assay_spec::Reorder;

/// Which lane's part of the data each lane of a phase works on; the same in all processes of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartOwners {
    reorder: Option<Reorder>,
    /// Lanes of all processes.
    lanes: u32,
    seed: u64,
}

impl PartOwners {
    /// The owners for `lanes` lanes of all processes, with the seed of the phase.
    pub fn new(reorder: Option<Reorder>, lanes: u32, seed: u64) -> Self {
        PartOwners { reorder, lanes, seed: mix2(seed, 0x0E7) }
    }

    /// Each lane works on its own part.
    pub fn own() -> Self {
        PartOwners::new(None, 1, 0)
    }

    /// The lane whose part a lane works on.
    pub fn of(&self, lane: u32) -> u32 {
        let all = u64::from(self.lanes);
        match self.reorder {
            None => lane,
            Some(Reorder::Shift { lanes }) => ((u64::from(lane) + u64::from(lanes)) % all) as u32,
            Some(Reorder::Random) => {
                // The next lane in one cycle through all, so that none gets its own part.
                let order = Permutation::new(all, self.seed);
                order.at((order.place_of(u64::from(lane)) + 1) % all) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// In any order each part has one lane, and in random order never its own.
        #[test]
        fn each_part_has_one_lane(lanes in 1_u32..300, by in 1_u32..1000, seed: u64, random: bool) {
            let reorder = if random { Reorder::Random } else { Reorder::Shift { lanes: by } };
            let owners = PartOwners::new(Some(reorder), lanes, seed);
            let parts: Vec<u32> = (0..lanes).map(|lane| owners.of(lane)).collect();
            prop_assert_eq!(parts.iter().copied().collect::<BTreeSet<u32>>(), (0..lanes).collect());
            let kept = (0..lanes).filter(|lane| owners.of(*lane) == *lane).count();
            prop_assert!(!random || lanes == 1 || kept == 0, "{} have their own", kept);
        }
    }

    #[test]
    fn a_shift_is_iors() {
        let owners = PartOwners::new(Some(Reorder::Shift { lanes: 4 }), 8, 1);
        assert_eq!((0..8).map(|lane| owners.of(lane)).collect::<Vec<_>>(), [4, 5, 6, 7, 0, 1, 2, 3]);
        assert_eq!(PartOwners::own().of(7), 7);
    }
}
