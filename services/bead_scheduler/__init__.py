"""When things run: `timetable` says for which moment, `table` runs it once, `works` asks the services."""
