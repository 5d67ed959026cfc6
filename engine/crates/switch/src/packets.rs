//! Decides where and when a frame is forwarded. Uses neither sockets nor clocks, so that tests can control it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Bytes of the header that the kernel puts before each frame: struct virtio_net_hdr.
pub(crate) const HEADER: usize = 10;
/// Bytes of an Ethernet header: destination, source and type.
const ETHERNET: usize = 14;
/// Limit of the bytes in all queued frames. A real wire holds less.
const MAX_QUEUED_BYTES: usize = 256 << 20;
const MAX_ADDRESSES: usize = 4096;

/// Delay and loss of a port, for frames in either direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rules {
    /// Delay of a frame in nanoseconds.
    pub(crate) delay: u64,
    /// Lost frames per million.
    pub(crate) loss: u32,
}

/// A frame that waits to be sent.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueuedFrame {
    due: u64,
    order: u64,
    /// Port that sends it.
    pub(crate) to: usize,
    /// Header and frame.
    pub(crate) bytes: Vec<u8>,
}

/// A learning switch with a constant delay and random loss at each port.
pub(crate) struct Switch {
    ports: Vec<Rules>,
    port_of_address: HashMap<[u8; 6], usize>,
    queue: BinaryHeap<Reverse<QueuedFrame>>,
    queued_bytes: usize,
    spare: Vec<Vec<u8>>,
    order: u64,
    random: u64,
}

