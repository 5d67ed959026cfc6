"""Its place puts the bench's modules on the path of the tests."""
