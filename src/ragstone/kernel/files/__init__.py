"""Bytes of a file -> its text, parts and cells: encodings, languages, ZIP archives, Excel."""
