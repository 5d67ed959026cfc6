# variables: CLUSTER_FILE CLUSTER_NAME CLUSTER_ROLE CLUSTER_MASTER
cluster_file_text() { printf 'cluster:\n  name: "%s"\n  role: "%s"\n  master: "%s"\n' "$CLUSTER_NAME" "$CLUSTER_ROLE" "$CLUSTER_MASTER"; }
cluster_file_check() {
    [ -n "$CLUSTER_FILE" ] || { echo "no file is asked for" && return 0; }
    case $CLUSTER_NAME$CLUSTER_ROLE$CLUSTER_MASTER in *[\"\\]*) echo "a value has quotation marks or a backslash" && return 2 ;; esac
    cluster_file_text | has_text "$CLUSTER_FILE" && return 0
    [ ! -e "$CLUSTER_FILE" ] || head -n 1 "$CLUSTER_FILE" | grep -qx 'cluster:' || { echo "$CLUSTER_FILE has other text" && return 2; }
    return 1
}
cluster_file_plan() { echo "write $CLUSTER_FILE: role $CLUSTER_ROLE, master $CLUSTER_MASTER"; }
cluster_file_run() { cluster_file_text | put_file "$CLUSTER_FILE" 640; }
