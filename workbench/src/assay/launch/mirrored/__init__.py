"""File systems over disks behind AoE, with each mirror on two servers."""
