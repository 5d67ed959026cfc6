"""Tables that papers print, recomputed."""
