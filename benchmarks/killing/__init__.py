"""What benchmarks/faults.py kills: a small study, and all that can go wrong around it."""
