//! The connection to the controller: its own pipe, or the stream of a launcher, shared by all processes.

use crate::frame::{Content, Framer};
use std::io::Write;

/// The destination of lines.
pub(crate) enum Upstream {
    /// Standard output, as for an engine.
    Plain,
    /// Frames of this node on standard error.
    Frames(Framer<std::io::Stderr>),
}

impl Upstream {
    /// Send the host's name, if several hosts share the stream.
    pub(crate) fn host(&mut self) -> std::io::Result<()> {
        match self {
            Upstream::Plain => Ok(()),
            Upstream::Frames(framer) => {
                let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
                framer.line(Content::Host, &name)
            }
        }
    }

    /// Send a line.
    pub(crate) fn event(&mut self, line: &str) -> std::io::Result<()> {
        match self {
            Upstream::Plain => {
                let mut output = std::io::stdout().lock();
                writeln!(output, "{line}")?;
                output.flush()
            }
            Upstream::Frames(framer) => framer.line(Content::Event, line),
        }
    }

    /// Send how the engines have ended; returns the exit code of this process.
    ///
    /// A launcher ends all processes when one has failed: on its stream the code is sent, but not returned.
    pub(crate) fn end(&mut self, code: i32, complaint: &str) -> u8 {
        match self {
            Upstream::Plain => {
                if !complaint.is_empty() {
                    let _ = writeln!(std::io::stderr(), "{complaint}");
                }
                u8::try_from(code).unwrap_or(1)
            }
            Upstream::Frames(framer) => {
                let result = serde_json::json!({"code": code, "complaint": complaint});
                u8::from(framer.line(Content::End, &result.to_string()).is_err())
            }
        }
    }
}
