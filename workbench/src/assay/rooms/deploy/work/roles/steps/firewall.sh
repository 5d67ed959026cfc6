# variables: ALLOWED
# A firewall that is off stays off.
firewall_kind() {
    if has firewall-cmd && firewall-cmd -q --state 2>/dev/null; then echo firewalld
    elif has ufw && ufw status 2>/dev/null | grep -q '^Status: active'; then echo ufw
    else echo none; fi
}
firewall_port() { echo "${1%/*}" | tr - :; }
firewall_rules() {
    for range in $ALLOWED; do
        case $range in *:*) ip=ipv6 ;; *) ip=ipv4 ;; esac
        for port in $PORTS; do
            echo "rule family=\"$ip\" source address=\"$range\" port port=\"${port%/*}\" protocol=\"${port#*/}\" accept"
        done
    done
}
firewall_check() {
    case $(firewall_kind) in
        none) echo "no firewall is on" ;;
        ufw) ufw_text=$(ufw show added) && for range in $ALLOWED; do for port in $PORTS; do
            echo "$ufw_text" | grep -qF "from $range to any port $(firewall_port "$port") proto ${port#*/}" || return 1
        done; done ;;
        firewalld) firewall_rules | while read -r rule; do firewall-cmd -q --permanent --query-rich-rule="$rule" || exit 1; done ;;
    esac
}
firewall_plan() { echo "let $ALLOWED through $(firewall_kind) to $PORTS"; }
firewall_run() {
    if [ "$(firewall_kind)" = ufw ]; then
        for range in $ALLOWED; do for port in $PORTS; do
            ufw allow from "$range" to any port "$(firewall_port "$port")" proto "${port#*/}"
        done; done
    else
        firewall_rules | while read -r rule; do firewall-cmd --permanent --add-rich-rule="$rule"; done
        firewall-cmd --reload
    fi
}
