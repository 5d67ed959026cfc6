"""What vdbench 5.02 to 5.04.07 writes: its flatfile, its reports, its console, and its histograms of response times."""
