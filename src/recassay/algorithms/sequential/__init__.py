"""Algorithms that read the order of events and need no training loop."""
