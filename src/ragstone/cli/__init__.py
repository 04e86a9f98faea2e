"""The command `ragstone`: one small file a command."""
