"""Each byte of a log labelled with its field, value and rule, out of the layouts that also read and write it.

forge.decode.labels.log has the sections of a file; forge.decode.byte_view shows them.
"""
