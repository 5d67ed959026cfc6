# variables: THP
huge_pages_check() { sys_check /sys/kernel/mm/transparent_hugepage/enabled "$THP" huge_pages; }
huge_pages_plan() { echo "write $THP to /sys/kernel/mm/transparent_hugepage/enabled (now $(sys_value /sys/kernel/mm/transparent_hugepage/enabled)), now and at each boot"; }
huge_pages_run() { sys_run /sys/kernel/mm/transparent_hugepage/enabled "$THP" huge_pages; }
