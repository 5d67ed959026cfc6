# needs: filesystem fstab
# variables: EXPORT FS_MOUNT_OPTIONS
local_mount_line() {
    [ "$FILE_SYSTEM" = xfs ] && pass=0 || pass=2
    echo "UUID=$(pool_get fs) $EXPORT $FILE_SYSTEM ${FS_MOUNT_OPTIONS:-defaults},nofail 0 $pass"
}
# By its number: a volume has several names, and not each is one of sysfs.
local_mount_is() {
    device=$(pool_device)
    [ "$(mount_number "$EXPORT")" = "$((0x$(stat -L -c %t "$device"))):$((0x$(stat -L -c %T "$device")))" ]
}
local_mount_check() {
    if [ "$POOL" = none ]; then
        [ -d "$EXPORT" ] || { echo "$EXPORT is no directory, and no pool is asked for" && return 2; }
        echo "$EXPORT is used as it is" && return 0
    fi
    if [ -n "$(mount_at "$EXPORT")" ]; then
        [ -n "$(pool_get fs)" ] && local_mount_is || { echo "$(mount_at "$EXPORT") is mounted at $EXPORT already" && return 2; }
    else
        found=$(directory_fault "$EXPORT") && [ -z "$found" ] || { echo "$found" && return 2; }
    fi
    fstab_check "$(local_mount_line)" "$EXPORT" || return $?
    [ -n "$(mount_at "$EXPORT")" ]
}
local_mount_plan() { echo "mount it at $EXPORT, and at each boot by its UUID, with ${FS_MOUNT_OPTIONS:-defaults},nofail"; }
local_mount_run() {
    fresh=yes
    mkdir -p "$EXPORT"
    fstab_put "$(local_mount_line)" "$EXPORT"
    if [ -z "$(mount_at "$EXPORT")" ]; then mount "$EXPORT"; else fresh=; fi
    # Like /tmp: every user makes own files there.
    [ -z "$fresh" ] || [ "$(find "$EXPORT" -mindepth 1 -maxdepth 1 ! -name lost+found | wc -l)" != 0 ] || chmod 1777 "$EXPORT"
}
