"""The sources of papers: LaTeX to tables and sentences."""
