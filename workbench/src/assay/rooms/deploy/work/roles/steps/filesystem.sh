# needs: pool
# variables: FILE_SYSTEM MKFS_OPTIONS
filesystem_packages() { case $FILE_SYSTEM in xfs) echo xfsprogs ;; ext*) echo e2fsprogs ;; esac; }
filesystem_check() {
    [ "$POOL" != none ] || { echo "no pool is asked for" && return 0; }
    case $FILE_SYSTEM in xfs | ext4 | ext3) ;; *) echo "FILE_SYSTEM is $FILE_SYSTEM, not xfs, ext4 or ext3" && return 2 ;; esac
    case " $MKFS_OPTIONS " in *' -f '* | *' -F '*) echo "MKFS_OPTIONS must not force" && return 2 ;; esac
    [ "$(pool_get state)" = made ] && device=$(pool_device) || return 1
    case $(pool_get fs) in
        '') found=$(disk_signature "$device") && [ -z "$found" ] || { echo "$device $found, which was not made by this" && return 2; } ;;
        making) ;;
        *)
            is=$(blkid -p -o value -s TYPE "$device") uuid=$(blkid -p -o value -s UUID "$device")
            [ "$uuid" = "$(pool_get fs)" ] || { echo "$device does not have the file system that was made on it" && return 2; }
            [ "$is" = "$FILE_SYSTEM" ] && echo "$is $uuid" && return 0
            echo "$device has $is, and $FILE_SYSTEM is asked for" && return 2
            ;;
    esac
    return 1
}
filesystem_plan() { echo "make the file system: mkfs.$FILE_SYSTEM $MKFS_OPTIONS"; }
filesystem_run() {
    device=$(pool_device) force=
    if [ "$(pool_get fs)" = making ]; then
        [ "$FILE_SYSTEM" = xfs ] && force=-f || force=-F
    fi
    pool_set fs making
    # shellcheck disable=SC2086
    "mkfs.$FILE_SYSTEM" -q $force $MKFS_OPTIONS "$device"
    sync
    pool_set fs "$(blkid -p -o value -s UUID "$device")"
}
