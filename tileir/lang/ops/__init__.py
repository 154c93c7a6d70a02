"""The operations of the language, one file a family."""
