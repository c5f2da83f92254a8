"""Where one algorithm stands among the baselines of a shipped benchmark."""
