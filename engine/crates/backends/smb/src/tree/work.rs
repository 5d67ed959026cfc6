//! An operation on a name as a sequence of requests.

use crate::calls::About;
use crate::client::{briefly, let_go, to_change, LISTING_BYTES, NEW_DIRECTORY, NEW_FILE, TO_LOOK, TO_READ};
use crate::messages::{self, Opened, Opening, IS_DIRECTORY, OPEN, READ_ATTRIBUTES, READ_DATA};
use crate::status::{GARBAGE, NO_MORE_FILES, NO_SUCH_FILE};
use crate::transport::Transport;
use crate::wire::{Command, FileId, SAME_FILE};
use assay_core::{Buffers, Fault, Op, OpKind, Source, OPEN_TO_READ};
use assay_remote::{piece_to_read, piece_to_write, Payload};
use assay_spec::{data_kinds, name_kinds, object_kinds, program_kinds, SyncPolicy};

/// What the lane knows of where it works.
pub(crate) struct Context<'a> {
    /// Bytes of a READ and of a WRITE.
    pub(crate) sizes: (u32, u32),
    pub(crate) buffers: &'a Buffers,
    /// Contents that are longer than a buffer; none if none are.
    pub(crate) source: Option<&'a dyn Source>,
    /// How a file is opened that stays open; none: it is closed in the same message.
    pub(crate) data_opening: Option<Opening>,
    /// How a file is made.
    pub(crate) making: Opening,
}

/// Which request comes next, or was last made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    /// The one that the operation starts with.
    #[default]
    First,
    Write,
    Flush,
    Read,
    List,
    Close,
}

/// An operation under way.
#[derive(Default)]
pub(crate) struct Work {
    op: Option<Op>,
    step: Step,
    deadline: u64,
    path: String,
    /// What a rename makes of it.
    other: String,
    file: FileId,
    /// Bytes read or written, or entries listed.
    count: u64,
    /// What went wrong while the file was open.
    failed: Option<Fault>,
}

impl Work {
    /// An operation on a path that shall have ended by `deadline`.
    pub(crate) fn begin(&mut self, op: &Op, deadline: u64) -> (&mut String, &mut String) {
        (self.op, self.step, self.deadline) = (Some(*op), Step::First, deadline);
        (self.count, self.failed) = (0, None);
        (&mut self.path, &mut self.other)
    }

    /// The closing of a file that is open.
    pub(crate) fn begin_close(&mut self, op: &Op, deadline: u64, file: FileId) {
        self.begin(op, deadline);
        (self.step, self.file) = (Step::Close, file);
    }

    /// It closes a file, and does nothing else.
    pub(crate) fn is_closing(&self) -> bool {
        self.op.is_some_and(|op| op.kind == OpKind::Close)
    }

    /// It opens a file, or makes one.
    pub(crate) fn opens(&self) -> bool {
        self.op.is_some_and(|op| matches!(op.kind, OpKind::Open | OpKind::Create))
    }

    /// The file that was opened.
    pub(crate) fn opened_file(&self) -> (&str, FileId) {
        (&self.path, self.file)
    }

    /// Makes the next request; fault if the operation cannot be done.
    pub(crate) fn call(&self, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let op = self.op.ok_or(Fault::os(libc::EINVAL))?;
        let about = About::plain(u64::from(op.slot), self.deadline);
        let file = &self.file;
        match self.step {
            Step::First => return self.call_first(op, about, context, transport),
            Step::Write => self.call_write(op, about, context, transport)?,
            Step::Read => self.call_read(op, about, context, transport),
            Step::Flush => {
                transport.start(about, |chain| {
                    chain.add(Command::Flush, |out| messages::put_flush(out, file));
                });
            }
            Step::List => {
                let again = self.count == 0;
                transport.start(About { bytes: LISTING_BYTES, ..about }, |chain| {
                    chain.add(Command::QueryDirectory, |out| messages::put_list(out, file, again, LISTING_BYTES));
                });
            }
            Step::Close => {
                transport.start(about, |chain| {
                    chain.add(Command::Close, |out| messages::put_close(out, file));
                });
            }
        }
        Ok(())
    }

