"""What is in a paper: parts made from runs, the author's text, and numbers in it that refer to results."""
