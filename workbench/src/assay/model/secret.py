"""Passwords in the output of machines, in settings and on command lines: they are replaced, never stored or repeated.

Text of studies that is stored unchanged, such as options of mounts and of sbatch, must not contain any.
"""

import re
import shlex
from collections.abc import Iterable

REDACTED = "(redacted)"
_NAME = re.compile(
    r"key|token|passw|passphrase|passcode|pwd|psk|secret|credential|(?<![a-z])pass(?![a-z])|(?<![a-z])creds?(?![a-z])",
    re.IGNORECASE,
)
"""Matches in names of settings whose value is likely a secret."""
_OF_FILE = re.compile(r"(credentials?|creds?|\w*(file|path))", re.IGNORECASE)
"""Names of options whose value is the path of a file, which is no secret."""
_QUOTED = re.compile(r"""(?<![^\s,])([^\s,="']+)=("[^"]*"|'[^']*')""", re.ASCII)
_AFTER_OPTION = re.compile(r"""(?<!\S)(--?([\w.-]{1,80})\s+)(?!-)("[^"]*"|'[^']*'|\S+)""", re.ASCII)
"""An option and the word behind it, which may be its value."""
_WORD = re.compile(r"\S+", re.ASCII)
"""As in the kernel, only ASCII blanks end a word."""
_IN_URL = re.compile(r"://[^/]*@")
_USERS = (re.compile(r"//[^/@:%]+[:%].*", re.DOTALL), re.compile(r"(^|=)[^/@:=,]+:(?!//).*", re.DOTALL))
"""`//user:password`, smbclient's `//user%password`, and `user:password` in what stands before the last @ of a word: the
password may contain any character."""
_AFTER_USER = re.compile(r"((?:^|,)user(?:name)?=[^,%]*)%[^,]*", re.IGNORECASE)
"""`user=name%password` of mount.cifs(8): matched first, since the password may look like one of the other forms."""
_FLAGS = frozenset(
    (
        *("ro", "rw", "async", "sync", "dirsync", "atime", "noatime", "diratime", "nodiratime", "relatime"),
        *("norelatime", "strictatime", "lazytime", "nolazytime", "dev", "nodev", "exec", "noexec", "suid", "nosuid"),
        *("auto", "noauto", "user", "nouser", "hard", "soft", "intr", "nointr", "tcp", "udp", "bg", "fg", "ac", "noac"),
        *("lock", "nolock", "cto", "nocto", "acl", "noacl", "serverino", "noserverino", "mapposix", "nobrl", "_netdev"),
    )
)
_VALUED = frozenset(
    (
        *("actimeo", "addr", "blksize", "cache", "clientaddr", "credentials", "dir_mode", "domain", "echo_interval"),
        *("file_mode", "gid", "group_id", "iocharset", "local_lock", "max_read", "mountaddr", "mountport"),
        *("mountproto", "mountvers", "name", "port", "proto", "retrans", "rootmode", "rsize", "sec", "size", "timeo"),
        *("uid", "user_id", "username", "vers", "wsize"),
    )
)
"""Options of network file systems. After a password in a list only these are kept, since it may contain commas."""


def redact(text: str) -> str:
    """Replace what looks like a password in a text of several words; the rest stays as it is.

    Replaced are `user:password@` before a server, and the values of `password=`, `pass=`, `token=`, `secret=`, `key=`
    and similar, also in lists of options (`rw,password=x,vers=3`). `credentials=/path` stays: it names a file.

    Args:
        text: Words separated by blanks; values may be in quotes.
    """
    text = _QUOTED.sub(lambda found: found[0] if not _is_secret(found[1], found[2]) else f"{found[1]}={REDACTED}", text)
    return _WORD.sub(lambda found: redact_word(found[0]), text.replace(REDACTED, _MARK)).replace(_MARK, REDACTED)


def redact_line(text: str) -> str:
    """Redact a command line: as `redact`, and values behind the names of their options (`--secret-key x`)."""
    return _AFTER_OPTION.sub(
        lambda found: f"{found[1]}{REDACTED}" if _is_secret(found[2], found[3]) else found[0], redact(text)
    )


_MARK = "(not\0kept)"
"""Stands for `REDACTED` while words are processed: it has no blank."""


def redact_command(words: Iterable[str]) -> str:
    """Quote words as a shell command line, with what looks like a password replaced."""
    return shlex.join(" ".join(redact_word(part) for part in word.split(" ")) for word in words)


def redact_word(word: str) -> str:
    """Redact a single word that may contain blanks, such as the source of a mount."""
    word = _AFTER_USER.sub(lambda found: f"{found[1]}%{REDACTED}", word)
    users, at, place = word.rpartition("@")
    for pattern in _USERS:
        users = pattern.sub(lambda found: f"{'//' if found[0].startswith('//') else found[1]}...", users)
    word = f"{users}{at}{place}"
    return ",".join(_options(_IN_URL.sub("://...@", word).split(",")))


def _options(options: list[str]) -> list[str]:
    shown: list[str] = []
    after_secret = False
    for option in options:
        name, equals, value = option.partition("=")
        if after_secret and option not in _FLAGS and name not in _VALUED:
            continue
        inner, assigned, rest = value.partition("=")
        if equals and _is_secret(name, value):
            option, after_secret = f"{name}={REDACTED}", True
        elif assigned and _is_secret(inner, rest):
            # --export=TOKEN=x
            option, after_secret = f"{name}={inner}={REDACTED}", True
        elif name.lower() in ("user", "username") and "%" in value:
            after_secret = True
        shown.append(option)
    return shown


def _is_secret(name: str, value: str) -> bool:
    of_file = _OF_FILE.fullmatch(name) and value.strip("\"'").startswith("/")
    return bool(_NAME.search(name)) and not of_file
