"""What random tables, rows and scenarios are made of: functions that draw from a source of chances.

The source is Hypothesis in a test, where what is drawn also shrinks (``forge.testing.values``, ``tables``), and random
numbers with a seed where a hundred thousand scenarios are wanted (``forge corpus build --random``).
"""
