"""Commands about study files."""
