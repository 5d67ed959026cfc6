# Helpers: which disks are proven empty and unused. Only sysfs and the disk itself are asked: udev may be late or absent.
# variables: POOL_DISKS
disk_name() { readlink -f "$1" | sed 's,^/dev/,,' | tr / '!'; }
disk_bytes() { echo $(($(cat "/sys/class/block/$1/size") * 512)); }
# What stays with a disk when its name changes at a boot.
disk_id() {
    for at in wwid device/wwid device/serial serial loop/backing_file; do
        if [ -s "/sys/class/block/$1/$at" ]; then tr -s ' ' _ <"/sys/class/block/$1/$at" && return; fi
    done
    echo "name:$1"
}
names_in() { (cd "$1" 2>/dev/null && ls -d "$2"*/partition 2>/dev/null | sed 's,/partition,,' | tr '\n' ' '); }
# Why a disk is in use; nothing if it is not.
disk_use() {
    sys=/sys/class/block/$1 dev=/dev/$(echo "$1" | tr '!' /)
    [ -b "$dev" ] && [ -e "$sys/size" ] || { echo "is no block device" && return; }
    [ ! -e "$sys/partition" ] || { echo "is a partition; name a whole disk" && return; }
    parts=$(set +f && names_in "$sys" "$1")
    [ -z "$parts" ] || { echo "has partitions: $parts" && return; }
    holders=$(ls "$sys/holders" 2>/dev/null | tr '\n' ' ')
    [ -z "$holders" ] || { echo "is used by $holders" && return; }
    number=$(cat "$sys/dev")
    mounted=$(set +f && cat /proc/self/mountinfo /proc/[0-9]*/mountinfo 2>/dev/null | awk -v n="$number" '$3 == n {print $5; exit}')
    [ -z "$mounted" ] || { echo "is mounted at $mounted" && return; }
    ! awk '{print $1}' /proc/swaps 2>/dev/null | grep -qxF "$dev" || { echo "is swap" && return; }
    user=$(set +f && find /proc/[0-9]*/fd -maxdepth 1 -lname "$dev" 2>/dev/null | sed 's,/proc/\([0-9]*\)/.*,\1,' | grep -vx "$$" | head -n 1)
    [ -z "$user" ] || { echo "is open in process $user ($(cat "/proc/$user/comm" 2>/dev/null))" && return; }
}
# Zeros in the first and last 16 MiB, and in 64 KiB at each of 31 places between: data may have no known signature.
is_blank() {
    dev=/dev/$(echo "$1" | tr '!' /)
    chunks=$(($(disk_bytes "$1") / 65536))
    [ -z "$(
        {
            disk_part 0 256
            place=1
            while [ "$place" -lt 32 ]; do
                disk_part $((chunks * place / 32)) 1
                place=$((place + 1))
            done
            disk_part $((chunks > 256 ? chunks - 256 : 0)) 257
        } | tr -d '\0' | head -c 1 | od -A n -t x1
    )" ]
}
disk_part() { dd if="$dev" bs=65536 skip="$1" count="$2" 2>/dev/null || echo unreadable; }
disk_signature() {
    has wipefs && has blkid || { echo "cannot be examined: wipefs and blkid of util-linux are missing" && return; }
    found=$(wipefs -n -O TYPE --noheadings "$1" 2>&1) || { echo "cannot be read: $found" && return; }
    [ -z "$found" ] || { echo "holds $(echo "$found" | sort -u | tr '\n' ' ')" && return; }
    found=$(blkid -p -o value -s TYPE "$1" 2>&1) && code=0 || code=$?
    [ "$code" = 2 ] || echo "holds ${found:-something that blkid cannot name}"
}
# Why a disk must not be overwritten; nothing if it may.
disk_fault() {
    reason=$(disk_use "$1")
    [ -z "$reason" ] || { echo "$reason" && return; }
    [ "$(cat "/sys/class/block/$1/ro")" = 0 ] || { echo "is read-only" && return; }
    reason=$(disk_signature "/dev/$(echo "$1" | tr '!' /)")
    [ -z "$reason" ] || { echo "$reason" && return; }
    is_blank "$1" || echo "is not blank; if what is on it may be lost, overwrite it: blkdiscard -z /dev/$1"
}
# Disks that `auto` looks at: local or attached, no USB stick, no LUN that others may share.
auto_candidates() {
    for name in $(ls /sys/block); do
        case $name in sd* | vd* | xvd* | nvme*n*) ;; *) continue ;; esac
        [ "$(cat "/sys/block/$name/removable")" = 0 ] && [ "$(disk_bytes "$name")" -ge 1073741824 ] || continue
        case $(readlink -f "/sys/block/$name/device") in */session[0-9]* | */rport-* | */usb[0-9]* | */fabrics/*) continue ;; esac
        echo "$name"
    done
}
# Lines `ok NAME` and `no NAME REASON`; looked for once in a step, again if $1 is `anew`.
examined_disks() {
    [ "${1-}" != anew ] && [ -e "$WORK/disks" ] || examine_disks >"$WORK/disks"
    cat "$WORK/disks"
}
examine_disks() {
    if [ "$POOL_DISKS" = auto ]; then auto_candidates; else for one in $POOL_DISKS; do disk_name "$one"; done; fi |
        while read -r name; do
            reason=$(disk_fault "$name")
            if [ -z "$reason" ]; then echo "ok $name"; else echo "no $name $reason"; fi
        done
}
