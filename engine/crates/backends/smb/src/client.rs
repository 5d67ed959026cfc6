//! Requests of SMB, one after the other or many at a time. For all that is not measured.

use crate::calls::About;
use crate::messages::{
    self, Opened, Opening, ATTRIBUTE_DIRECTORY, ATTRIBUTE_LINK, ATTRIBUTE_NORMAL, CREATE, DELETE, IS_DIRECTORY,
    IS_FILE, NOT_THROUGH_LINKS, OPEN, OPEN_OR_CREATE, READ_ATTRIBUTES, READ_DATA, WRITE_DATA,
};
use crate::session::{Peer, Refusal};
use crate::status::{is_absent, GARBAGE, NO_MORE_FILES, NO_SUCH_FILE};
use crate::transport::Transport;
use crate::wire::{Chain, Command, FileId, SAME_FILE};
use assay_core::{clock, fault_message, os_message, Fault, SetupError};
use assay_remote::Transport as _;
use std::sync::Arc;

/// Pages of a listing in a row in which there may be no name.
const MAX_EMPTY: u32 = 64;
/// Names of a directory that are kept at once, whatever there is.
const MAX_NAMES: usize = 1 << 16;
/// Bytes of a listing that are asked for at once: one credit's worth.
pub(crate) const LISTING_BYTES: u32 = 64 << 10;

/// For reading what is there.
pub(crate) const TO_READ: Opening =
    Opening { access: READ_DATA | READ_ATTRIBUTES, disposition: OPEN, options: IS_FILE };
/// To look at what is there, a link itself among it.
pub(crate) const TO_LOOK: Opening = Opening { access: READ_ATTRIBUTES, disposition: OPEN, options: NOT_THROUGH_LINKS };
/// A new directory.
pub(crate) const NEW_DIRECTORY: Opening =
    Opening { access: READ_ATTRIBUTES, disposition: CREATE, options: IS_DIRECTORY };
/// A new file.
pub(crate) const NEW_FILE: Opening =
    Opening { access: READ_DATA | WRITE_DATA | READ_ATTRIBUTES, disposition: CREATE, options: IS_FILE };

/// To remove or rename a file, or a directory.
pub(crate) fn to_change(directory: bool) -> Opening {
    let options = if directory { IS_DIRECTORY } else { IS_FILE };
    Opening { access: DELETE | READ_ATTRIBUTES, disposition: OPEN, options: options | NOT_THROUGH_LINKS }
}

/// Adds CREATE and CLOSE with what `between` adds for the open file.
pub(crate) fn briefly(chain: &mut Chain<'_>, path: &str, opening: Opening, between: impl FnOnce(&mut Chain<'_>)) {
    chain.add(Command::Create, |out| messages::put_create(out, path, opening));
    between(chain);
    chain.add(Command::Close, |out| messages::put_close(out, &SAME_FILE));
}

/// Adds that the file goes when it is closed.
pub(crate) fn let_go(chain: &mut Chain<'_>) {
    chain.add(Command::SetInfo, |out| messages::put_set(out, &SAME_FILE, messages::DISPOSITION, messages::put_going));
}

/// A share, and how long to wait for it.
pub(crate) struct Client {
    pub(crate) transport: Transport,
    pub(crate) timeout_ns: u64,
}

impl Client {
    /// Connects when `connect` is called.
    pub(crate) fn new(peer: &Arc<Peer>) -> Self {
        Client { transport: Transport::new(Arc::clone(peer)), timeout_ns: peer.target.timeout_ns }
    }

