"""What is served: the assistant and the pages of the workbench."""
