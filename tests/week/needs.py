"""What people set out to do in the week, in their own words, and which of its facts would help.

The prompts were written after the facts' labels and before anything was measured. The floor under what is
shown (`roamkb/context/relevance_threshold.py`) was chosen on them, among others. Those
that nothing was chosen on are the held-out half of `tests/context/needs`.
"""

#: (label of a fact, a branch for it, what is typed).
NEEDS: tuple[tuple[str, str, str], ...] = (
    ("stripe-raw-body", "fix/stripe-webhook-signature", "the Stripe webhook endpoint rejects every signature since we parse the body earlier, fix it"),
    ("oauth-slash", "fix/oauth-redirect", "OAuth login says redirect URI mismatch on staging, why?"),
    ("pool-size", "fix/pgbouncer-prepared-statements", "asyncpg complains about prepared statements behind pgbouncer"),
    ("n-plus-one", "perf/bookings-list-lazy-loading", "the bookings list needs 300 queries because of lazy loading, make it faster"),
    ("celery-acks", "fix/celery-lost-tasks", "a Celery worker was killed and its tasks are gone, how do we keep them?"),
    ("tz-naive", "feature/store-datetimes-utc", "store the new datetimes of venues, should they be UTC or naive?"),
    ("idempotency", "fix/payment-retries-idempotency", "clients retry the POST to the payment service and pay twice, what header helps?"),
    ("flaky-clock", "fix/flaky-expiry-tests", "the expiry tests are flaky around midnight, freeze something?"),
    ("vite-cache", "chore/vite-stale-modules", "Vite serves stale modules after I switch branches"),
    ("alembic-heads", "chore/alembic-merge-heads", "alembic upgrade fails after the merge with parallel migrations"),
    ("docker-ipv6", "fix/health-check-localhost", "the health check in the API container can't reach localhost"),
    ("redis-evict", "fix/redis-sessions-evicted", "sessions vanish from Redis on staging, is maxmemory-policy wrong?"),
    ("jwt-leeway", "fix/jwt-clock-drift", "JWT validation fails on mobile clients, their clocks drift"),
    ("sql-like", "fix/like-query-escape", "search with a percent sign in the LIKE query returns everything, escape the user input"),
    ("cors-credentials", "fix/cors-credentials", "CORS with credentials is refused by browsers, we send a wildcard origin"),
    ("upload-limit", "fix/upload-413", "large uploads end with 413, which nginx setting is it?"),
    ("queue-decision", "feature/job-queue", "which job queue do we use, RabbitMQ or Postgres?"),
    ("monolith-decision", "spike/split-backend", "should we split the backend into several deployables now?"),
    ("uuid7-decision", "feature/primary-keys-coupons", "what type do primary keys of new tables have, UUIDv7?"),
    ("layering", "refactor/services-imports", "may services import from routers? the linter is unhappy"),
    ("money-minor", "feature/refund-amounts", "how are money amounts stored, floats or integers?"),
    ("index-concurrently", "feature/index-bookings", "create an index on the big bookings table without locking it"),
    ("retry-budget", "fix/geocoder-429", "the geocoder answers 429, how many requests per second does it allow?"),
    ("staging-refresh", "chore/staging-database", "when is the staging database refreshed from production?"),
    ("ios-keychain", "fix/ios-keychain-tokens", "old auth tokens come back on iOS after an uninstall, look at the keychain"),
    ("pytest-xdist", "ci/parallel-tests", "run the tests in parallel, the fixtures break each other's database"),
    ("s3-list", "fix/export-list-objects", "the export misses files, does list_objects_v2 return all keys?"),
    ("feature-flag", "feature/flag-service-client", "write the client of the flag service, what if it hangs?"),
    ("gzip-sse", "fix/server-sent-events", "server-sent events arrive late, is gzip compression buffering them?"),
    ("react-key", "fix/seat-picker-keys", "the seat picker in React shows the wrong rows after one is deleted"),
    ("sentry-pii", "feature/sentry-emails", "emails of customers are in Sentry events, strip them"),
    ("lock-order", "fix/booking-seat-deadlock", "a deadlock between booking and seat rows, in which order do we lock?"),
    ("helm-null", "fix/helm-values-null", "I set the key to null in values.yaml and Helm uses the default again"),
    ("webp-memory", "fix/thumbnailer-memory", "the thumbnailer runs out of memory on a batch of images"),
    ("grpc-deadline", "fix/grpc-timeouts", "gRPC calls hang forever, do the stubs have a timeout?"),
    ("collation", "ops/glibc-upgrade-indexes", "after the glibc upgrade the index on the name column misses rows"),
    ("search-analyzer", "feature/search-german", "why doesn't the search index use the German analyzer?"),
    ("audit-table", "feature/audit-table", "write the audit table for refunds, in a trigger or in code?"),
    ("csp-nonce", "fix/csp-nonce-cdn", "the CSP nonce is the same on two pages, is the CDN caching it?"),
    ("npm-ci", "ci/npm-install-lockfile", "CI rewrites the lockfile, do we call npm install or npm ci?"),
    ("user-migrations", "feature/migration-waitlist", "write the migration for the waitlist, do we need a down migration?"),
    ("user-api", "feature/api-v1-change", "change the response of the public API under /v1, is that fine?"),
    ("user-snake", "feature/json-fields", "are JSON fields in this project snake_case or camelCase?"),
)  # fmt: skip