impl Switch {
    pub(crate) fn new(ports: Vec<Rules>) -> Self {
        Self {
            ports,
            port_of_address: HashMap::new(),
            queue: BinaryHeap::new(),
            queued_bytes: 0,
            spare: Vec::new(),
            order: 0,
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Accepts a frame, with its header before it, that arrived at port `from` at time `now` in nanoseconds.
    pub(crate) fn take(&mut self, from: usize, bytes: &[u8], now: u64) {
        let Some(frame) = bytes.get(HEADER..).filter(|frame| frame.len() >= ETHERNET) else { return };
        let (target, source) = (address(&frame[..6]), address(&frame[6..12]));
        if source[0] & 1 == 0
            && (self.port_of_address.len() < MAX_ADDRESSES || self.port_of_address.contains_key(&source))
        {
            self.port_of_address.insert(source, from);
        }
        if self.is_lost(from) {
            return;
        }
        match self.port_of_address.get(&target) {
            Some(&port) if port == from => {}
            Some(&port) => self.enqueue(from, port, bytes, now),
            None => (0..self.ports.len()).filter(|&to| to != from).for_each(|to| self.enqueue(from, to, bytes, now)),
        }
    }

    fn enqueue(&mut self, from: usize, to: usize, bytes: &[u8], now: u64) {
        if self.is_lost(to) || self.queued_bytes + bytes.len() > MAX_QUEUED_BYTES {
            return;
        }
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.extend_from_slice(bytes);
        self.queued_bytes += copy.len();
        self.order += 1;
        let due = now.saturating_add(self.ports[from].delay).saturating_add(self.ports[to].delay);
        self.queue.push(Reverse(QueuedFrame { due, order: self.order, to, bytes: copy }));
    }

    fn is_lost(&mut self, port: usize) -> bool {
        let loss = self.ports[port].loss;
        // xorshift64 (Marsaglia 2003).
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        loss > 0 && self.random % 1_000_000 < u64::from(loss)
    }

    /// Time at which the next frame is due.
    pub(crate) fn due(&self) -> Option<u64> {
        self.queue.peek().map(|queued| queued.0.due)
    }

    /// Removes and returns the next frame that is due. Pass it to [`Switch::reuse`] after sending it.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<QueuedFrame> {
        if self.due()? > now {
            return None;
        }
        let queued = self.queue.pop()?.0;
        self.queued_bytes -= queued.bytes.len();
        Some(queued)
    }

    /// Keeps the buffer of a sent frame for later frames.
    pub(crate) fn reuse(&mut self, queued: QueuedFrame) {
        if self.spare.len() < 1024 {
            let mut bytes = queued.bytes;
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
    use super::{Rules, Switch, ETHERNET, HEADER, MAX_ADDRESSES};

    fn frame(target: u8, source: u8) -> Vec<u8> {
        let mut bytes = vec![0; HEADER + 60];
        bytes[HEADER..HEADER + 6].fill(target);
        bytes[HEADER + 6..HEADER + 12].fill(source);
        bytes
    }

    fn pop_due(switch: &mut Switch, now: u64) -> Vec<usize> {
        let mut to = vec![];
        while let Some(queued) = switch.pop_due(now) {
            to.push(queued.to);
            switch.reuse(queued);
        }
        to.sort_unstable();
        to
    }

    #[test]
    fn frames_go_to_the_port_of_a_learnt_address() {
        let mut switch = Switch::new(vec![Rules::default(); 3]);
        switch.take(0, &frame(2, 4), 0);
        assert_eq!(pop_due(&mut switch, 0), [1, 2], "an unknown address is sought everywhere");
        switch.take(1, &frame(4, 2), 0);
        assert_eq!(pop_due(&mut switch, 0), [0]);
        switch.take(0, &frame(2, 4), 0);
        assert_eq!(pop_due(&mut switch, 0), [1]);
        switch.take(1, &frame(255, 2), 0);
        assert_eq!(pop_due(&mut switch, 0), [0, 2], "a broadcast goes everywhere");
        switch.take(0, &frame(4, 6), 0);
        assert_eq!(pop_due(&mut switch, 0), [0; 0], "nothing goes back to where it came from");
        switch.take(0, &[0; 20], 0);
        assert_eq!(pop_due(&mut switch, 0), [0; 0], "a stump of a frame is dropped");
    }

    #[test]
    fn delays_of_both_ports_add_up() {
        let rules = |delay| Rules { delay, loss: 0 };
        let mut switch = Switch::new(vec![rules(5), rules(7), rules(0)]);
        switch.take(0, &frame(255, 4), 100);
        assert_eq!(switch.due(), Some(105));
        assert_eq!(pop_due(&mut switch, 104), [0; 0]);
        assert_eq!(pop_due(&mut switch, 105), [2]);
        assert_eq!(pop_due(&mut switch, 111), [0; 0]);
        assert_eq!(pop_due(&mut switch, 112), [1]);
        assert_eq!(switch.due(), None);
    }

    #[test]
    fn frames_due_together_keep_their_order() {
        let mut switch = Switch::new(vec![Rules { delay: 9, loss: 0 }; 2]);
        for mark in 0..50 {
            let mut bytes = frame(255, 4);
            bytes[HEADER + 20] = mark;
            switch.take(0, &bytes, 3);
        }
        let marks: Vec<u8> =
            std::iter::from_fn(|| switch.pop_due(21)).map(|queued| queued.bytes[HEADER + 20]).collect();
        assert_eq!(marks, (0..50).collect::<Vec<u8>>());
    }

    #[test]
    fn loss_rate_matches_the_rule() {
        let mut switch = Switch::new(vec![Rules { delay: 0, loss: 10_000 }, Rules::default()]);
        for _ in 0..100_000 {
            switch.take(0, &frame(255, 4), 0);
            while let Some(queued) = switch.pop_due(0) {
                switch.reuse(queued);
            }
        }
        let arrived = switch.order;
        // 1 % of 100,000, within six standard deviations.
        assert!((98_800..=99_200).contains(&arrived), "{arrived}");
    }

    #[test]
    fn frames_leave_in_order_of_due_time() {
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
        // A stable sort: frames that are due together keep their order.
        expected.sort_by_key(|(due, ..)| *due);
        let mut found = vec![];
        for now in 0..100 {
            while let Some(queued) = switch.pop_due(now) {
                found.push((now, queued.to, queued.bytes[HEADER + 20]));
                switch.reuse(queued);
            }
        }
        assert_eq!(found, expected);
        assert_eq!(switch.queued_bytes, 0);
    }

    #[test]
    fn maximum_delay_does_not_overflow() {
        let mut switch = Switch::new(vec![Rules { delay: u64::MAX, loss: 0 }; 2]);
        switch.take(0, &frame(255, 4), 7);
        assert_eq!(switch.due(), Some(u64::MAX));
        assert_eq!(pop_due(&mut switch, u64::MAX - 1), [0; 0]);
    }

    #[test]
    fn reused_buffers_are_empty() {
        let mut switch = Switch::new(vec![Rules::default(); 2]);
        let mut long = frame(255, 4);
        long.resize(500, 0xee);
        switch.take(0, &long, 0);
        assert_eq!(pop_due(&mut switch, 0), [1]);
        for length in [HEADER + ETHERNET, HEADER + ETHERNET + 1, HEADER + 60] {
            switch.take(0, &frame(255, 4)[..length], 0);
            let queued = switch.pop_due(0).unwrap();
            assert_eq!(queued.bytes, frame(255, 4)[..length]);
            switch.reuse(queued);
        }
        switch.take(0, &frame(255, 4)[..HEADER + ETHERNET - 1], 0);
        assert_eq!(switch.due(), None, "no header of Ethernet");
    }

    #[test]
    fn learnt_addresses_are_limited_and_never_groups() {
        let mut switch = Switch::new(vec![Rules::default(); 3]);
        switch.take(0, &frame(2, 3), 0);
        assert!(switch.port_of_address.is_empty(), "3 is a group's");
        switch.take(1, &frame(4, 2), 0);
        for number in 0..MAX_ADDRESSES as u32 + 100 {
            let mut bytes = frame(2, 4);
            bytes[HEADER + 8..HEADER + 12].copy_from_slice(&number.to_be_bytes());
            switch.take(0, &bytes, 0);
        }
        assert_eq!(switch.port_of_address.len(), MAX_ADDRESSES);
        while let Some(queued) = switch.pop_due(0) {
            switch.reuse(queued);
        }
        // A known address may still move to another port.
        switch.take(2, &frame(255, 2), 0);
        assert_eq!(pop_due(&mut switch, 0), [0, 1]);
        switch.take(0, &frame(2, 4), 0);
        assert_eq!(pop_due(&mut switch, 0), [2]);
    }
}
