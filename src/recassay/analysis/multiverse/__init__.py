"""Which conclusions survive the choices of an evaluation protocol."""
