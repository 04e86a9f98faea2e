"""The fictional variant: documents and questions with other names, years and numbers."""
