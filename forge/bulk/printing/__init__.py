"""Events as the text of the vendors' programs, by kernels: what servers write for changed rows, and no other."""
