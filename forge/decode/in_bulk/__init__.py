"""The canonical decode for people, whose rows are shown in bulk: what forge.decode.printed shows, to the byte."""
