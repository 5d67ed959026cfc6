# needs: orangefs servers
# variables: SERVERS EXPORT
# Every server has data and metadata; all make the same configuration, so that none must be copied.
ORANGEFS_CONF=/etc/orangefs/orangefs.conf
orangefs_server_unit() {
    printf '[Unit]\nAfter=network-online.target\nWants=network-online.target\nRequiresMountsFor=%s\n[Service]\nExecStart=%s -d %s -a %s\nRestart=on-failure\n[Install]\nWantedBy=multi-user.target\n' \
        "$EXPORT" "$(orangefs_program pvfs2-server)" "$ORANGEFS_CONF" "$(own_server)"
}
orangefs_server_check() {
    [ -n "$(own_server)" ] || { echo "this host is none of SERVERS: $SERVERS" && return 2; }
    [ -s "$ORANGEFS_CONF" ] && [ -e "$EXPORT/orangefs/data" ] && orangefs_server_unit | has_text /etc/systemd/system/assay-orangefs.service &&
        service_is_on assay-orangefs && answers "$(own_server)" 3334
}
orangefs_server_plan() { echo "serve OrangeFS on $SERVERS, data and metadata in $EXPORT/orangefs"; }
orangefs_server_run() {
    list=$(echo "$SERVERS" | tr ' ' ,)
    mkdir -p "$EXPORT/orangefs" /etc/orangefs
    if [ ! -s "$ORANGEFS_CONF" ]; then
        "$(orangefs_program pvfs2-genconfig)" --quiet --protocol tcp --tcpport 3334 --ioservers "$list" --metaservers "$list" \
            --storage "$EXPORT/orangefs/data" --metadata "$EXPORT/orangefs/meta" --logfile /var/log/orangefs.log "$WORK/orangefs.conf"
        # The same number on each host.
        sed 's/^\([[:space:]]*ID \).*/\1 1364/' "$WORK/orangefs.conf" | put_file "$ORANGEFS_CONF" 644
    fi
    [ -e "$EXPORT/orangefs/data" ] || "$(orangefs_program pvfs2-server)" -f "$ORANGEFS_CONF" -a "$(own_server)"
    orangefs_server_unit | put_file /etc/systemd/system/assay-orangefs.service 644
    service_on assay-orangefs
    wait_until 60 answers "$(own_server)" 3334
}
