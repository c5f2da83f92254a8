"""What a finished study says beyond its table of results."""
