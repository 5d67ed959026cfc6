"""From a study to the jobs that answer it. Pure: no file, process or clock is touched here."""
