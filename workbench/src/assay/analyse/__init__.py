"""From events to statistics. Pure: no file, process or clock is touched here."""
