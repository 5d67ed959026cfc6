# Helpers: one line of /etc/fstab for each mount point; lines that others wrote are left alone.
fstab_line() { awk -v at="$1" '$1 !~ /^#/ && $2 == at' /etc/fstab 2>/dev/null; }
# 0: it is there, 1: it is to be written, 2: another line is there.
fstab_check() {
    is=$(fstab_line "$2")
    [ "$is" != "$1" ] || return 0
    [ -n "$is" ] || return 1
    grep -qxF "$is" "$STATE/fstab" 2>/dev/null && return 1
    echo "/etc/fstab already has another line for $2: $is"
    return 2
}
fstab_put() {
    grep -qxF "$1" "$STATE/fstab" 2>/dev/null || add_line "$STATE/fstab" 644 "$1"
    [ "$(fstab_line "$2")" = "$1" ] || add_line /etc/fstab 644 "$1" "^[^#[:space:]]+[[:space:]]+$(echo "$2" | sed 's/[.]/[.]/g')[[:space:]]"
    if has_systemd; then systemctl daemon-reload; fi
}
# Source and type of the last mount at a directory; no server is asked.
mount_at() { awk -v at="$1" '$5 == at {for (i = 7; $i != "-"; i++); found = $(i + 2) " " $(i + 1)} END {print found}' /proc/self/mountinfo; }
mount_number() { awk -v at="$1" '$5 == at {found = $3} END {print found}' /proc/self/mountinfo; }
directory_fault() {
    case $1 in /*[!A-Za-z0-9._/-]* | [!/]* | / | '' | */../* | */..) echo "$1 is no place for a mount" && return ;; esac
    [ -z "$(ls -A "$1" 2>/dev/null)" ] || echo "$1 holds files, which a mount would hide"
}
# Whether a new mount can be written, without waiting for ever for a server.
write_probe() {
    timeout -k 5 60 sh -c 'echo ok >"$0" && sync "$0" && rm "$0"' "$1/.assay-$(uname -n)-$$" || fail "$1 is mounted, and root cannot write there"
}
