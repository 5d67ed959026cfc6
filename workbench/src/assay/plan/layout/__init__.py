"""How the data of a case is shared out among its lanes."""
