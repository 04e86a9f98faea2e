"""What is said, as a value: headings, tables, charts; rendered for terminal, page, Markdown and notebook."""
