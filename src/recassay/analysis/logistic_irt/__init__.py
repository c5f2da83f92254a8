"""1PL, 2PL and 3PL on binary responses."""
