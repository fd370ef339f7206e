"""Arrow arrays to row images, events and whole transactions."""
