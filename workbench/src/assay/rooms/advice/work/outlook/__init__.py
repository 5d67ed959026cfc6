"""What would change the choice: the best designs at other sizes, prices and assumptions."""
