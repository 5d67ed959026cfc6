# needs: orangefs
orangefs_client_unit() {
    printf '[Unit]\nAfter=network-online.target\nWants=network-online.target\nBefore=remote-fs.target\n[Service]\nExecStartPre=/sbin/modprobe orangefs\nExecStart=%s -f -p %s\nRestart=on-failure\n[Install]\nWantedBy=multi-user.target\n' \
        "$(orangefs_program pvfs2-client)" "$(orangefs_program pvfs2-client-core)"
}
orangefs_client_check() {
    orangefs_client_unit | has_text /etc/systemd/system/assay-orangefs-client.service && service_is_on assay-orangefs-client
}
orangefs_client_plan() { echo "run the client of OrangeFS, over the kernel's module"; }
orangefs_client_run() {
    modprobe orangefs || fail "this kernel has no module orangefs"
    orangefs_client_unit | put_file /etc/systemd/system/assay-orangefs-client.service 644
    service_on assay-orangefs-client
}