    /// What only opens a name, changes it and closes it is one message.
    fn call_first(&self, op: Op, about: About, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let path = &self.path;
        let stays_open = |transport: &mut Transport, opening| {
            transport.start(about, |chain| {
                chain.add(Command::Create, |out| messages::put_create(out, path, opening));
            });
        };
        match op.kind {
            OpKind::Create if op.length > 0 => stays_open(transport, context.making),
            OpKind::Create if context.data_opening.is_some() => {
                let disposition = NEW_FILE.disposition;
                stays_open(transport, Opening { disposition, ..context.data_opening.unwrap_or(NEW_FILE) });
            }
            OpKind::Read => stays_open(transport, TO_READ),
            OpKind::Readdir => {
                let access = READ_DATA | READ_ATTRIBUTES;
                stays_open(transport, Opening { access, disposition: OPEN, options: IS_DIRECTORY });
            }
            OpKind::Create => drop(transport.start(about, |chain| briefly(chain, path, context.making, |_| {}))),
            OpKind::Mkdir => drop(transport.start(about, |chain| briefly(chain, path, NEW_DIRECTORY, |_| {}))),
            OpKind::Stat => drop(transport.start(about, |chain| briefly(chain, path, TO_LOOK, |_| {}))),
            OpKind::Open if context.data_opening.is_some() && op.offset == OPEN_TO_READ => {
                stays_open(transport, TO_READ);
            }
            OpKind::Open if context.data_opening.is_some() => {
                stays_open(transport, context.data_opening.unwrap_or(TO_READ));
            }
            OpKind::Open => drop(transport.start(about, |chain| briefly(chain, path, TO_READ, |_| {}))),
            OpKind::Unlink | OpKind::Rmdir => {
                let opening = to_change(op.kind == OpKind::Rmdir);
                transport.start(about, |chain| briefly(chain, path, opening, let_go));
            }
            OpKind::Rename => {
                let fill = |out: &mut Vec<u8>| {
                    messages::put_set(out, &SAME_FILE, messages::RENAME, |out| messages::put_rename(out, &self.other));
                };
                transport.start(about, |chain| {
                    briefly(chain, path, to_change(false), |chain| {
                        chain.add(Command::SetInfo, fill);
                    });
                });
            }
            OpKind::Write | OpKind::Sync | OpKind::Close | object_kinds!() | program_kinds!() => {
                return Err(Fault::os(libc::EINVAL))
            }
        }
        Ok(())
    }

    fn call_write(&self, op: Op, about: About, context: &Context<'_>, transport: &mut Transport) -> Result<(), Fault> {
        let (data, bytes) = piece_to_write(&op, self.count, context.sizes.1, context.buffers, context.source)?;
        let payload = Payload::Out(data, bytes as usize);
        transport.start(About { bytes, payload, ..about }, |chain| {
            chain.add(Command::Write, |out| messages::put_write(out, &self.file, self.count, bytes));
        });
        Ok(())
    }

    fn call_read(&self, op: Op, about: About, context: &Context<'_>, transport: &mut Transport) {
        let (data, bytes) = piece_to_read(&op, self.count, context.sizes.0, context.buffers);
        let payload = Payload::In(data, bytes as usize);
        transport.start(About { bytes, payload, ..about }, |chain| {
            chain.add(Command::Read, |out| messages::put_read(out, &self.file, self.count, bytes));
        });
    }

    /// A READ has brought so many bytes, with which the file may end. Another request follows.
    pub(crate) fn has_read(&mut self, count: u32) {
        self.count += u64::from(count);
        let whole = self.op.is_some_and(|op| self.count >= op.length);
        if count == 0 || whole {
            self.step = Step::Close;
        }
    }

    /// A request has ended: the operation's result, or none if another follows.
    pub(crate) fn ended(&mut self, answer: Result<&[u8], Fault>, sync: SyncPolicy) -> Option<Result<u64, Fault>> {
        let next = answer.and_then(|answer| self.next(answer, sync));
        match next {
            Ok(done) => done.map(|count| self.failed.map_or(Ok(count), Err)),
            Err(NO_MORE_FILES | NO_SUCH_FILE) if self.step == Step::List => {
                self.step = Step::Close;
                None
            }
            Err(fault) if matches!(self.step, Step::First | Step::Close) => Some(Err(self.failed.unwrap_or(fault))),
            Err(fault) => {
                (self.failed, self.step) = (Some(fault), Step::Close);
                None
            }
        }
    }

    fn next(&mut self, answer: &[u8], sync: SyncPolicy) -> Result<Option<u64>, Fault> {
        let op = self.op.ok_or(Fault::os(libc::EINVAL))?;
        match self.step {
            Step::First => return self.opened(op, answer),
            Step::Write => {
                let left = op.length - self.count;
                let written = messages::written(answer).filter(|count| u64::from(*count) <= left).ok_or(GARBAGE)?;
                self.count += u64::from(written);
                if written == 0 || self.count == op.length {
                    self.step = if sync == SyncPolicy::None { Step::Close } else { Step::Flush };
                }
            }
            Step::Flush => self.step = Step::Close,
            Step::List => {
                let mut found = 0_u64;
                let listing = messages::queried(answer);
                listing.and_then(|listing| messages::entries(listing, |_| found += 1)).ok_or(GARBAGE)?;
                if found == 0 {
                    self.step = Step::Close;
                }
                self.count += found;
            }
            // What it brings is told by the call, see `has_read`.
            Step::Read => return Err(GARBAGE),
            Step::Close => return Ok(Some(self.count)),
        }
        Ok(None)
    }

    /// The first request has been answered.
    fn opened(&mut self, op: Op, answer: &[u8]) -> Result<Option<u64>, Fault> {
        let opened = Opened::read(answer).ok_or(GARBAGE)?;
        self.file = opened.file;
        self.step = match op.kind {
            OpKind::Stat => return Ok(Some(opened.size)),
            OpKind::Create if op.length > 0 => Step::Write,
            OpKind::Read => Step::Read,
            OpKind::Readdir => Step::List,
            data_kinds!() | name_kinds!() | object_kinds!() | program_kinds!() => return Ok(Some(0)),
        };
        Ok(None)
    }
}
