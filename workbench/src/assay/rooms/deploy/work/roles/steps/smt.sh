# variables: SMT
smt_check() { sys_check /sys/devices/system/cpu/smt/control "$SMT" smt; }
smt_plan() { echo "write $SMT to /sys/devices/system/cpu/smt/control (now $(sys_value /sys/devices/system/cpu/smt/control)), now and at each boot"; }
smt_run() { sys_run /sys/devices/system/cpu/smt/control "$SMT" smt; }
