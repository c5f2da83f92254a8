"""Which differences between algorithms are more than luck."""
