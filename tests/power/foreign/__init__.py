"""How much of the decode code of foreign decoders the corpus reaches, as the tools of their languages measure it."""
