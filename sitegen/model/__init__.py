"""What things are: frozen dataclasses in the words of the field.  Imports the standard library and `Span`, no more."""
