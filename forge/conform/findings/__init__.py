"""Findings: defects of other people's decoders, each with the smallest file that shows it."""
