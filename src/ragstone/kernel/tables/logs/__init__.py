"""Logs of applications, whatever wrote them -> their rows, and what each asked and answered."""
