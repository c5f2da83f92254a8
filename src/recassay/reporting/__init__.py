"""Results and charts as files people read."""
