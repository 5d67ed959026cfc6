//! Kinds of operations, which are counted separately.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an operation does to one object, or to a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "OpKind")]
#[repr(u8)]
pub enum OpKind {
    /// Fill the buffer from the file.
    Read,
    /// Write the buffer to the file.
    Write,
    /// Make everything that a lane has written stable.
    Sync,
    /// Create a new file, write its contents, close it; in a phase on data, create it empty and leave it open.
    Create,
    /// Get a file's attributes.
    Stat,
    /// Open a file for reading and close it; in a phase on data, open it and leave it open.
    Open,
    /// List all of a directory.
    Readdir,
    /// Give a file its other name.
    Rename,
    /// Remove a file.
    Unlink,
    /// Make a directory.
    Mkdir,
    /// Remove a directory.
    Rmdir,
    /// Store an object in one piece.
    Put,
    /// Fetch an object, or a range of it.
    Get,
    /// Get an object's attributes.
    Head,
    /// Remove an object.
    Delete,
    /// List names of objects, one page.
    List,
    /// Begin to store an object in parts.
    StartUpload,
    /// Store one part of an object.
    PutPart,
    /// Complete an object from its parts.
    CompleteUpload,
    /// Have the service copy an object to another name.
    Copy,
    /// Remove several objects at once.
    MultiDelete,
    /// Replace the contents of an existing object.
    Update,
    /// Store several objects at once.
    BatchPut,
    /// Fetch several objects at once.
    BatchGet,
    /// Fetch the objects of one partition.
    Query,
    /// Fetch any objects, one page.
    Scan,
    /// Close the open file.
    Close,
    /// Request with another client an object that has just been put, until the new contents are visible.
    See,
}

/// A pattern of the kinds that work on the bytes of files and devices: a match need not list them, and yet must be
/// updated when a kind is added.
#[macro_export]
macro_rules! data_kinds {
    () => {
        $crate::OpKind::Read | $crate::OpKind::Write | $crate::OpKind::Sync
    };
}

/// A pattern of the kinds that work on names of files.
#[macro_export]
macro_rules! name_kinds {
    () => {
        $crate::OpKind::Create
            | $crate::OpKind::Stat
            | $crate::OpKind::Open
            | $crate::OpKind::Readdir
            | $crate::OpKind::Rename
            | $crate::OpKind::Unlink
            | $crate::OpKind::Mkdir
            | $crate::OpKind::Rmdir
            | $crate::OpKind::Close
    };
}

/// A pattern of the kinds that work on objects.
#[macro_export]
macro_rules! object_kinds {
    () => {
        $crate::OpKind::Put
            | $crate::OpKind::Get
            | $crate::OpKind::Head
            | $crate::OpKind::Delete
            | $crate::OpKind::List
            | $crate::OpKind::StartUpload
            | $crate::OpKind::PutPart
            | $crate::OpKind::CompleteUpload
            | $crate::OpKind::Copy
            | $crate::OpKind::MultiDelete
            | $crate::OpKind::Update
            | $crate::OpKind::BatchPut
            | $crate::OpKind::BatchGet
            | $crate::OpKind::Query
            | $crate::OpKind::Scan
            | $crate::OpKind::See
    };
}

/// The result of a successful operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The operation's length: bytes moved, or, if it moves none, the size that was found.
    Length,
    /// Any number: entries found, or bytes found.
    Any,
}

impl OpKind {
    /// All kinds; a kind's number is its index.
    pub const ALL: [OpKind; 28] = [
        OpKind::Read,
        OpKind::Write,
        OpKind::Sync,
        OpKind::Create,
        OpKind::Stat,
        OpKind::Open,
        OpKind::Readdir,
        OpKind::Rename,
        OpKind::Unlink,
        OpKind::Mkdir,
        OpKind::Rmdir,
        OpKind::Put,
        OpKind::Get,
        OpKind::Head,
        OpKind::Delete,
        OpKind::List,
        OpKind::StartUpload,
        OpKind::PutPart,
        OpKind::CompleteUpload,
        OpKind::Copy,
        OpKind::MultiDelete,
        OpKind::Update,
        OpKind::BatchPut,
        OpKind::BatchGet,
        OpKind::Query,
        OpKind::Scan,
        OpKind::Close,
        OpKind::See,
    ];

