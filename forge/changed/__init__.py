"""What a log changed: as SQL, forth and back, and on one page."""
