"""The report's sections: one module each, with a function `section(view)` that gives a `Section`."""
