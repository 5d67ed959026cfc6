# variables: POOL_DISKS POOL_DISK_COUNT
aoe_disks_present() { for one in $POOL_DISKS; do [ -b "$one" ] || return 1; done; }
aoe_disks_check() {
    case $POOL_DISKS in auto) echo "name the disks in POOL_DISKS, such as /dev/etherd/e0.0" && return 2 ;; esac
    aoe_disks_present && grep -qx aoe /etc/modules-load.d/assay-aoe.conf 2>/dev/null
}
aoe_disks_plan() { echo "load the kernel's module aoe, now and at each boot, and look for $POOL_DISKS"; }
aoe_disks_run() {
    modprobe aoe || fail "this kernel has no module aoe; kernels for clouds often lack it: install the distribution's usual one"
    echo aoe | put_file /etc/modules-load.d/assay-aoe.conf 644
    wait_until 300 aoe_disks_look || fail "not all of $POOL_DISKS answer: $(aoe-stat 2>&1)"
}
aoe_disks_look() {
    aoe-discover
    aoe_disks_present
}
