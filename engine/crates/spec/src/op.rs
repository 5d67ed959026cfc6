//! Kinds of operations, which are counted separately.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a successful operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The operation's length: bytes moved, or, if it moves none, the size that was found.
    Length,
    /// Any number: entries found, or bytes found.
    Any,
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

/// One line for each kind: its name in jobs and events, what its result must be, the direction in which its bytes move, and
/// whether it changes something that a flush is to make stable.
macro_rules! op_kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $expects:expr, $moves:expr, $changes:literal;)*) => {
        /// What an operation does to one object, or to a part of one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[schemars(title = "OpKind")]
        #[repr(u8)]
        pub enum OpKind {
            $($(#[$doc])* $kind,)*
        }

        impl OpKind {
            /// All kinds; a kind's number is its index.
            pub const ALL: [OpKind; [$($name),*].len()] = [$(OpKind::$kind),*];

            /// The word used in jobs and events.
            pub fn name(self) -> &'static str {
                match self { $(OpKind::$kind => $name),* }
            }

            /// What its result must be.
            #[inline]
            pub const fn expects(self) -> Expected {
                match self { $(OpKind::$kind => $expects),* }
            }

            /// The direction in which an operation's bytes move.
            #[inline]
            pub const fn moves(self) -> Moves {
                match self { $(OpKind::$kind => $moves),* }
            }

            /// True if it changes something that a flush is to make stable.
            pub const fn changes(self) -> bool {
                match self { $(OpKind::$kind => $changes),* }
            }
        }
    };
}

op_kinds! {
    /// Fill the buffer from the file.
    Read, "read", Expected::Length, Moves::In, false;
    /// Write the buffer to the file.
    Write, "write", Expected::Length, Moves::Out, true;
    /// Make everything that a lane has written stable.
    Sync, "sync", Expected::Length, Moves::Nothing, false;
    /// Create a new file, write its contents, close it; in a phase on data, create it empty and leave it open.
    Create, "create", Expected::Length, Moves::Out, true;
    /// Get a file's attributes.
    Stat, "stat", Expected::Length, Moves::Nothing, false;
    /// Open a file for reading and close it; in a phase on data, open it and leave it open.
    Open, "open", Expected::Length, Moves::Nothing, false;
    /// List all of a directory.
    Readdir, "readdir", Expected::Any, Moves::Nothing, false;
    /// Give a file its other name.
    Rename, "rename", Expected::Length, Moves::Nothing, true;
    /// Remove a file.
    Unlink, "unlink", Expected::Length, Moves::Nothing, true;
    /// Make a directory.
    Mkdir, "mkdir", Expected::Length, Moves::Nothing, true;
    /// Remove a directory.
    Rmdir, "rmdir", Expected::Length, Moves::Nothing, true;
    /// Store an object in one piece.
    Put, "put", Expected::Length, Moves::Out, true;
    /// Fetch an object, or a range of it.
    Get, "get", Expected::Length, Moves::In, false;
    /// Get an object's attributes.
    Head, "head", Expected::Length, Moves::Nothing, false;
    /// Remove an object.
    Delete, "delete", Expected::Length, Moves::Nothing, true;
    /// List names of objects, one page.
    List, "list", Expected::Any, Moves::Nothing, false;
    /// Begin to store an object in parts.
    StartUpload, "start_upload", Expected::Length, Moves::Nothing, true;
    /// Store one part of an object.
    PutPart, "put_part", Expected::Length, Moves::Out, true;
    /// Complete an object from its parts.
    CompleteUpload, "complete_upload", Expected::Length, Moves::Nothing, true;
    /// Have the service copy an object to another name.
    Copy, "copy", Expected::Length, Moves::Nothing, true;
    /// Remove several objects at once.
    MultiDelete, "multi_delete", Expected::Length, Moves::Nothing, true;
    /// Replace the contents of an existing object.
    Update, "update", Expected::Length, Moves::Out, true;
    /// Store several objects at once.
    BatchPut, "batch_put", Expected::Length, Moves::Out, true;
    /// Fetch several objects at once.
    BatchGet, "batch_get", Expected::Length, Moves::In, false;
    /// Fetch the objects of one partition.
    Query, "query", Expected::Any, Moves::In, false;
    /// Fetch any objects, one page.
    Scan, "scan", Expected::Any, Moves::In, false;
    /// Close the open file.
    Close, "close", Expected::Length, Moves::Nothing, false;
    /// Request with another client an object that has just been put, until the new contents are visible.
    See, "see", Expected::Length, Moves::Nothing, false;
    /// Run a program, or replay a trace, to its end.
    Run, "run", Expected::Any, Moves::Nothing, false;
}

/// Macros that are patterns of an enum's variants: a match need not list them, and yet must be updated when one is added.
macro_rules! patterns {
    ($enum:ident: $($(#[$doc:meta])* $name:ident = $($variant:ident)*;)*) => {
        $(
            $(#[$doc])*
            #[macro_export]
            macro_rules! $name {
                () => { $($crate::$enum::$variant)|* };
            }
        )*
    };
}
pub(crate) use patterns;

patterns! {
    OpKind:
    /// A pattern of the kinds that work on the bytes of files and devices.
    data_kinds = Read Write Sync;
    /// A pattern of the kinds that work on names of files.
    name_kinds = Create Stat Open Readdir Rename Unlink Mkdir Rmdir Close;
    /// A pattern of the kinds that work on objects.
    object_kinds = Put Get Head Delete List StartUpload PutPart CompleteUpload Copy MultiDelete Update BatchPut
        BatchGet Query Scan See;
    /// A pattern of the kinds that run programs and replay traces.
    program_kinds = Run;
}

impl OpKind {
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
