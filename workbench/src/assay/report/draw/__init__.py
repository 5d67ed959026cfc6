"""Charts as SVG in HTML: no script, no library; they keep to any width, follow light and dark, and print."""
