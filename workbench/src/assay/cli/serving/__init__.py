"""What `assay serve` is made of: the folder of the runs, what is answered to which address, and the server."""
