"""How much of a decoder's code the corpus reaches, and how many small changes of it a case tells (docs/power.md)."""
