# variables: HOST_NAME
hostname_check() {
    [ -n "$HOST_NAME" ] || { echo "left as it is" && return 0; }
    case $HOST_NAME in -* | *[!A-Za-z0-9.-]*) echo "$HOST_NAME is no host name" && return 2 ;; esac
    [ "$(uname -n)" = "$HOST_NAME" ] && [ "$(cat /etc/hostname 2>/dev/null)" = "$HOST_NAME" ] && getent hosts "$HOST_NAME" >/dev/null
}
hostname_plan() { echo "name this host $HOST_NAME (now $(uname -n))"; }
hostname_run() {
    echo "$HOST_NAME" | put_file /etc/hostname 644
    hostname "$HOST_NAME"
    # cloud-init of Debian's images writes /etc/hosts anew at each boot, with the name that it knows.
    if [ -d /etc/cloud/cloud.cfg.d ]; then
        printf 'preserve_hostname: true\nmanage_etc_hosts: false\n' | put_file /etc/cloud/cloud.cfg.d/99-assay-hostname.cfg 644
    fi
    getent hosts "$HOST_NAME" >/dev/null || add_line /etc/hosts 644 "127.0.1.1 $HOST_NAME"
}
