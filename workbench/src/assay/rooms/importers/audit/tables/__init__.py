"""Rules about tables: what their cells say against each other, as somebody with a pocket calculator would see it."""
