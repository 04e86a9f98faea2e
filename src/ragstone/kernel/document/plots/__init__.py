"""Charts of our own as SVG: values with their numbers, drawn without a script for page, notebook and file."""
