"""The life cycle of stacks: creation, progress, state, deletion, and what is left afterwards."""
