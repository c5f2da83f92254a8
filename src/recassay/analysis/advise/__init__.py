"""A benchmark's advice for one's own dataset."""
