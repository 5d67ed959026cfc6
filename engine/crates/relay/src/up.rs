//! The way up: to a controller of its own, or through a launcher's stream for all.

use crate::frame::{Framer, Holds};
use std::io::Write;

/// Where lines go.
pub(crate) enum Up {
    /// Standard output, as an engine's.
    Plain,
    /// Frames of this node on standard error.
    Frames(Framer<std::io::Stderr>),
}

impl Up {
    /// Says which host this is, where several share the stream.
    pub(crate) fn host(&mut self) -> std::io::Result<()> {
        match self {
            Up::Plain => Ok(()),
            Up::Frames(framer) => {
                let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
                framer.line(Holds::Host, &name)
            }
        }
    }

    /// Says a line.
    pub(crate) fn event(&mut self, line: &str) -> std::io::Result<()> {
        match self {
            Up::Plain => {
                let mut output = std::io::stdout().lock();
                writeln!(output, "{line}")?;
                output.flush()
            }
            Up::Frames(framer) => framer.line(Holds::Event, line),
        }
    }

    /// Says how the engines have ended; returns the exit code of this process.
    ///
    /// A launcher ends all processes when one has failed: where it gives the stream, the code is said and not used.
    pub(crate) fn end(&mut self, code: i32, complaint: &str) -> u8 {
        match self {
            Up::Plain => {
                if !complaint.is_empty() {
                    let _ = writeln!(std::io::stderr(), "{complaint}");
                }
                u8::try_from(code).unwrap_or(1)
            }
            Up::Frames(framer) => {
                let said = serde_json::json!({"code": code, "complaint": complaint});
                u8::from(framer.line(Holds::End, &said.to_string()).is_err())
            }
        }
    }
}
