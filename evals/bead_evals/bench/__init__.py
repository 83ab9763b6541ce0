"""Speed measurements. Each bench is a module with `add_arguments(parser)` and `main(argv) -> exit code`."""
