"""Starting engines, feeding them jobs, reading their events, and leaving nothing behind."""
