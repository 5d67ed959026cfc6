"""Which axes and marks each kind of chart has, one module per kind."""
