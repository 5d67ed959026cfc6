# needs: disks
# variables: POOL POOL_DISKS POOL_DISK_COUNT POOL_CHUNK_KB
POOL_FILE=$STATE/pool
pool_packages() {
    case $POOL in lvm*) echo lvm2 ;; raid*) echo mdadm ;; esac
    echo util-linux diffutils
}
# The pool's record: what was made of which disks, so that only our own is ever gone on with.
pool_get() { sed -n "s/^$1=//p" "$POOL_FILE" 2>/dev/null; }
pool_set() { add_line "$POOL_FILE" 600 "$1=$2" "^$1=" && sync; }
pool_least() {
    case $POOL in
        single | lvm | lvm-linear | raid0) echo 1 ;;
        raid1 | raid10) echo 2 ;;
        raid5) echo 3 ;;
        raid6 | raid10-nested) echo 4 ;;
        *) fail "POOL is $POOL, not none, single, lvm, lvm-linear, raid0, raid1, raid10, raid5, raid6 or raid10-nested" ;;
    esac
}
md_find() {
    for md in $(set +f && echo /dev/md/* /dev/md[0-9]*); do
        if [ -b "$md" ] && [ "$(md_uuid "$md")" = "$1" ]; then readlink -f "$md" && return; fi
    done
    return 1
}
md_uuid() { mdadm --detail --export "$1" 2>/dev/null | sed -n 's/^MD_UUID=//p'; }
# The device of the pool that was made here, whatever its name is now.
pool_device() {
    case $(pool_get pool) in
        lvm*) [ "$(vgs --noheadings -o vg_uuid assay 2>/dev/null | tr -d ' ')" = "$(pool_get uuid)" ] && echo /dev/assay/data ;;
        raid*) md_find "$(pool_get uuid)" ;;
        single) for name in $(ls /sys/class/block); do
            if [ "$(disk_id "$name")" = "$(pool_get uuid)" ]; then echo "/dev/$(echo "$name" | tr '!' /)" && return; fi
        done && return 1 ;;
        *) return 1 ;;
    esac
}
# Names of the recorded disks; $1 counts those that are not there.
pool_members() {
    pool_get disk | while read -r id bytes; do
        for name in $(ls /sys/class/block); do
            if [ "$(disk_id "$name")" = "$id" ] && [ "$(disk_bytes "$name")" = "$bytes" ]; then echo "$name" && break; fi
        done
    done
}
pool_choice() { examined_disks | sed -n 's/^ok //p'; }
pool_refusals() { examined_disks | sed -n 's/^no \([^ ]*\) /\1 /p'; }
pool_check() {
    [ "$POOL" != none ] || { echo "no pool is asked for" && return 0; }
    least=$(pool_least) || return $?
    if [ "$(pool_get state)" = made ]; then
        [ "$(pool_get pool)" = "$POOL" ] || { echo "the pool here was made as $(pool_get pool), and $POOL is asked for" && return 2; }
        pool_device && return 0
        echo "the pool that $POOL_FILE records is gone or not started (an instance store is emptied when the host is stopped);" \
            "if it may be made anew, remove that file"
        return 2
    fi
    if [ "$(pool_get state)" = making ]; then return 1; fi
    case $POOL in
        lvm*) ! has vgs || ! vgs assay >/dev/null 2>&1 || { echo "there is a volume group assay that was not made by this" && return 2; } ;;
        raid*) [ ! -e /dev/md/assay ] || { echo "there is an array /dev/md/assay that was not made by this" && return 2; } ;;
    esac
    if [ "$POOL_DISKS" != auto ] && refused=$(pool_refusals) && [ -n "$refused" ]; then echo "$refused" && return 2; fi
    count=$(pool_choice | wc -l)
    if [ "$count" -lt "$least" ] && [ "$count" -ge "$POOL_DISK_COUNT" ]; then
        echo "$POOL needs $least disks that are empty and unused; there are $count"
        pool_refusals
        return 2
    fi
    return 1
}
pool_plan() {
    if [ "$(pool_get state)" = making ]; then echo "go on making $POOL of the disks in $POOL_FILE" && return; fi
    count=$(pool_choice | wc -l)
    [ "$count" -ge "$POOL_DISK_COUNT" ] || echo "wait until there are $POOL_DISK_COUNT empty disks; now there are $count"
    echo "make $POOL of $(pool_choice | tr '\n' ' ')"
    pool_refusals | sed 's/^/not /'
}
pool_enough() { examined_disks anew >/dev/null && [ "$(pool_choice | wc -l)" -ge "$POOL_DISK_COUNT" ]; }
pool_record() {
    wait_until 600 pool_enough || fail "there are fewer than $POOL_DISK_COUNT empty disks: $(pool_refusals)"
    names=$(pool_choice)
    count=$(echo "$names" | wc -w)
    [ "$count" -ge "$(pool_least)" ] || fail "$POOL needs $(pool_least) disks; there are $count"
    [ "$POOL" != single ] || [ "$count" = 1 ] || fail "POOL=single takes one disk; there are $count: name one in POOL_DISKS"
    [ "$POOL" != raid10-nested ] || [ $((count % 2)) = 0 ] || fail "raid10-nested needs an even number of disks; there are $count"
    ids=$(for name in $names; do disk_id "$name"; done | sort | uniq -d)
    [ -z "$ids" ] || fail "two disks are one, as with several paths to it: $ids"
    {
        for name in $names; do echo "disk=$(disk_id "$name") $(disk_bytes "$name")"; done
        echo "pool=$POOL"
        echo "state=making"
    } | put_file "$POOL_FILE" 600
    sync
}
# What a killed attempt of ours may have left on a recorded disk; anything else is not ours.
pool_own() {
    [ -n "$(disk_fault "$1")" ] || return 0
    [ -z "$(disk_use "$1")" ] || [ -n "$(ls "/sys/class/block/$1/holders")" ] || return 1
    case $(blkid -p -o value -s TYPE "/dev/$1") in
        LVM2_member) case $(pvs --noheadings -o vg_name "/dev/$1" | tr -d ' ') in '' | assay) return 0 ;; esac ;;
        linux_raid_member) mdadm --examine --export "/dev/$1" | grep -q '^MD_NAME=\(.*:\)\{0,1\}assay' && return 0 ;;
    esac
    return 1
}
pool_run() {
    fresh=
    if [ "$(pool_get state)" != making ]; then
        pool_record
        fresh=yes
    fi
    devices=
    for name in $(pool_members); do
        [ -n "$fresh" ] || pool_own "$name" || fail "/dev/$name $(disk_fault "$name"), which is not of the pool's making"
        devices="$devices /dev/$(echo "$name" | tr '!' /)"
    done
    # shellcheck disable=SC2086
    set -- $devices
    [ $# = "$(pool_get disk | wc -l)" ] || fail "of the disks in $POOL_FILE only $# are there:$devices"
    # Each by itself: behind && a failure within would not end the step.
    case $POOL in
        lvm*) pool_make_lvm "$@" ;;
        raid10-nested) pool_make_nested "$@" ;;
        raid*) pool_make_array assay "${POOL#raid}" "$@" ;;
    esac
    case $POOL in
        lvm*) uuid=$(vgs --noheadings -o vg_uuid assay | tr -d ' ') ;;
        raid*) uuid=$(md_uuid /dev/md/assay) ;;
        single) uuid=$(disk_id "$(disk_name "$1")") ;;
    esac
    [ -n "$uuid" ] || fail "the pool was made, and has no identity"
    case $POOL in raid*) pool_keep_array ;; esac
    pool_set uuid "$uuid"
    pool_set state made
}
pool_make_lvm() {
    for disk; do pvs "$disk" >/dev/null 2>&1 || pvcreate "$disk"; done
    vgs assay >/dev/null 2>&1 || vgcreate assay "$@"
    stripes=
    [ "$POOL" = lvm-linear ] || [ $# = 1 ] || stripes="-i $# ${POOL_CHUNK_KB:+-I ${POOL_CHUNK_KB}k}"
    # shellcheck disable=SC2086
    lvs assay/data >/dev/null 2>&1 || lvcreate -n data $stripes -l 100%FREE assay
}
pool_make_array() {
    array=$1 level=$2
    shift 2
    [ ! -e "/dev/md/$array" ] || return 0
    # shellcheck disable=SC2086
    mdadm --create "/dev/md/$array" --run --metadata=1.2 --name="$array" --level="$level" \
        ${POOL_CHUNK_KB:+--chunk=$POOL_CHUNK_KB} --raid-devices=$# "$@"
}
# As md0 and md1 of two disks each, and md10 over them.
pool_make_nested() {
    pairs=
    while [ $# -gt 0 ]; do
        number=$(echo "$pairs" | wc -w)
        POOL_CHUNK_KB='' pool_make_array "assay-$number" 1 "$1" "$2"
        pairs="$pairs /dev/md/assay-$number"
        shift 2
    done
    # shellcheck disable=SC2086
    pool_make_array assay 0 $pairs
}
pool_keep_array() {
    conf=/etc/mdadm.conf
    [ ! -d /etc/mdadm ] || conf=/etc/mdadm/mdadm.conf
    mdadm --detail --scan | grep '/assay' | while read -r array; do
        grep -qxF "$array" "$conf" 2>/dev/null || add_line "$conf" 644 "$array"
    done
    if has update-initramfs; then update-initramfs -u; fi
}
