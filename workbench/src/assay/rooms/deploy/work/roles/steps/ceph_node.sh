# needs: disks packages servers
# variables: SERVERS POOL_DISKS POOL_DISK_COUNT
CEPH_DISKS=$STATE/ceph-disks
ceph() { command ceph -c /run/ceph/ceph.conf --connect-timeout 15 "$@"; }
ceph_path() {
    for link in $(set +f && echo /dev/disk/by-id/*); do
        if [ "$(readlink -f "$link")" = "/dev/$1" ]; then echo "$link" && return; fi
    done
    echo "/dev/$1"
}
ceph_choice() { examined_disks | sed -n 's/^ok //p'; }
ceph_enough() { examined_disks anew >/dev/null && count=$(ceph_choice | wc -l) && [ "$count" -ge 1 ] && [ "$count" -ge "$POOL_DISK_COUNT" ]; }
ceph_script() {
    printf 'first=%s address=%s log=/var/log/ceph/assay.log\n' "$(first_server)" "$(own_server)"
    server_configuration | awk -v disks="$CEPH_DISKS" '$0 == "ASSAY_DISKS" {while ((getline line <disks) > 0) print "disk " line; next} {print}'
}
ceph_unit() { printf '[Unit]\nAfter=network-online.target\nWants=network-online.target\n[Service]\nExecStart=/bin/sh /etc/assay/ceph.sh\nRestart=on-failure\n[Install]\nWantedBy=multi-user.target\n'; }
ceph_node_check() {
    [ -n "$(own_server)" ] || { echo "this host is none of SERVERS: $SERVERS" && return 2; }
    if [ ! -s "$CEPH_DISKS" ]; then
        if [ "$POOL_DISK_COUNT" = 0 ] && ! ceph_enough; then
            echo "there is no disk that is empty and unused"
            examined_disks | sed -n 's/^no //p'
            return 2
        fi
        return 1
    fi
    ceph_script | has_text /etc/assay/ceph.sh && service_is_on assay-ceph || return 1
    is_first || return 0
    ceph mds stat 2>/dev/null | grep -q up:active
}
ceph_node_plan() {
    if [ -s "$CEPH_DISKS" ]; then echo "run an OSD for each disk in $CEPH_DISKS"; else echo "run an OSD on each of $(ceph_choice | tr '\n' ' ')"; fi
    is_first && echo "run the monitor, the manager and the metadata server, and make the file system"
    return 0
}
ceph_node_run() {
    if [ ! -s "$CEPH_DISKS" ]; then
        wait_until 600 ceph_enough || fail "there are fewer than $POOL_DISK_COUNT empty disks: $(examined_disks | sed -n 's/^no //p')"
        number=0
        for name in $(ceph_choice); do
            echo "$number $(ceph_path "$name")"
            number=$((number + 1))
        done | put_file "$CEPH_DISKS" 600
    fi
    mkdir -p /var/log/ceph
    ceph_script | put_file /etc/assay/ceph.sh 755
    ceph_unit | put_file /etc/systemd/system/assay-ceph.service 644
    service_on assay-ceph
    is_first || return 0
    wait_until 300 ceph_answers || fail "the monitor does not answer: $(tail -n 5 /var/log/ceph/assay.log)"
    # Two copies need two disks.
    wait_until 900 ceph_has_disks || fail "fewer than two OSDs are up"
    if ! ceph fs ls | grep -q 'name: assay'; then
        ceph osd pool create names 16
        ceph osd pool create files 64
        ceph fs new assay names files
    fi
    wait_until 300 ceph_is_active
}
ceph_answers() { ceph mon stat >/dev/null 2>&1; }
ceph_has_disks() { [ "$(ceph osd tree up -f json | grep -o '"type":"osd"' | wc -l)" -ge 2 ]; }
ceph_is_active() { ceph mds stat | grep -q up:active; }
