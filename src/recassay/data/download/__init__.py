"""Transfers that resume and verify, and archives unpacked without trusting them."""
