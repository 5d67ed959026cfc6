# needs: disks
# variables: AOE_EXPORTS AOE_DATA
# Each is SHELF.SLOT:INTERFACE:DISK, served by a vblade of its own, which Debian's unit vblade@ starts at each boot.
aoe_name() { echo "assay${1%%:*}"; }
aoe_disk() { echo "$1" | cut -d : -f 3-; }
aoe_stable() {
    for link in $(set +f && echo /dev/disk/by-id/*); do
        if [ "$(readlink -f "$link")" = "$(readlink -f "$1")" ]; then echo "$link" && return; fi
    done
    echo "$1"
}
aoe_conf() {
    address=${1%%:*} rest=${1#*:}
    printf 'shelf=%s\nslot=%s\nnetif=%s\nfilename=%s\n' "${address%.*}" "${address#*.}" "${rest%%:*}" "$(aoe_stable "$(aoe_disk "$1")")"
}
aoe_is_on() { aoe_conf "$1" | has_text "/etc/vblade.conf.d/$(aoe_name "$1").conf" && service_is_on "vblade@$(aoe_name "$1")"; }
aoe_fault() {
    interface=${1#*:}
    [ -e "/sys/class/net/${interface%%:*}" ] || { echo "there is no interface ${interface%%:*}" && return; }
    disk=$(disk_name "$(aoe_disk "$1")")
    # One that was exported before may have data of its clients by now.
    if grep -qx "${1%%:*} $(disk_id "$disk")" "$STATE/aoe" 2>/dev/null; then return; fi
    if [ "$AOE_DATA" = keep ]; then disk_use "$disk"; else disk_fault "$disk"; fi
}
aoe_export_check() {
    [ "$(echo "$AOE_EXPORTS" | tr ' ' '\n' | cut -d : -f 1 | sort | uniq -d)" = '' ] || { echo "a shelf and slot is there twice" && return 2; }
    code=0
    for one in $AOE_EXPORTS; do
        aoe_is_on "$one" && continue
        reason=$(aoe_fault "$one")
        [ -z "$reason" ] || { echo "$(aoe_disk "$one") $reason" && return 2; }
        code=1
    done
    return "$code"
}
aoe_export_plan() { for one in $AOE_EXPORTS; do aoe_is_on "$one" || aoe_conf "$one" | sed 's/.*=//' | tr '\n' ' ' | sed 's/^/export: vblade /; s/ $/\n/'; done; }
aoe_export_run() {
    for one in $AOE_EXPORTS; do
        if aoe_is_on "$one"; then continue; fi
        add_line "$STATE/aoe" 600 "${one%%:*} $(disk_id "$(disk_name "$(aoe_disk "$one")")")"
        aoe_conf "$one" | put_file "/etc/vblade.conf.d/$(aoe_name "$one").conf" 644
        service_on "vblade@$(aoe_name "$one")"
    done
}
