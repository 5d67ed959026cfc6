//! What a switch decides: where a frame goes, and when. Without sockets or clocks, so that tests can play it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Bytes of the header that the kernel puts before each frame: struct virtio_net_hdr.
pub(crate) const HEADER: usize = 10;
/// Destination, source and type of an Ethernet frame.
const ETHERNET: usize = 14;
/// Frames on their way hold at most this many bytes; a real wire holds less.
const MOST_HELD: usize = 256 << 20;
const MOST_ADDRESSES: usize = 4096;

/// How a port treats what passes it, in either direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rules {
    /// Nanoseconds that a frame is held.
    pub(crate) delay: u64,
    /// Frames of a million that are lost.
    pub(crate) loss: u32,
}

/// A frame on its way to a port.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Held {
    due: u64,
    order: u64,
    /// Port at which it leaves.
    pub(crate) to: usize,
    /// Header and frame.
    pub(crate) bytes: Vec<u8>,
}

/// A learning switch with a constant delay and random loss at each port.
pub(crate) struct Switch {
    ports: Vec<Rules>,
    homes: HashMap<[u8; 6], usize>,
    held: BinaryHeap<Reverse<Held>>,
    held_bytes: usize,
    spare: Vec<Vec<u8>>,
    order: u64,
    random: u64,
}

