"""File systems over AoE disks, with each mirror on two servers."""
