"""Room `deploy`: storage designs as stacks of a cloud, and hosts set up for them."""
