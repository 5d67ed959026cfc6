# needs: servers
# variables: SERVERS
ceph_conf_text() { printf '[global]\nmon_host = [v2:%s:3300,v1:%s:6789]\nauth_cluster_required = none\nauth_service_required = none\nauth_client_required = none\n' "$(first_server)" "$(first_server)"; }
ceph_conf_check() {
    ceph_conf_text | has_text /etc/ceph/ceph.conf && return 0
    [ ! -s /etc/ceph/ceph.conf ] || { echo "/etc/ceph/ceph.conf is of another cluster" && return 2; }
    return 1
}
ceph_conf_plan() { echo "write /etc/ceph/ceph.conf with the monitor $(first_server)"; }
ceph_conf_run() { ceph_conf_text | put_file /etc/ceph/ceph.conf 644; }
