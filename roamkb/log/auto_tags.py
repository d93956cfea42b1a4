"""Tags that a learning's own words give it: by whole words, never by parts of them.

The words are those that developers look for (Lavra's auto-tags); "Trust the build" is
neither about rust nor about a user interface.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from roamkb.core.text import folded
from roamkb.text.tokenize import identifier_parts
from roamkb.text.tokenize import words

_TOPICS: Final = (
    "auth: auth oauth oauth2 jwt login logout authenticate authentication authorization sso saml oidc",
    "security: security secure xss csrf injection vulnerability cve encryption encrypted",
    "database: database databases db sql migration migrations schema",
    "postgres: postgres postgresql psql jsonb plpgsql pgbouncer",
    "sqlite: sqlite sqlite3 fts5",
    "mysql: mysql mariadb innodb",
    "redis: redis",
    "api: api apis endpoint endpoints graphql grpc webhook webhooks",
    "http: http https cors cookie cookies header headers proxy nginx",
    "testing: test tests testing pytest jest vitest rspec fixture fixtures mock mocks",
    "performance: performance slow latency cache caching memoize throughput profiling",
    "concurrency: concurrency concurrent race races deadlock deadlocks mutex lock locks thread threads async",
    "docker: docker dockerfile container containers podman",
    "kubernetes: kubernetes k8s kubectl helm",
    "ci: ci pipeline pipelines workflow workflows jenkins gitlab",
    "git: git rebase rebases merge worktree worktrees branch commit commits",
    "deploy: deploy deploys deployment deployments rollback",
    "aws: aws s3 ec2 lambda iam dynamodb",
    "gcp: gcp bigquery",
    "azure: azure",
    "terraform: terraform",
    "python: python pip pypi django flask fastapi pydantic asyncio",
    "javascript: javascript js node nodejs npm yarn pnpm deno bun",
    "typescript: typescript tsx tsconfig",
    "react: react jsx nextjs",
    "vue: vue nuxt",
    "css: css tailwind sass",
    "ruby: ruby rails gem bundler activerecord",
    "rust: rust cargo rustc tokio",
    "go: golang gofmt goroutine goroutines",
    "java: java jvm gradle maven",
    "kotlin: kotlin",
    "swift: swift xcode",
    "elixir: elixir phoenix erlang",
    "shell: bash shell zsh sh",
    "emacs: emacs elisp",
    "linux: linux systemd ubuntu debian",
    "macos: macos homebrew",
    "encoding: utf8 utf unicode encoding ascii",
    "time: timezone timezones utc dst timestamp timestamps",
    "config: config configuration env yaml toml dotenv",
    "build: webpack vite esbuild bazel cmake makefile",
    "logging: logging logs logger tracing telemetry",
    "payments: stripe payment payments billing invoice",
    "email: smtp imap dkim spf",
)  # fmt: skip
_BY_WORD: Final[Mapping[str, str]] = {
    word: topic for line in _TOPICS for topic, _, said in [line.partition(": ")] for word in said.split()
}


def topics(text: str) -> tuple[str, ...]:
    """Return the topics that `text` names, in the order in which it does."""
    return tuple(dict.fromkeys(_BY_WORD[word] for word in _said(text) if word in _BY_WORD))


def _said(text: str) -> Iterator[str]:
    for word in words(text):
        yield folded(word)
        # `snake_case` and camelCase name several things
        yield from map(folded, identifier_parts(word))
