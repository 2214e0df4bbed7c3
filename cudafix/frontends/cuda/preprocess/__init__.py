"""The preprocessor: directives, macros, conditions, and the configurations that they make."""
