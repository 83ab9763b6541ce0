"""What the made-up person of a bench knows and asks: facts, and prompts that each call for one of them. Data."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A fact under `key`, a prompt in which it matters, and the sentences a trigger card would hold."""

    key: str
    type: str
    fact: str
    prompt: str
    say: tuple[str, ...]


TOPICS = (
    Topic(
        "user/editor",
        "user",
        "The user edits in Helix and wants every snippet to work there.",
        "Set up the editor for this repository.",
        ("set up the editor", "editor configuration"),
    ),
    Topic(
        "user/language",
        "user",
        "The user writes in British English in every document.",
        "Write the release notes for the ledger module.",
        ("release notes", "write documentation"),
    ),
    Topic(
        "user/no-force-push",
        "feedback",
        "Never force-push the main branch; open a revert instead.",
        "The last commit on main broke the build, clean it up and push.",
        ("clean up and push", "push to main"),
    ),
    Topic(
        "user/test-names",
        "feedback",
        "Test names are sentences that could be false.",
        "Add tests for the retry handler.",
        ("add tests", "write a test"),
    ),
    Topic(
        "global/billing-deploy",
        "project",
        "The billing service deploys through the canary-eu cluster first and waits thirty minutes there.",
        "Please deploy the billing service and tell me when the canary is through.",
        ("deploy the billing service", "billing canary"),
    ),
    Topic(
        "global/invoice-rounding",
        "project",
        "Invoice amounts round half to even and are stored as integer cents.",
        "The invoice rounding looks wrong, fix the amounts.",
        ("invoice rounding", "round amounts"),
    ),
    Topic(
        "global/postgres-port",
        "reference",
        "The staging Postgres listens on port 6543 behind pgbouncer.",
        "Connect to the staging Postgres and show me the slow queries.",
        ("connect to staging postgres", "slow queries on staging"),
    ),
    Topic(
        "global/migration-order",
        "project",
        "Schema migrations run before the workers restart, never after.",
        "Write the schema migration for the tenant table and restart the workers.",
        ("schema migration", "restart the workers"),
    ),
    Topic(
        "global/feature-flags",
        "reference",
        "Feature flags live in flags.toml and need a removal date.",
        "Put the new importer behind a feature flag.",
        ("behind a feature flag", "feature flags"),
    ),
    Topic(
        "global/log-retention",
        "reference",
        "Access logs are kept for fourteen days because of the privacy policy.",
        "How long do we keep access logs? Change the retention accordingly.",
        ("log retention", "keep access logs"),
    ),
    Topic(
        "global/vendor-api",
        "project",
        "The vendor API allows five requests a second and answers 429 without a Retry-After header.",
        "The vendor API import fails with 429, make it robust.",
        ("vendor api", "429 from the vendor"),
    ),
    Topic(
        "global/snapshot-tests",
        "project",
        "Snapshot files are regenerated with make snapshots, never edited by hand.",
        "Two snapshot tests fail after my change, update the snapshots.",
        ("update the snapshots", "snapshot tests fail"),
    ),
)
