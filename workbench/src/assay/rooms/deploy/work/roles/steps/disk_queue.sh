# needs: pool
# variables: SCHEDULER READ_AHEAD_KB
# deadline is called mq-deadline since Linux 5.0.
disk_queue_value() {
    if [ "$SCHEDULER" = deadline ] && ! tr -d '[]' <"$1" | tr ' ' '\n' | grep -qx deadline; then echo mq-deadline; else echo "$SCHEDULER"; fi
}
disk_queue_disks() { pool_members; }
disk_queue_rule() {
    pool_get disk | while read -r id bytes; do
        name=$(for one in $(ls /sys/class/block); do [ "$(disk_id "$one")" != "$id" ] || echo "$one"; done | head -n 1)
        uuid=$(blkid -p -o value -s UUID "/dev/$name")
        printf 'ACTION=="add|change", SUBSYSTEM=="block", ENV{ID_FS_UUID}=="%s"' "$uuid"
        [ -z "$SCHEDULER" ] || printf ', ATTR{queue/scheduler}="%s"' "$(disk_queue_value "/sys/class/block/$name/queue/scheduler")"
        [ -z "$READ_AHEAD_KB" ] || printf ', ATTR{queue/read_ahead_kb}="%s"' "$READ_AHEAD_KB"
        echo ", ENV{DEVTYPE}==\"disk\""
    done | sort -u
}
disk_queue_check() {
    [ -n "$SCHEDULER$READ_AHEAD_KB" ] || { echo "left as it is" && return 0; }
    [ "$POOL" != none ] || { echo "no pool is asked for, so no disk is known" && return 2; }
    [ "$(pool_get state)" = made ] || return 1
    for name in $(disk_queue_disks); do
        queue=/sys/class/block/$name/queue
        [ -z "$SCHEDULER" ] || [ "$(sys_value "$queue/scheduler")" = "$(disk_queue_value "$queue/scheduler")" ] || return 1
        [ -z "$READ_AHEAD_KB" ] || [ "$(cat "$queue/read_ahead_kb")" = "$READ_AHEAD_KB" ] || return 1
    done
    disk_queue_rule | has_text /etc/udev/rules.d/80-assay-disks.rules
}
disk_queue_plan() { echo "set of the pool's disks:${SCHEDULER:+ scheduler $SCHEDULER}${READ_AHEAD_KB:+ read-ahead $READ_AHEAD_KB KB}, now and at each boot"; }
disk_queue_run() {
    for name in $(disk_queue_disks); do
        queue=/sys/class/block/$name/queue
        if [ -n "$SCHEDULER" ]; then
            value=$(disk_queue_value "$queue/scheduler")
            echo "$value" >"$queue/scheduler" || fail "$name does not take the scheduler $value; it has: $(cat "$queue/scheduler")"
        fi
        if [ -n "$READ_AHEAD_KB" ]; then echo "$READ_AHEAD_KB" >"$queue/read_ahead_kb"; fi
    done
    disk_queue_rule | put_file /etc/udev/rules.d/80-assay-disks.rules 644
}
