# variables: CLOCK_SOURCE
clock_source_check() { sys_check /sys/devices/system/clocksource/clocksource0/current_clocksource "$CLOCK_SOURCE" clock_source; }
clock_source_plan() { echo "write $CLOCK_SOURCE to /sys/devices/system/clocksource/clocksource0/current_clocksource (now $(sys_value /sys/devices/system/clocksource/clocksource0/current_clocksource)), now and at each boot"; }
clock_source_run() { sys_run /sys/devices/system/clocksource/clocksource0/current_clocksource "$CLOCK_SOURCE" clock_source; }
