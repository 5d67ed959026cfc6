# variables: MTU
mtu_interface() { ip -o route show default | awk '{for (i = 1; i < NF; i++) if ($i == "dev") {print $(i + 1); exit}}'; }
mtu_rule() {
    echo "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{address}==\"$(cat "/sys/class/net/$(mtu_interface)/address")\", ATTR{mtu}=\"$MTU\""
}
mtu_check() {
    [ -n "$MTU" ] || { echo "left as it is" && return 0; }
    [ -n "$(mtu_interface)" ] || { echo "no interface has the default route" && return 2; }
    [ "$(cat "/sys/class/net/$(mtu_interface)/mtu")" = "$MTU" ] && mtu_rule | has_text /etc/udev/rules.d/80-assay-mtu.rules
}
mtu_plan() { echo "set the MTU of $(mtu_interface) to $MTU (now $(cat "/sys/class/net/$(mtu_interface)/mtu")), now and at each boot"; }
mtu_run() {
    ip link set dev "$(mtu_interface)" mtu "$MTU"
    mtu_rule | put_file /etc/udev/rules.d/80-assay-mtu.rules 644
}
