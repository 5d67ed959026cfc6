"""Assay's words as frozen classes. Pure: no file, process or clock is touched here."""
