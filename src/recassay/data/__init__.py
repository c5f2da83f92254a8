"""From files to interactions and results."""
