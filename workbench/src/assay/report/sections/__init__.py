"""The report's sections, one module each: `section(view)` returns a section, `folds(view)` parts of the appendix."""
