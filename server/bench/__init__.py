"""The bench: what a candidate waits for, measured from outside, and the engines next to their stock libraries."""
