"""The front end for Python: libcst trees to the IR."""