#: Typed for the work of the hour; nothing that anybody found out helps.
NOTHING: tuple[str, ...] = (
    "go on", "yes, do that", "run the tests again and show me what fails", "rename the helper in tests/test_bookings.py",
    "the button in the header should be green", "write a docstring for the coupons module", "what did you change in the last commit?",
    "add a column with the phone number to the venues page", "thanks, open the pull request now", "format the file and commit it",
    "explain what this decorator does", "the mail template has a typo in the second line", "delete the unused imports in exports.py",
    "make the test for search shorter", "please add type hints to users.py", "how long does the whole suite take?",
    "split the payments router into two files", "write the release notes of this sprint", "the footer overlaps the map on small screens",
    "use a dataclass for the seat", "sort venues by distance instead of by name", "translate the sign-up mail into Spanish",
    "the admin page is slow in Firefox, profile the JavaScript", "log the user id with each request", "show an empty state when there are no bookings",
    "upgrade Django's security patch", "undo the last change", "which file has the price calculation?", "write a test for the discount of groups",
    "draw the flow of a booking as a diagram", "replace the spinner by a skeleton", "check that all links in the docs work",
    "move the worker's settings into a file of their own", "why is this test skipped?", "bump the version to 2.4", "let the export include the venue's city",
    "I'd like fewer comments in this file", "summarise what we did today", "does the mobile app build on this branch?", "pin the linter's version",
)  # fmt: skip

#: (type, what was learned, the files that it is about, a file that is edited later).
FILES: tuple[tuple[str, str, str, str], ...] = (
    ("gotcha", "payments.py is imported by the cron job before settings are loaded", "api/payments.py", "api/payments.py"),
    ("must-check", "Regenerate the client after any change of a router in api", "api/s*.py", "api/seats.py"),
    ("gotcha", "Everything in worker/mail.py runs twice when Redis fails over", "worker/mail.py", "worker/mail.py"),
    ("gotcha", "Snapshots of mobile screens differ between macOS and Linux", "mobile/**", "mobile/search.py"),
)  # fmt: skip

#: (what it is, an error, the technique that helped, the same error as it comes again).
ERRORS: tuple[tuple[str, str, str, str], ...] = (
    ("yaml", "ModuleNotFoundError: No module named 'yaml'", "pip install pyyaml in the worker's environment",
     'Traceback (most recent call last):\n  File "/home/dev/code/site/worker/run.py", line 3, in <module>\n    import yaml\nModuleNotFoundError: No module named \'yaml\''),
    ("port", "OSError: [Errno 98] Address already in use: ('0.0.0.0', 8000)", "stop the dev server that `make up` left behind",
     "ERROR: [Errno 98] Address already in use: ('0.0.0.0', 8000)\nOSError: [Errno 98] Address already in use: ('0.0.0.0', 8000)"),
    ("heads", "alembic.util.exc.CommandError: Multiple head revisions are present for given argument 'head'", "alembic merge heads",
     "FAILED: Multiple head revisions are present for given argument 'head'\nalembic.util.exc.CommandError: Multiple head revisions are present for given argument 'head'"),
    ("heap", "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "NODE_OPTIONS=--max-old-space-size=4096",
     "<--- Last few GCs --->\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"),
)  # fmt: skip
#: Errors that nobody has met before.
NEW_ERRORS: tuple[str, ...] = (
    "ModuleNotFoundError: No module named 'jinja2'", "KeyError: 'seat_id'", "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    "error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.", "sqlalchemy.exc.IntegrityError: duplicate key value violates unique constraint",
    "FileNotFoundError: [Errno 2] No such file or directory: 'fixtures/venues.json'", "AssertionError: 404 != 200", "make: *** No rule to make target 'docs'.  Stop.",
)  # fmt: skip
#: What the week's own prompts are about, by their words.
PROMPTS: dict[str, str] = {
    "What does `acks_late` do again?": "celery-acks",
    "Can you look at the slow bookings list?": "n-plus-one",
    "Never mind about the seat picker, do the upload limit first.": "upload-limit",
    "Should we always lock the rows?": "lock-order",
}
