"""What people and agents say when a subject comes up: sentences for facts whose cards nobody has written.

Hand-written general knowledge of software work; pure data and one look-up. Better than nothing, worse than a card.
"""

from collections.abc import Collection
from typing import NamedTuple

from bead_index.gate.words import concepts

MAX_SENTENCES = 12
"""Most sentences that a card by rule gets."""


class Topic(NamedTuple):
    """A subject: a fact that has all concepts of one of `signs` is about it."""

    signs: tuple[frozenset[str], ...]
    says: tuple[str, ...]


_TOPICS = """
run test | unit test | test command: Run the tests. Do the tests pass?
run test | unit test | test command: Verify that nothing broke. Check that it still works.
write test | mock | real test: Add a test. Write some unit tests. Mock the dependency in the test.
test flaky | flaky: A test fails sometimes. CI is red again. Rerun the failing test.
e2e | playwright | cypress | browser test: Run the end-to-end tests. The browser test times out.
commit: Commit this. Write a commit message. Check it in.
pull request | merge | review: Open a pull request. Ask for a review. Merge the branch.
branch: Create a branch. Rebase onto main.
refactor | rename: Clean this up. Rename it everywhere. Refactor while we are at it.
migration | schema column | schema note: Add a column. Change the schema. Write a migration. Apply the migration.
sql | query | postgres | mysql: Write a query. Use an upsert. The statement fails in production.
deploy | release | rollout: Deploy to production. Ship it. Release a new version. Start the rollout.
staging: Try it on staging. Reset staging.
dependency | install | upgrade | vendored | lockfile: Add a dependency. Upgrade the package.
dependency | install | upgrade | vendored | lockfile: Install the missing module. Bump the version.
exception | wrap error | error handling: Handle the error. Catch the exception. Add context to the error.
log | logging: Log the request. Print it for debugging. Add a log line.
secret | password | credential | token: How do I log in? How do I authenticate? Where is the key?
price | amount | money | currency: Calculate the price. Add a fee. Format the amount. The total is off by one cent.
utc | timezone | timestamp | clock hour: The time is off by an hour. Convert the timestamp.
utc | timezone | timestamp | clock hour: Schedule it for tomorrow morning.
date day | date string: The date is off by a day. Parse the date.
schedule | cron | nightly: Change the schedule. Move the job to another hour. When does the job run?
translation | locale | string locale | language: Add a text. The translation is missing. Change the wording.
text sentence | copy: Write the message for the user. Change the label.
image | picture: Show the picture. Add an image to the page.
color | palette | theme: Change the color. Style the button. Draw a chart.
plot | chart | figure: Draw a chart. Plot the data.
icon | design | figma: Add an icon. Build the screen like in the design.
component | react | jsx: Write a new component. Move the state. Make it interactive.
export import | import module: Import the module. Export the function.
type hint | mypy | typed | cast: Add types. Cast the value. Write a new function.
format | formatter | prettier | lint | eslint: Format the code. Fix the lint errors. The formatting check fails.
flag | toggle: Add a feature flag. Switch the flag on. The flag has no effect.
queue | topic message | replay | letter: Replay the messages. Reprocess what failed. Empty the queue.
retry | backoff | webhook: Change the number of retries. The webhook fails. A delivery is lost.
timeout | deadline: Raise the timeout. The call times out.
cache | redis: Clear the cache. When does it expire?
idempotency | duplicate: It was sent twice. Handle duplicates. Drop the duplicate rows.
latency | dashboard | metric: It is slow. Find the slow part. Look at the dashboard.
alert | pager | oncall | incident: Add an alert. Send a notification. Something is stuck, what do I do?
error sentry | error project: Users report an error. Look at the crash.
search index | reindex: The search does not find it. Update the search index.
delete member | delete user | delete account | soft delete: Delete the account. Remove the user's data.
bucket | s3 | storage: Upload the file. Delete the file from the bucket.
partition | parquet | table partition: Write the new table. Change how the data is partitioned.
backfill | reprocess | recompute: Fill in the old data. Run the backfill.
missing null | missing value | null: Aggregate the values. Compute the mean. Clean the data.
unit m | unit convert | knot: Convert the units. Add a column with other units.
memory | oom: The process was killed. It runs out of memory.
budget | cost | bill: What does it cost? Who pays for it?
api limit | rate limit | quota: We get too many requests. Where is the API described?
sandbox | test system: Connect to the sandbox. Test against the real system.
docs | documentation | manual | runbook: Where is this documented? Is there a description?
bundle | bundle size | kb: The build is too big. Add a library to the frontend.
middleware | body route | parser: Add a middleware. Parse the request body.
mutation | procedure | permission | authorization: Add an endpoint. Who may call this? Protect the route.
enum | status value: Add a new status. Add a value to the enum.
frozen | freeze | audit: Change the code there. Clean up the package.
notebook | ipynb: Commit the notebook. Add a notebook.
config file | setting: Change the configuration. Add a setting.
docker | container | image build: Build the image. The container does not start.
new to | little experience | unsure | background: Explain this to me. I do not understand this. What is this for?
answer | summary | conclusion | recap: Summarize what you did. Explain the result. Write a report.
diff small | step small | preview: Rewrite all of it. Make a large change.
editor | ide | extension: Set up my editor. Which plugin do I need?
"""


def sayings(body: str) -> tuple[str, ...]:
    """What is said when a fact with these words matters, by the subjects it is about."""
    words = frozenset(concepts(body))
    found = (topic for topic in _ALL if any(sign <= words for sign in topic.signs))
    return tuple(dict.fromkeys(saying for topic in found for saying in topic.says))[:MAX_SENTENCES]


def _read(lines: Collection[str]) -> tuple[Topic, ...]:
    topics = []
    for line in lines:
        signs, says = line.split(":", 1)
        sentences = tuple(says.strip().replace("? ", "?\n").replace(". ", ".\n").split("\n"))
        found = (frozenset(concepts(sign)) for sign in signs.split("|"))
        topics.append(Topic(tuple(sign for sign in found if sign), sentences))
    return tuple(topics)


_ALL = _read(_TOPICS.strip().splitlines())
