"""What several analyses infer with: bootstrap, tests, agreement of rankings, extrapolation."""
