"""What speaks against results: rules about one result, about several, and about what is known of the machines."""
