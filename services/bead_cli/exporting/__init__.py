"""What bead writes for other programs: a folder of Markdown, and a section of an instructions file."""