    /// The word used in jobs and events.
    pub fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Sync => "sync",
            OpKind::Create => "create",
            OpKind::Stat => "stat",
            OpKind::Open => "open",
            OpKind::Readdir => "readdir",
            OpKind::Rename => "rename",
            OpKind::Unlink => "unlink",
            OpKind::Mkdir => "mkdir",
            OpKind::Rmdir => "rmdir",
            OpKind::Put => "put",
            OpKind::Get => "get",
            OpKind::Head => "head",
            OpKind::Delete => "delete",
            OpKind::List => "list",
            OpKind::StartUpload => "start_upload",
            OpKind::PutPart => "put_part",
            OpKind::CompleteUpload => "complete_upload",
            OpKind::Copy => "copy",
            OpKind::MultiDelete => "multi_delete",
            OpKind::Update => "update",
            OpKind::BatchPut => "batch_put",
            OpKind::BatchGet => "batch_get",
            OpKind::Query => "query",
            OpKind::Scan => "scan",
            OpKind::Close => "close",
            OpKind::See => "see",
        }
    }

    /// What its result must be.
    #[inline]
    pub const fn expects(self) -> Expected {
        match self {
            OpKind::Readdir | OpKind::List | OpKind::Query | OpKind::Scan => Expected::Any,
            OpKind::Read
            | OpKind::Write
            | OpKind::Sync
            | OpKind::Create
            | OpKind::Stat
            | OpKind::Open
            | OpKind::Rename
            | OpKind::Unlink
            | OpKind::Mkdir
            | OpKind::Rmdir
            | OpKind::Put
            | OpKind::Get
            | OpKind::Head
            | OpKind::Delete
            | OpKind::StartUpload
            | OpKind::PutPart
            | OpKind::CompleteUpload
            | OpKind::Copy
            | OpKind::MultiDelete
            | OpKind::Update
            | OpKind::BatchPut
            | OpKind::BatchGet
            | OpKind::Close
            | OpKind::See => Expected::Length,
        }
    }

    /// The direction in which an operation's bytes move.
    #[inline]
    pub const fn moves(self) -> Moves {
        match self {
            OpKind::Read | OpKind::Get | OpKind::BatchGet | OpKind::Query | OpKind::Scan => Moves::In,
            OpKind::Write | OpKind::Create | OpKind::Put | OpKind::PutPart | OpKind::Update | OpKind::BatchPut => {
                Moves::Out
            }
            OpKind::Sync
            | OpKind::Stat
            | OpKind::Open
            | OpKind::Readdir
            | OpKind::Rename
            | OpKind::Unlink
            | OpKind::Mkdir
            | OpKind::Rmdir
            | OpKind::Head
            | OpKind::Delete
            | OpKind::List
            | OpKind::StartUpload
            | OpKind::CompleteUpload
            | OpKind::Copy
            | OpKind::MultiDelete
            | OpKind::Close
            | OpKind::See => Moves::Nothing,
        }
    }

    /// True if it changes something that a flush is to make stable.
    pub const fn changes(self) -> bool {
        match self {
            OpKind::Read
            | OpKind::Sync
            | OpKind::Stat
            | OpKind::Open
            | OpKind::Readdir
            | OpKind::Get
            | OpKind::Head
            | OpKind::List
            | OpKind::BatchGet
            | OpKind::Query
            | OpKind::Scan
            | OpKind::Close
            | OpKind::See => false,
            OpKind::Write
            | OpKind::Create
            | OpKind::Rename
            | OpKind::Unlink
            | OpKind::Mkdir
            | OpKind::Rmdir
            | OpKind::Put
            | OpKind::Delete
            | OpKind::StartUpload
            | OpKind::PutPart
            | OpKind::CompleteUpload
            | OpKind::Copy
            | OpKind::MultiDelete
            | OpKind::Update
            | OpKind::BatchPut => true,
        }
    }

    /// True if it creates objects or items, or parts of them.
    pub const fn stores(self) -> bool {
        matches!(
            self,
            OpKind::Put
                | OpKind::Copy
                | OpKind::StartUpload
                | OpKind::CompleteUpload
                | OpKind::Update
                | OpKind::BatchPut
        )
    }

    /// True if it moves the contents of several objects, each made and checked separately.
    #[inline]
    pub const fn moves_several(self) -> bool {
        matches!(self, OpKind::BatchPut | OpKind::BatchGet | OpKind::Query | OpKind::Scan)
    }
}

/// The direction in which an operation's bytes move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// From the storage.
    In,
    /// To the storage.
    Out,
    /// No bytes are moved.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kinds_number_is_its_place_and_its_name_that_of_the_contract() {
        for (place, kind) in OpKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
