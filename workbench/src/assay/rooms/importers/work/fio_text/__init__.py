"""fio's normal output, as it prints it for people, and its terse output."""
