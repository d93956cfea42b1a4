"""What people set out to do in the stranger's week, as `needs` has it for the usual one.

Written before anybody saw what is offered there; since then the floor under what is shown was chosen so that it
holds here, too. What nothing was chosen on is the held-out half of `tests/context/needs`.
"""

from tests.week.needs import ERRORS
from tests.week.needs import NEW_ERRORS

__all__ = ["ERRORS", "FILES", "NEEDS", "NEW_ERRORS", "NOTHING", "PROMPTS"]

#: (label of a fact, a branch for it, what is typed).
NEEDS: tuple[tuple[str, str, str], ...] = (
    ("clock-skew", "fix/station-timestamps", "some stations report readings from the future, whose timestamp do we trust?"),
    ("mqtt-qos", "fix/mqtt-lost-messages", "readings are lost whenever the bridge reconnects to the broker"),
    ("influx-cardinality", "perf/influx-tags", "I want the firmware version as an InfluxDB tag so that we can filter dashboards by it"),
    ("go-ticker", "fix/collector-timer-leak", "the polling loop leaks memory, pprof shows lots of timers"),
    ("terraform-lock", "ci/terraform-apply", "two jobs ran terraform apply and one died on the state lock"),
    ("react-memo", "perf/chart-redraw", "the chart redraws on every websocket message and eats the CPU"),
    ("pg-timezone", "feature/reading-times", "which timestamp type do we use for new reading columns, and in which zone?"),
    ("retention", "feature/raw-retention", "how long do we keep raw readings before they're downsampled?"),
    ("grpc-keepalive", "fix/idle-grpc-streams", "the gRPC stream dies when a station is idle, something closes it"),
    ("csv-comma", "fix/german-csv", "the CSV from the German stations has one column too many"),
    ("embed-cache", "fix/stale-assets", "after a deploy browsers show the old assets, we serve them with go:embed"),
    ("sensor-sentinel", "fix/daily-averages", "the averages of the old loggers are far below zero, is a sensor broken?"),
    ("k8s-oom", "fix/collector-oom", "the collector pod is OOM-killed every night, raise the limit?"),
    ("idempotent-upload", "fix/duplicate-uploads", "loggers resend batches after a timeout and we store them twice"),
    ("leaflet-projection", "fix/map-markers", "markers of the stations aren't where the tiles have them on the map"),
    ("feature-flag", "feature/storm-alert-rule", "add an alert rule for storms, can it be switched off quickly?"),
    ("alert-hysteresis", "fix/frost-alert-mails", "people get dozens of frost alerts in one night"),
    ("pagination", "feature/readings-api-paging", "add paging to the readings API, with limit and offset?"),
    ("jwt-aud", "feature/dashboard-tokens", "the dashboard API takes tokens that were issued for the public API"),
    ("sqlite-wal", "fix/edge-box-sqlite", "database is locked on the edge box again, it's SQLite"),
    ("modbus", "feature/rain-gauge", "the values of the rain gauge look byte-swapped, how are its Modbus registers?"),
    ("helm", "ops/helm-first-release", "helm install says that the name is still in use after the first release failed"),
    ("dev-queue", "spike/streaming", "why are we on NATS JetStream and not on Kafka as planned?"),
    ("s3-lifecycle", "ops/bucket-costs", "the bucket costs more each month though we delete, are uploads left behind?"),
    ("dst", "fix/daily-sums", "the daily sum of March 30 is wrong, has it to do with daylight saving?"),
    ("tls-sni", "ops/ingress-certificates", "the oldest loggers fail the TLS handshake at the ingress"),
    ("user-squash", "chore/pull-request-template", "open a pull request with all my commits"),
    ("user-units", "feature/wind-units", "show wind in knots or in SI units?"),
    ("user-mock", "test/collector-broker", "write a test of the collector, mock the broker?"),
    ("user-table", "test/parser", "write Go tests for the parser"),
    ("user-adr", "feature/new-dependency", "add the dependency for the new chart library"),
)  # fmt: skip

#: Typed for the work of the hour; nothing that anybody found out helps.
NOTHING: tuple[str, ...] = (
    "go ahead", "looks good, merge it", "what's in the last commit?", "run task lint and fix what it finds",
    "rename Poller to Collector everywhere", "make the legend of the humidity chart smaller", "add a favicon",
    "the login page has a typo", "print the station's name in the log line", "why does this function return two errors?",
    "write a comment above the struct", "split web/App.tsx into two components", "add a button that copies the link",
    "which terraform version do we need?", "sort the stations by name", "show the altitude in the popup of the station",
    "translate the settings page into German", "try the other approach and compare", "does the broker run locally?",
    "delete the branch after the merge", "put the API key into the vault", "the sidebar is too wide on a phone",
    "replace the icons of the weather states", "upgrade React to 19", "write the minutes of the meeting",
    "the readme still says Node 18", "make the deploy job run on tags", "let me see the coverage of the parser",
    "explain the difference between these two structs", "remove the console output of the dashboard",
    "format the SQL in the migration", "which of these tests is the slowest?", "add a health endpoint to the collector",
    "can you draw the data flow from logger to dashboard?", "undo that", "bump the chart's version",
    "let the user pick a date range", "write a changelog entry for the map", "use the new colour scale for temperature",
    "close the old issues about the importer",
)  # fmt: skip

#: (type, what was learned, the files that it is about, a file that is edited later).
FILES: tuple[tuple[str, str, str, str], ...] = (
    ("gotcha", "bookings.py is a copy of the upstream client and is overwritten by each sync", "api/bookings.py", "api/bookings.py"),
    ("must-check", "Rebuild the firmware image after any change below worker", "worker/s*.py", "worker/search.py"),
    ("gotcha", "Everything in deploy/mail.py is executed on the edge box, which has Python 3.8", "deploy/mail.py", "deploy/mail.py"),
    ("gotcha", "Golden files of mobile charts depend on the installed fonts", "mobile/**", "mobile/users.py"),
)  # fmt: skip

#: What the week's own prompts are about, by their words.
PROMPTS: dict[str, str] = {"Why do we use SI units here?": "user-units"}
