//! User and password: of a file as of mount.cifs(8), or of the environment. They are in no job, and nothing here prints the
//! password.

use assay_core::SetupError;
use std::fmt;

/// Who signs in.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
    /// Empty: the server's own users.
    pub(crate) domain: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Credentials of {}", self.user)
    }
}

/// Larger is no such file.
const MAX_BYTES: u64 = 64 << 10;

fn error(object: &str, message: impl Into<String>) -> SetupError {
    SetupError::new("find", object, message)
}

impl Credentials {
    /// These, for tests.
    #[cfg(test)]
    pub(crate) fn known(user: &str, password: &str, domain: &str) -> Self {
        Credentials { user: user.to_owned(), password: password.to_owned(), domain: domain.to_owned() }
    }

    /// Of a file, or of the environment: `PASSWD`, and `USER` unless a user is named (mount.cifs(8)).
    ///
    /// # Errors
    /// If the file cannot be read or names no user, or there is no password in the environment.
    pub(crate) fn find(file: Option<&str>, user: Option<&str>) -> Result<Self, SetupError> {
        if let Some(path) = file {
            return Self::of_file(path, user);
        }
        let told = |name| std::env::var(name).ok();
        let user = user.map(str::to_owned).or_else(|| told("USER")).filter(|user| !user.is_empty());
        match (user, told("PASSWD")) {
            (Some(user), Some(password)) => Ok(with_domain(&user, password, String::new())),
            (None, _) => Err(error("a user for SMB", "there is none: name one in `user`, or in a file in `credentials`")),
            (Some(user), None) => Err(error(
                &format!("the password of {user}"),
                "there is none: set PASSWD in the environment, or name a file with username= and password= in `credentials`",
            )),
        }
    }

    fn of_file(path: &str, user: Option<&str>) -> Result<Self, SetupError> {
        use std::io::Read;
        let mut text = String::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        read.map_err(|why| error(path, format!("cannot be read: {why}")))?;
        Self::of_text(&text, user).ok_or_else(|| error(path, "has no line username=NAME"))
    }

    /// Of the lines of a file: `username` or `user`, `password` or `pass`, `domain`, `dom` or `workgroup`.
    fn of_text(text: &str, user: Option<&str>) -> Option<Self> {
        let value = |names: &[&str]| {
            let lines = text.lines().map(str::trim_start).filter(|line| !line.starts_with('#'));
            let mut found = lines.filter_map(|line| line.split_once('='));
            let named = found.find(|(name, _)| names.contains(&name.trim().to_lowercase().as_str()));
            // A password may end in blanks, and begin with one: only what an editor adds is taken away.
            named.map(|(_, value)| value.strip_suffix('\r').unwrap_or(value).to_owned())
        };
        let user = user.map(str::to_owned).or_else(|| value(&["username", "user"]).map(|name| name.trim().to_owned()));
        let user = user.filter(|user| !user.is_empty())?;
        let domain = value(&["domain", "dom", "workgroup"]).map(|name| name.trim().to_owned()).unwrap_or_default();
        Some(with_domain(&user, value(&["password", "pass"]).unwrap_or_default(), domain))
    }
}

/// A user may be written as `DOMAIN\user` (smbclient(1)).
fn with_domain(user: &str, password: String, domain: String) -> Credentials {
    match user.split_once(['\\', '/']) {
        Some((domain, user)) => Credentials { user: user.to_owned(), password, domain: domain.to_owned() },
        None => Credentials { user: user.to_owned(), password, domain },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_mount_cifs_reads_them() {
        let text = "# of the array\nusername = alice\npassword=se=cret \ndomain=LAB\n";
        let found = Credentials::of_text(text, None).unwrap();
        assert_eq!(found, Credentials::known("alice", "se=cret ", "LAB"));
        assert_eq!(Credentials::of_text(text, Some("bob")).unwrap().user, "bob");
        assert_eq!(
            Credentials::of_text("user=LAB\\carol\r\npass=x\r\n", None).unwrap(),
            Credentials::known("carol", "x", "LAB")
        );
        assert!(Credentials::of_text("password=x", None).is_none());
        assert_eq!(format!("{found:?}"), "Credentials of alice");
    }
}
