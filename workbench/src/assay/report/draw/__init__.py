"""Charts as SVG in HTML, without script or library; they fit any width, follow light and dark mode, and print."""
