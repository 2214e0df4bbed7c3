"""Build and run a program before and after its rewrite, and compare what they do.

`prepare` and `cases` make a *plan* (`plan.py`): texts, commands, and what has to be equal. `execute` carries it out on
a machine with a GPU, `judge` decides, `records` and `report` keep and show it. What carries out and judges a plan
needs only the standard library, because `--export` sends it to a machine that has nothing else (`bundle.SHIPPED`).
"""