impl Switch {
    pub(crate) fn new(ports: Vec<Rules>) -> Self {
        Self {
            ports,
            homes: HashMap::new(),
            held: BinaryHeap::new(),
            held_bytes: 0,
            spare: Vec::new(),
            order: 0,
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Take a frame, its header before it, that came in at a port at a time in nanoseconds.
    pub(crate) fn take(&mut self, from: usize, bytes: &[u8], now: u64) {
        let Some(frame) = bytes.get(HEADER..).filter(|frame| frame.len() >= ETHERNET) else { return };
        let (target, source) = (address(&frame[..6]), address(&frame[6..12]));
        if source[0] & 1 == 0 && (self.homes.len() < MOST_ADDRESSES || self.homes.contains_key(&source)) {
            self.homes.insert(source, from);
        }
        if self.lost(from) {
            return;
        }
        match self.homes.get(&target) {
            Some(&home) if home == from => {}
            Some(&home) => self.hold(from, home, bytes, now),
            None => (0..self.ports.len()).filter(|&to| to != from).for_each(|to| self.hold(from, to, bytes, now)),
        }
    }

    fn hold(&mut self, from: usize, to: usize, bytes: &[u8], now: u64) {
        if self.lost(to) || self.held_bytes + bytes.len() > MOST_HELD {
            return;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.extend_from_slice(bytes);
        self.held_bytes += copy.len();
        self.order += 1;
        let due = now.saturating_add(self.ports[from].delay).saturating_add(self.ports[to].delay);
        self.held.push(Reverse(Held { due, order: self.order, to, bytes: copy }));
    }

    fn lost(&mut self, port: usize) -> bool {
        let loss = self.ports[port].loss;
        // xorshift64 (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        loss > 0 && self.random % 1_000_000 < u64::from(loss)
    }

    /// When the next frame is due to leave.
    pub(crate) fn due(&self) -> Option<u64> {
        self.held.peek().map(|held| held.0.due)
    }

    /// The next frame that is due to leave now; give it back to `reuse`.
    pub(crate) fn leaving(&mut self, now: u64) -> Option<Held> {
        if self.due()? > now {
            return None;
        }
        let held = self.held.pop()?.0;
        self.held_bytes -= held.bytes.len();
        Some(held)
    }

    /// Keep the memory of a frame that has left.
    pub(crate) fn reuse(&mut self, held: Held) {
        if self.spare.len() < 1024 {
            let mut bytes = held.bytes;
            bytes.clear();
            self.spare.push(bytes);
        }
    }
}

fn address(bytes: &[u8]) -> [u8; 6] {
    let mut found = [0; 6];
    found.copy_from_slice(bytes);
    found
}

#[cfg(test)]
mod tests {
    use super::{Rules, Switch, ETHERNET, HEADER, MOST_ADDRESSES};

    fn frame(target: u8, source: u8) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + 60];
        bytes[HEADER..HEADER + 6].fill(target);
        bytes[HEADER + 6..HEADER + 12].fill(source);
        bytes
    }

    fn leaving(switch: &mut Switch, now: u64) -> Vec<usize> {
        let mut to = vec![];
        while let Some(held) = switch.leaving(now) {
            to.push(held.to);
            switch.reuse(held);
        }
        to.sort_unstable();
        to
    }

    #[test]
    fn learns_where_addresses_are() {
        let mut switch = Switch::new(vec![Rules::default(); 3]);
        switch.take(0, &frame(2, 4), 0);
        assert_eq!(leaving(&mut switch, 0), [1, 2], "an unknown address is sought everywhere");
        switch.take(1, &frame(4, 2), 0);
        assert_eq!(leaving(&mut switch, 0), [0]);
        switch.take(0, &frame(2, 4), 0);
        assert_eq!(leaving(&mut switch, 0), [1]);
        switch.take(1, &frame(255, 2), 0);
        assert_eq!(leaving(&mut switch, 0), [0, 2], "a broadcast goes everywhere");
        switch.take(0, &frame(4, 6), 0);
        assert_eq!(leaving(&mut switch, 0), [0; 0], "nothing goes back to where it came from");
        switch.take(0, &[0; 20], 0);
        assert_eq!(leaving(&mut switch, 0), [0; 0], "a stump of a frame is dropped");
    }

    #[test]
    fn holds_a_frame_for_the_delays_of_both_ports() {
        let rules = |delay| Rules { delay, loss: 0 };
        let mut switch = Switch::new(vec![rules(5), rules(7), rules(0)]);
        switch.take(0, &frame(255, 4), 100);
        assert_eq!(switch.due(), Some(105));
        assert_eq!(leaving(&mut switch, 104), [0; 0]);
        assert_eq!(leaving(&mut switch, 105), [2]);
        assert_eq!(leaving(&mut switch, 111), [0; 0]);
        assert_eq!(leaving(&mut switch, 112), [1]);
        assert_eq!(switch.due(), None);
    }

    #[test]
    fn keeps_the_order_of_frames_that_are_due_together() {
        let mut switch = Switch::new(vec![Rules { delay: 9, loss: 0 }; 2]);
        for mark in 0..50 {
            let mut bytes = frame(255, 4);
            bytes[HEADER + 20] = mark;
            switch.take(0, &bytes, 3);
        }
        let marks: Vec<u8> = std::iter::from_fn(|| switch.leaving(21)).map(|held| held.bytes[HEADER + 20]).collect();
        assert_eq!(marks, (0..50).collect::<Vec<u8>>());
    }

    #[test]
    fn loses_the_share_it_was_told() {
        let mut switch = Switch::new(vec![Rules { delay: 0, loss: 10_000 }, Rules::default()]);
        for _ in 0..100_000 {
            switch.take(0, &frame(255, 4), 0);
            while let Some(held) = switch.leaving(0) {
                switch.reuse(held);
            }
        }
        let arrived = switch.order;
        // 1 % of 100,000, within six standard deviations.
        assert!((98_800..=99_200).contains(&arrived), "{arrived}");
    }

    #[test]
    fn frames_leave_when_they_are_due_and_those_of_one_moment_as_they_came() {
        let delays = [5, 0, 3, 11];
        let mut switch = Switch::new(delays.map(|delay| Rules { delay, loss: 0 }).to_vec());
        let mut expected = vec![];
        for number in 0..200_usize {
            let (from, now) = (number * 7 % 4, number as u64 / 3);
            let mut bytes = frame(255, 4);
            bytes[HEADER + 20] = number as u8;
            switch.take(from, &bytes, now);
            let others = (0..4).filter(|to| *to != from);
            expected.extend(others.map(|to| (now + delays[from] + delays[to], to, number as u8)));
        }
        // A stable sort: what is due together keeps its order.
        expected.sort_by_key(|(due, ..)| *due);
        let mut found = vec![];
        for now in 0..100 {
            while let Some(held) = switch.leaving(now) {
                found.push((now, held.to, held.bytes[HEADER + 20]));
                switch.reuse(held);
            }
        }
        assert_eq!(found, expected);
        assert_eq!(switch.held_bytes, 0);
    }

    #[test]
    fn a_delay_without_end_holds_a_frame_for_ever() {
        let mut switch = Switch::new(vec![Rules { delay: u64::MAX, loss: 0 }; 2]);
        switch.take(0, &frame(255, 4), 7);
        assert_eq!(switch.due(), Some(u64::MAX));
        assert_eq!(leaving(&mut switch, u64::MAX - 1), [0; 0]);
    }

    #[test]
    fn memory_that_is_used_again_has_nothing_of_the_frame_before() {
        let mut switch = Switch::new(vec![Rules::default(); 2]);
        let mut long = frame(255, 4);
        long.resize(500, 0xee);
        switch.take(0, &long, 0);
        assert_eq!(leaving(&mut switch, 0), [1]);
        for length in [HEADER + ETHERNET, HEADER + ETHERNET + 1, HEADER + 60] {
            switch.take(0, &frame(255, 4)[..length], 0);
            let held = switch.leaving(0).unwrap();
            assert_eq!(held.bytes, frame(255, 4)[..length]);
            switch.reuse(held);
        }
        switch.take(0, &frame(255, 4)[..HEADER + ETHERNET - 1], 0);
        assert_eq!(switch.due(), None, "no header of Ethernet");
    }

    #[test]
    fn addresses_are_learnt_up_to_a_limit_and_those_of_groups_never() {
        let mut switch = Switch::new(vec![Rules::default(); 3]);
        switch.take(0, &frame(2, 3), 0);
        assert!(switch.homes.is_empty(), "3 is a group's");
        switch.take(1, &frame(4, 2), 0);
        for number in 0..MOST_ADDRESSES as u32 + 100 {
            let mut bytes = frame(2, 4);
            bytes[HEADER + 8..HEADER + 12].copy_from_slice(&number.to_be_bytes());
            switch.take(0, &bytes, 0);
        }
        assert_eq!(switch.homes.len(), MOST_ADDRESSES);
        while let Some(held) = switch.leaving(0) {
            switch.reuse(held);
        }
        // One that is known may still move.
        switch.take(2, &frame(255, 2), 0);
        assert_eq!(leaving(&mut switch, 0), [0, 1]);
        switch.take(0, &frame(2, 4), 0);
        assert_eq!(leaving(&mut switch, 0), [2]);
    }
}
