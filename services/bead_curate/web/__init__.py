"""The admin page: server-rendered, one style sheet, one small script, nothing from outside.

`door` decides who comes in, `app` routes, `pages` put together what is shown; everything is asked of the other services
over their buses, so the page can do what the command can, and leaves the same audit lines.
"""
