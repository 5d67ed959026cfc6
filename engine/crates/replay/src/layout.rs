//! Makes the files that a trace begins with, in the directory of a copy.

use crate::contents::{CopyData, PIECE};
use crate::files::FileInfo;
use crate::record::FileKind;
use crate::survey::{folder_of, Survey};
use assay_core::{heartbeat, SetupError};
use assay_posix::place::open_inside;
use rustix::fd::OwnedFd;
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CString;

/// Mode of files and of directories.
pub(crate) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
pub(crate) const FOLDER_MODE: Mode = Mode::RWXU;

/// Bytes that laying out one copy writes.
pub(crate) fn bytes(survey: &Survey) -> u64 {
    survey.files.iter().map(|file| file.used_bytes).fold(0, u64::saturating_add)
}

/// Refuse what does not fit.
///
/// # Errors
/// If the storage has less space than all copies need.
pub(crate) fn fits(survey: &Survey, copies: u32, folder: &OwnedFd, path: &str) -> Result<(), SetupError> {
    let needed = bytes(survey).saturating_mul(u64::from(copies));
    let found = fs::fstatvfs(folder).map_err(|errno| SetupError::os("inspect", path, errno))?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    // Some file systems do not say how large they are.
    if found.f_blocks == 0 || needed <= free {
        return Ok(());
    }
    let message = format!(
        "the files that the trace begins with need {needed} bytes and {free} are free: use fewer copies or other storage"
    );
    Err(SetupError::new("prepare", path, message))
}

/// Make a copy's directory `name` below `above`, with the files that existed when the trace began.
///
/// # Errors
/// If something cannot be made, or the job is to stop.
pub(crate) fn make(survey: &Survey, data: &mut CopyData, above: &OwnedFd, name: &str) -> Result<(), SetupError> {
    let error = |errno| SetupError::os("create", name, errno);
    fs::mkdirat(above, name, FOLDER_MODE).map_err(error)?;
    let folder = open_inside(above, name, OFlags::DIRECTORY, Mode::empty()).map_err(error)?;
    let mut piece = vec![0; PIECE];
    for (number, file) in survey.files.iter().enumerate() {
        heartbeat::beat();
        if heartbeat::stopping_ns().is_some() {
            return Err(SetupError::new("prepare", name, "stopped"));
        }
        make_file(survey, number as u32, data, &folder, &mut piece)
            .map_err(|errno| SetupError::os("create", format!("{name}/{}", file.shown()), errno))?;
    }
    Ok(())
}

fn make_file(
    survey: &Survey,
    number: u32,
    data: &mut CopyData,
    folder: &OwnedFd,
    piece: &mut [u8],
) -> Result<(), Errno> {
    let file = &survey.files[number as usize];
    if needs_folder(survey, file) {
        make_folders(folder, folder_of(file.name.to_bytes()).unwrap_or(b"."))?;
    }
    if !file.existed {
        return Ok(());
    }
    if file.kind == FileKind::Directory {
        return make_folders(folder, file.name.to_bytes());
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = fs::openat(folder, &*file.name, flags, FILE_MODE)?;
    let mut known = None;
    let mut offset = 0;
    while offset < file.used_bytes {
        let piece = &mut piece[..(file.used_bytes - offset).min(PIECE as u64) as usize];
        data.fill(number, offset, piece, &mut known);
        write_all(&opened, piece, offset)?;
        offset += piece.len() as u64;
        heartbeat::beat();
        if heartbeat::stopping_ns().is_some() {
            return Err(Errno::CANCELED);
        }
    }
    if let Some(size) = file.size.filter(|size| *size > file.used_bytes) {
        fs::ftruncate(&opened, size)?;
    }
    Ok(())
}

/// Whether the directory of a file must be there: it was, or the trace does not say that it makes it.
fn needs_folder(survey: &Survey, file: &FileInfo) -> bool {
    let made_by_trace = survey.files.get(file.parent as usize).is_some_and(|parent| !parent.existed);
    file.existed || (file.is_decided && !made_by_trace)
}

fn make_folders(folder: &OwnedFd, path: &[u8]) -> Result<(), Errno> {
    if path == b"." {
        return Ok(());
    }
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end).chain([path.len()]);
    // Mostly it is there.
    let mut result = make_folder(folder, path);
    if result == Err(Errno::NOENT) {
        for end in ends {
            result = make_folder(folder, &path[..end]);
            result?;
        }
    }
    result
}

fn make_folder(folder: &OwnedFd, path: &[u8]) -> Result<(), Errno> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    match fs::mkdirat(folder, &*path, FOLDER_MODE) {
        Err(Errno::EXIST) => Ok(()),
        done => done,
    }
}

fn write_all(file: &OwnedFd, piece: &[u8], offset: u64) -> Result<(), Errno> {
    let mut done = 0;
    while done < piece.len() {
        match rustix::io::pwrite(file, &piece[done..], offset + done as u64) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(length) => done += length,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
