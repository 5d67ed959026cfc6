//! A lane's names, built without allocating.

use std::ffi::c_char;

/// Two letters, two numbers of up to 20 digits, a dot and the closing zero always fit.
const ROOM: usize = 48;

/// The name `<letter><lane>.<number>` of a file, directory or object, with a closing zero. All kinds of storage use it.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    bytes: [u8; ROOM],
    /// Where the digits of the number start.
    digits: usize,
    /// Where the closing zero is.
    end: usize,
    number: u64,
}

impl Name {
    /// The lane's name with number 0. The lane is part of it because lanes may share a directory.
    pub fn new(letter: u8, lane: u32) -> Self {
        let mut name = Name { bytes: [0; ROOM], digits: 1, end: 1, number: 0 };
        name.bytes[0] = letter;
        name.write(u64::from(lane));
        name.bytes[name.end] = b'.';
        name.digits = name.end + 1;
        name.write(0);
        name
    }

    /// Change the number. The next number is the usual case, and changes one digit nine times of ten.
    #[inline]
    pub fn set(&mut self, number: u64) {
        let last = &mut self.bytes[self.end - 1];
        if self.number.checked_add(1) == Some(number) && *last != b'9' {
            *last += 1;
            self.number = number;
        } else {
            self.set_any(number);
        }
    }

    #[cold]
    fn set_any(&mut self, number: u64) {
        let known = std::mem::replace(&mut self.number, number);
        let near = number == known || known.checked_add(1) == Some(number) && self.increment();
        if !near {
            self.write(number);
        }
    }

    /// Add one; false if there are not enough digits.
    fn increment(&mut self) -> bool {
        for digit in self.bytes[self.digits..self.end].iter_mut().rev() {
            if *digit != b'9' {
                *digit += 1;
                return true;
            }
            *digit = b'0';
        }
        false
    }

    /// Write a number at the digits' position, and the closing zero after it.
    fn write(&mut self, mut number: u64) {
        let length = number.checked_ilog10().unwrap_or(0) as usize + 1;
        self.end = self.digits + length;
        for digit in self.bytes[self.digits..self.end].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
        self.bytes[self.end] = 0;
    }

    /// The name's bytes, without the closing zero.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Pointer for system calls; valid until the name is changed or moved.
    #[inline]
    pub fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn text(name: &Name) -> &str {
        assert_eq!(CStr::from_bytes_until_nul(&name.bytes).unwrap().to_bytes(), name.bytes());
        std::str::from_utf8(name.bytes()).unwrap()
    }

    #[test]
    fn names_are_those_of_format() {
        for lane in [0, 9, 10, 1023, u32::MAX] {
            let mut name = Name::new(b'f', lane);
            assert_eq!(text(&name), format!("f{lane}.0"));
            let numbers = (0..=1101).chain([5, 6, 6, 99, 100, 0, 999_999_999, 1_000_000_000, u64::MAX, 0, u64::MAX]);
            for number in numbers {
                name.set(number);
                assert_eq!(text(&name), format!("f{lane}.{number}"));
            }
        }
    }
}
