"""bead's tools for models, by the Model Context Protocol: two servers, one table of tools.

`arguments` and `tools` are the table and `answers` what an answer may hold, all pure; `normal`, `admin` and
`destroying` do the work by asking `services`; `server` gives it to the SDK, which `stdio` and `http` carry. The SDK
is imported by these three only, when a server starts.
"""
