"""How the data of a case is divided among its lanes."""