    /// Opens a session if there is none, and waits at most so long, in nanoseconds.
    pub(crate) fn connect(&mut self, wait_ns: u64) -> Result<(), SetupError> {
        let until = clock::now() + wait_ns;
        let refusal = match self.transport.connect(until) {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        Err(refused(&self.transport.peer, refusal))
    }

    /// Makes one call of the requests that `fill` adds, and keeps the answer with this number.
    fn call(&mut self, keep: u16, fill: impl FnOnce(&mut Chain<'_>)) -> Result<Vec<u8>, Fault> {
        let about = About { keep, ..About::plain(0, clock::now() + self.timeout_ns) };
        let number = self.transport.start(about, fill);
        self.transport.complete(number)
    }

    /// Makes `count` calls, many at a time. `done` is told the answers in any order.
    pub(crate) fn all(
        &mut self,
        count: usize,
        mut fill: impl FnMut(usize, &mut Chain<'_>),
        done: impl FnMut(usize, Result<&[u8], Fault>),
    ) {
        let timeout_ns = self.timeout_ns;
        let start = |transport: &mut Transport, number: usize| {
            let about = About::plain(number as u64, clock::now() + timeout_ns);
            transport.start(about, |chain| fill(number, chain));
        };
        self.transport.all(count, start, done);
    }

    /// CREATE (section 2.2.13): what it has opened stays open.
    pub(crate) fn open(&mut self, path: &str, opening: Opening) -> Result<Opened, Fault> {
        let answer = self.call(0, |chain| {
            chain.add(Command::Create, |out| messages::put_create(out, path, opening));
        })?;
        Opened::read(&answer).ok_or(GARBAGE)
    }

    /// CLOSE (section 2.2.15).
    pub(crate) fn close(&mut self, file: &FileId) -> Result<(), Fault> {
        self.call(0, |chain| {
            chain.add(Command::Close, |out| messages::put_close(out, file));
        })
        .map(|_| ())
    }

    /// Opens and closes: makes what shall be made, or tells what is there.
    pub(crate) fn touch(&mut self, path: &str, opening: Opening) -> Result<Opened, Fault> {
        let answer = self.call(0, |chain| briefly(chain, path, opening, |_| {}))?;
        Opened::read(&answer).ok_or(GARBAGE)
    }

    /// What is there; none if nothing is.
    pub(crate) fn look(&mut self, path: &str) -> Result<Option<Opened>, Fault> {
        sure(|| match self.touch(path, TO_LOOK) {
            Ok(found) => Ok(Some(found)),
            Err(fault) if is_absent(fault) => Ok(None),
            Err(fault) => Err(fault),
        })
    }

    /// Makes a file if there is none.
    pub(crate) fn ensure(&mut self, path: &str) -> Result<Opened, Fault> {
        self.touch(path, Opening { disposition: OPEN_OR_CREATE, ..NEW_FILE })
    }

    /// Opens a file, sets what `fill` puts, and closes it.
    pub(crate) fn set(
        &mut self,
        path: &str,
        opening: Opening,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> Result<Opened, Fault> {
        let answer = self.call(0, |chain| {
            briefly(chain, path, opening, |chain| {
                chain.add(Command::SetInfo, fill);
            });
        })?;
        Opened::read(&answer).ok_or(GARBAGE)
    }

    /// Names that a file has.
    pub(crate) fn links(&mut self, path: &str) -> Result<u32, Fault> {
        let query = |chain: &mut Chain<'_>| {
            chain.add(Command::QueryInfo, |out| {
                messages::put_query(out, &SAME_FILE, messages::OF_FILE, messages::STANDARD);
            });
        };
        let answer = self.call(1, |chain| briefly(chain, path, TO_LOOK, query))?;
        messages::queried(&answer).and_then(messages::links).ok_or(GARBAGE)
    }

    /// Bytes that this user may still fill.
    pub(crate) fn free_bytes(&mut self) -> Result<u64, Fault> {
        let query = |chain: &mut Chain<'_>| {
            chain.add(Command::QueryInfo, |out| {
                messages::put_query(out, &SAME_FILE, messages::OF_VOLUME, messages::FULL_SIZE);
            });
        };
        let answer = self.call(1, |chain| briefly(chain, "", TO_LOOK, query))?;
        messages::queried(&answer).and_then(messages::free_bytes).ok_or(GARBAGE)
    }

    /// Removes a file, or an empty directory.
    pub(crate) fn remove(&mut self, path: &str, directory: bool) -> Result<(), Fault> {
        self.call(0, |chain| briefly(chain, path, to_change(directory), let_go)).map(|_| ())
    }

    /// Names in a directory but `.` and `..`: all, or as many as are looked at at once.
    pub(crate) fn list(&mut self, path: &str) -> Result<Vec<String>, Fault> {
        let opening = Opening { access: READ_DATA | READ_ATTRIBUTES, disposition: OPEN, options: IS_DIRECTORY };
        let file = self.open(path, opening)?.file;
        let mut found = Vec::new();
        let listed = self.pages(&file, &mut found);
        let closed = self.close(&file);
        listed.and(closed).map(|()| found)
    }

    /// All pages of a listing.
    fn pages(&mut self, file: &FileId, found: &mut Vec<String>) -> Result<(), Fault> {
        let (mut again, mut empty) = (true, 0);
        while empty < MAX_EMPTY {
            if found.len() >= MAX_NAMES {
                return Ok(());
            }
            let answer = self.call(0, |chain| {
                chain.add(Command::QueryDirectory, |out| messages::put_list(out, file, again, LISTING_BYTES));
            });
            let answer = match answer {
                Err(NO_MORE_FILES | NO_SUCH_FILE) => return Ok(()),
                answer => answer?,
            };
            let before = found.len();
            let told = |name: &[u8]| found.push(messages::text(name));
            messages::queried(&answer).and_then(|listing| messages::entries(listing, told)).ok_or(GARBAGE)?;
            empty = if found.len() == before { empty + 1 } else { 0 };
            again = false;
        }
        Err(Fault::os(libc::ELOOP))
    }
}

/// What a look finds; a second one if the first tells of a plain file without attributes, as Samba does of a directory, too,
/// that somebody removes while it looks.
fn sure(mut look: impl FnMut() -> Result<Option<Opened>, Fault>) -> Result<Option<Opened>, Fault> {
    match look()? {
        Some(found) if found.attributes == ATTRIBUTE_NORMAL => look(),
        found => Ok(found),
    }
}

/// What stands at a path, as far as it matters.
impl Opened {
    pub(crate) fn is_directory(&self) -> bool {
        self.attributes & ATTRIBUTE_DIRECTORY != 0 && self.attributes & ATTRIBUTE_LINK == 0
    }

    pub(crate) fn is_file(&self) -> bool {
        self.attributes & (ATTRIBUTE_DIRECTORY | ATTRIBUTE_LINK) == 0
    }
}

/// Why there is no session, for people.
pub(crate) fn refused(peer: &Peer, refusal: Refusal) -> SetupError {
    let user = &peer.credentials.user;
    match refusal {
        Refusal::Unreachable(errno) => {
            let words = match errno {
                libc::ECONNREFUSED => "nobody answers there: is it an SMB server, and is the port right?".to_owned(),
                libc::EBADMSG | libc::EPROTO => "what it answers is not SMB 2 or 3, or not as it was sent".to_owned(),
                errno => os_message(errno),
            };
            SetupError::new("connect", format!("{} ({})", peer.shown(), peer.address), words).because(Fault::os(errno))
        }
        Refusal::Refused("user", fault) => {
            let words = format!("{}: is the password of {user} right?", fault_message(fault));
            SetupError::new("sign in", peer.shown(), words).because(fault)
        }
        Refusal::Refused("share", fault) => {
            let words = format!("{}: has the server such a share, and may {user} use it?", fault_message(fault));
            SetupError::new("open", peer.shown(), words).because(fault)
        }
        Refusal::Refused(_, fault) => {
            let words = format!("{}: it may speak no version from 2.1 on", fault_message(fault));
            SetupError::new("connect", peer.shown(), words).because(fault)
        }
        Refusal::Unable(words) => SetupError::new("open", peer.shown(), words),
    }
}

/// The fault of an operation for which there is no session.
pub(crate) fn fault_of(refusal: Refusal) -> Fault {
    match refusal {
        Refusal::Unreachable(errno) => Fault::os(errno),
        Refusal::Refused(_, fault) => fault,
        Refusal::Unable(_) => Fault::os(libc::EPROTO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(attributes: u32) -> Opened {
        Opened { file: SAME_FILE, size: 0, attributes, made: false }
    }

    #[test]
    fn only_a_file_without_attributes_is_looked_at_twice() {
        let (plain, folder) = (Some(with(ATTRIBUTE_NORMAL)), Some(with(ATTRIBUTE_DIRECTORY)));
        for (answers, found) in [
            (vec![folder], folder),
            (vec![None], None),
            (vec![plain, None], None),
            (vec![plain, plain], plain),
            (vec![plain, folder], folder),
        ] {
            let mut left = answers.into_iter();
            assert_eq!(sure(|| Ok(left.next().unwrap())), Ok(found));
            assert_eq!(left.next(), None);
        }
    }
}
