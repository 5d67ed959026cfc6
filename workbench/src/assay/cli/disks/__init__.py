"""Commands about disks, apart from studies."""
