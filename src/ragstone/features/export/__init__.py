"""A run -> a table, or MLflow."""
