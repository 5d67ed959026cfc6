"""What was made and how it is removed: written down before it is made, removed by its kind, also after `kill -9`."""
