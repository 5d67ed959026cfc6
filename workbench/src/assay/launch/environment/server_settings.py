"""The shell script that reads a host's mounts, servers and their settings.

Each line of its output is a name, a tab and a value. What a host lacks, or the user may not read, is left out.
"""

SAMBA = (
    *("server min protocol", "server max protocol", "server signing", "server smb encrypt"),
    *("server multi channel support", "interfaces", "socket options", "smb ports"),
    *("smb2 max credits", "smb2 max read", "smb2 max write", "smb2 max trans", "smb2 leases"),
    *("oplocks", "level2 oplocks", "kernel oplocks", "durable handles", "strict locking", "posix locking"),
    *("aio read size", "aio write size", "use sendfile", "min receivefile size", "strict sync", "sync always"),
    *("strict allocate", "max open files", "deadtime", "keepalive", "case sensitive", "vfs objects"),
)
"""Settings of Samba that affect the speed of a share, by their names in smb.conf(5)."""
SMB_CLIENT = {
    "ConnectionCountPerRssNetworkInterface": "max_channels",
    "DirectoryCacheLifetime": "acdirmax actimeo",
    "DormantFileLimit": "closetimeo handletimeout",
    "EnableByteRangeLockingOnReadOnlyFiles": "nobrl",
    "EnableInsecureGuestLogons": "guest",
    "EnableLargeMtu": "rsize wsize",
    "EnableMultiChannel": "multichannel max_channels",
    "EnableSecuritySignature": "sign sec",
    "ExtendedSessionTimeout": "handletimeout",
    "FileInfoCacheLifetime": "acregmax actimeo",
    "KeepConn": "echo_interval",
    "MaxCmds": "max_credits",
    "RequireSecuritySignature": "sign seal",
    "SessionTimeout": "echo_interval",
    "UseOpportunisticLocking": "nolease cache",
}
"""Setting of Get-SmbClientConfiguration of Windows -> options of mount.cifs(8) that control the same."""
SERVERS = {
    "smbd": "smbd -V",
    "ganesha.nfsd": "ganesha.nfsd -v",
    "glusterd": "glusterd --version",
    "mfsmaster": "mfsmaster -v",
    "mfschunkserver": "mfschunkserver -v",
    "ceph-osd": "ceph --version",
    "beegfs-storage": "beegfs-ctl --version",
    "lctl": "lctl get_param -n version",
}
"""Program -> command that prints its version; used where a process of that name runs."""

