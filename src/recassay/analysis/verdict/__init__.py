"""The status of every pair, the grade and the headline: computed once, read by every picture and page."""