_STORAGE = r"""
PATH=$PATH:/usr/sbin:/sbin
ask() { timeout -k 1 3 "$@" 2>/dev/null; }
item() {
  local name=$1 value
  shift
  value=$(printf '%s' "$*" | tr -s '[:space:]' ' ' | sed 's/^ //; s/[; ]*$//')
  [ -z "$value" ] || printf '%s\t%s\n' "$name" "$value"
}
queue() {
  local d=$(readlink -f "/sys/class/block/$1") s
  [ -e "$d/partition" ] && d=${d%/*}
  [ -d "$d/queue" ] || return
  local n=${d##*/}
  case $n in loop*) n=loop ;; esac
  printf '%s: scheduler %s, ' "$n" "$(sed 's/.*\[\(.*\)\].*/\1/' "$d/queue/scheduler")"
  printf 'rotational %s, read-ahead %s KiB' "$(cat "$d/queue/rotational")" "$(cat "$d/queue/read_ahead_kb")"
  [ -d "$d/md" ] && printf ', %s of %s disks, chunk %s, layout %s' "$(cat "$d/md/level")" "$(cat "$d/md/raid_disks")" \
    "$(cat "$d/md/chunk_size")" "$(cat "$d/md/layout")"
  printf '; '
  for s in "$d"/slaves/*; do [ ! -e "$s" ] || queue "${s##*/}"; done
}
seen=
while read -r source point type options _; do
  case $type in
    ext[234] | xfs | btrfs | f2fs | zfs | nfs | nfs4 | cifs | smb3 | ceph | lustre | beegfs | gpfs | fuse.*) ;;
    *) continue ;;
  esac
  # Hosts of a box have these from the machine.
  case $point in /etc | /etc/* | /run/* | /dev/* | /proc/* | /sys/*) continue ;; esac
  real=$source
  # Only what lies on a disk is touched: what lies behind a network may hang.
  case $source in /dev/*) [ -d "$point" ] && real=$(readlink -f "$source") || continue ;; esac
  case "$seen" in *" $source "*) continue ;; esac
  seen="$seen $source "
  shown=$source
  case $real in /dev/loop*) shown=loop ;; esac
  item "mount $point" "$type $shown $options"
  case $type in
    ext[234])
      item "made $point" "$(ask dumpe2fs -h "$real" | tr '\n' ';' |
        grep -oE '(Filesystem features|Block size|Inode size|RAID stride|RAID stripe width):[^;]*;')" ;;
    xfs) item "made $point" "$(ask xfs_info "$point" | sed 's/meta-data=[^ ]*//')" ;;
    btrfs)
      item "made $point" "$(ask btrfs filesystem df "$point" |
        sed '/GlobalReserve/d; s/: .*/;/' | sort -u)" ;;
    zfs) item "made $point" "$(ask zfs get -H -o property,value recordsize,compression,sync,primarycache "$source")" ;;
  esac
  disks=
  if [ "$type" = btrfs ]; then
    for d in /sys/fs/btrfs/*/devices/"${real##*/}"; do
      [ ! -e "$d" ] || for s in "${d%/*}"/*; do disks="$disks$(queue "${s##*/}")"; done
    done
  fi
  case $real in /dev/?*) item "disks $point" "${disks:-$(queue "${real##*/}")}" ;; esac
  case $type in cifs | smb3) smb "$source" "$options" ;; esac
done </proc/self/mounts 2>/dev/null
"""
_SERVERS = r"""
runs() { grep -qsx "$(printf %.15s "$1")" /proc/[0-9]*/comm; }
if [ -r /proc/fs/nfsd/threads ]; then
  item 'nfsd threads' "$(cat /proc/fs/nfsd/threads)"
  item 'nfsd exports' "$(ask exportfs -v)"
fi
if runs smbd && command -v testparm >/dev/null; then
  one=$(grep -lsx smbd /proc/[0-9]*/comm | head -n 1)
  conf=$(tr '\0' '\n' <"${one%comm}cmdline" | head -n 20 |
    sed -n '/^--configfile$/{n;p;q;}; s/^--configfile=//p; /^-s$/{n;p;q;}')
  ask testparm -s -v ${conf:+"$conf"} | while IFS= read -r line; do
    name=${line%% = *} value=${line#* = }
    name=${name#"${name%%[![:space:]]*}"}
    case "$line" in *" = "*) wanted "$name" && item "smbd $name" "$value" ;; esac
  done
fi
if runs glusterd; then item 'gluster volumes' "$(ask gluster --mode=script volume info | sed '/^Volume ID:/d')"; fi
"""


def settings_script() -> str:
    """Return the script, for sh; it reads files and queries programs, and changes nothing."""
    names = "|".join(f'"{name}"' for name in SAMBA)
    chosen = f"wanted() {{ case $1 in {names}) ;; *) false ;; esac; }}\n"
    client = "smb() {\n"
    for setting, options in SMB_CLIENT.items():
        found = "|".join(f"{option}|{option}=*" for option in options.split())
        client += f'  v=; for o in $(echo "$2" | tr , " "); do case $o in {found}) v="$v $o" ;; esac; done\n'
        client += f'  item "smb {setting} $1" "${{v:-not set}}" "({options})"\n'
    client += "}\n"
    versions = "".join(
        f'if runs {name}; then item "version {name}" "$(ask {command} | head -n 1)"; fi\n'
        for name, command in SERVERS.items()
    )
    return f"{client}{_STORAGE}{chosen}{_SERVERS}{versions}"
