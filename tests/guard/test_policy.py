"""What agents' tool calls may do to the knowledge base: everything that writes is denied, no reading is."""

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from roamkb.core.model import ProjectKind
from roamkb.guard.policy import Denial
from roamkb.guard.policy import GuardContext
from roamkb.guard.tool_calls import judge_tool
from tests.examples import examples
from tests.pipeline.extract.test_payloads import FORMS

HOME = "/home/ada"
KB = f"{HOME}/sync/org/roam"
WORK = f"{HOME}/projects/work/shop"
#: Folders that are links, as `resolve` sees them.
LINKS = {f"{WORK}/notes": KB, f"{HOME}/roam-link": KB, "/mnt/old": f"{HOME}/sync"}
AGENTS = {f"{KB}/20260101000000-agents.org"}
HUMANS = {f"{KB}/human.org", f"{KB}/sub/human.org"}
FOLDERS = {KB, f"{KB}/sub"}


def resolve(path: str) -> str:
    """Follow the links of this small world."""
    import posixpath

    path = posixpath.normpath(path)
    for link, target in LINKS.items():
        if path == link or path.startswith(link + "/"):
            return target + path[len(link) :]
    return path


def ground(kind: ProjectKind | Callable[[], str] = ProjectKind.WORK, cwd: str = WORK, **more: Any) -> GuardContext:
    return GuardContext(
        kb=(KB,), kind=(lambda: kind) if isinstance(kind, ProjectKind) else kind, cwd=cwd, home=HOME, resolve=resolve,
        is_agent_note=lambda path: path not in HUMANS | FOLDERS, **more,
    )  # fmt: skip


def bash(command: str, kind: ProjectKind | Callable[[], str] = ProjectKind.WORK, cwd: str = WORK) -> Denial | None:
    return judge_tool("Bash", {"command": command}, ground(kind, cwd))


#: Ways to name a file of the knowledge base, each with what comes before the command.
NAMINGS = {
    "absolute": ("", f"{KB}/human.org"),
    "tilde": ("", "~/sync/org/roam/human.org"),
    "user": ("", "~ada/sync/org/roam/human.org"),
    "home": ("", "$HOME/sync/org/roam/human.org"),
    "quoted home": ("", '"${HOME}/sync/org/roam/human.org"'),
    "quotes": ("", "~/sy'nc'/o\"rg\"/roam/human.org"),
    "escapes": ("", r"~/sync/o\rg/ro\am/human.org"),
    "ansi": ("", r"$'/home/ada/sync/org/r\x6fam/human.org'"),
    "dots": ("", "~/sync/../sync/./org//roam/human.org"),
    "upwards": ("", "../../../sync/org/roam/human.org"),
    "glob": ("", "~/sync/o*/r?am/*.org"),
    "brackets": ("", "~/s[y]nc/org/roam/human.org"),
    "braces": ("", "~/sync/{org,mail}/roam/human.org"),
    "brace names": ("", "~/sync/org/roam/{human,other}.org"),
    "variable": ("KB=~/sync/org/roam; ", "$KB/human.org"),
    "variables": ("A=$HOME/sync B=org; C=$A/$B/roam\n", '"${C}/human.org"'),
    "export": ("export KB=$HOME/sync/org/roam && ", "${KB}/human.org"),
    "default": ("", "${NOPE:-$HOME}/sync/org/roam/human.org"),
    "cd": ("cd ~/sync/org/roam && ", "human.org"),
    "cd twice": ("cd ~/sync; cd org/roam; ", "./human.org"),
    "cd above": ("cd ~/sync/org && ", "roam/human.org"),
    "pushd": ("pushd /home/ada/sync/org/roam >/dev/null; ", "human.org"),
    "link": ("", "notes/human.org"),
    "linked above": ("", "/mnt/old/org/roam/human.org"),
    "substitution": ("", "$(echo $HOME)/sync/org/roam/human.org"),
    "who": ("", "/home/$(whoami)/sync/org/roam/human.org"),
    "loop": ("for f in ~/sync/org/roam/*.org; do ", '"$f"'),
    "list": ("for f in a ~/sync/org/roam/human.org; do ", '"$f"'),
    "found": ("f=$(find ~/sync/org/roam -name x.org | head -1); ", '"$f"'),
    "positional": ("set -- ~/sync/org/roam/human.org; ", '"$1"'),
}
#: Ways to write to the file {}.
WRITES = [
    "echo x > {}", "echo x >> {}", "echo x >| {}", "cmd &> {}", "cmd &>> {}", "cat <> {}", "echo x >{}", "> {}",
    "{{ echo a; echo b; }} > {}", "(echo a) >> {}", "if true; then echo a; fi > {}", "cat a > >(tee {})",
    "cat > {} <<'EOF'\nx\nEOF", "cat <<EOF > {}\nx\nEOF", "cat 2> {}", "printf x 1> {}", "echo a | tee {}", "echo a | tee -a {} >/dev/null",
    "cp README.md {}", "cp -r docs {}", "cp -t {} README.md", "mv README.md {}", "mv {} /tmp/x", "rm {}", "rm -rf {}",
    "rm -f -- {}", "ln -s /tmp/x {}", "ln -sf README.md {}", "touch {}", "truncate -s 0 {}", "dd if=/dev/null of={}", "install -m 644 README.md {}",
    "rsync -a docs/ {}", "rsync --delete -a x/ {}", "sed -i 's/a/b/' {}", "sed -i.bak -e s/a/b/ {}", "sed -ni p {}", "sed --in-place s/a/b/ {}",
    "sed -n 'w {}' x", "perl -pi -e s/a/b/ {}", "perl -i -ne print {}", "ruby -i -pe x {}", "awk '{{print > \"{}\"}}' x", "gawk -i inplace 1 {}",
    "python3 -c 'open(\"{}\",\"w\")'", "python3 - {} <<'EOF'\nimport sys\nopen(sys.argv[1],'w')\nEOF",
    "node -e 'fs.writeFileSync(process.argv[1], 1)' {}", "ruby -e 'File.write(ARGV[0], 1)' {}", "perl -e 'unlink @ARGV' {}", "php -r 'unlink($argv[1]);' {}",
    "sort -o {} x", "sort x -uo {}", "uniq x {}", "xxd -r x {}", "curl -o {} https://example.org", "curl --output={} https://example.org",
    "curl -o{} https://example.org", "wget -O {} https://example.org", "tar -xf a.tgz -C {}", "unzip a.zip -d {}", "patch {} < a.diff", "ed -s {} <<< w",
    "ex -sc wq {}", "vim -c wq {}", "emacs --batch {} -f save-buffer", "chmod 600 {}", "chown ada {}", "shred -u {}",
    "unlink {}", "mkdir -p {}", "rmdir {}", "git -C {} commit -m x", "git -C {} checkout .", "git -C {} pull", "git -C {} reset --hard",
    "git --work-tree={} clean -fd", "find {} -delete", "find {} -name '*.org' -exec rm '{{}}' +", "find {} | xargs rm",
    "find {} -print0 | xargs -0 sed -i s/a/b/", "ls {} | xargs -n1 rm", "echo {} | xargs rm -f", "xargs rm <<< {}", "fd . {} -x rm", "fd . {} -X sed -i s/a/b/",
    "rg -l foo {} | xargs sed -i s/a/b/", "ls {} | while read -r f; do rm \"$f\"; done", "while read f; do rm \"$f\"; done < <(ls {})",
    "ls {} | python3 -c 'import os,sys; [os.remove(l.strip()) for l in sys.stdin]'", "ls {} | parallel rm", "ls {} | bash", "rm $(ls {})",
    "rm `ls {}`", "npx prettier --write {}", "pandoc x.md -o {}", "tree -o {} .",
    "bat --pager 'rm {}' x", "trap 'rm {}' EXIT", "find . -exec cp '{{}}' {} \\;", "tee {} < README.md", "cat README.md | dd of={}",
    "scp host:x {}", "split -b 1 x {}", "csplit x 1 {}",
    "eval \"rm {}\"", "mapfile -t a < <(ls {}); rm \"${{a[0]}}\"", "git rm {}", "git mv {} x",
    "git diff --output={}", "less -o {} x", "yq -i .a=1 {}", "sponge {} < x",
]  # fmt: skip
WRAPPERS = [
    "{}", "sudo {}", "env A=1 {}", "time {}", "nice -n 5 {}", "timeout 5 {}", "npm test && {}", "false || {}", "true; {}",
    "({})", "{{ {}; }}", "bash -c {q}", "sh -c {q} sh a", "bash -lc {q}", "if true; then {}\nfi", "x=$({})", "sudo -u ada bash -c {q}", "! {}", "nohup {} &",
    "bash <<'OUTER'\n{}\nOUTER", "eval {q}", "# note\n{}",
]  # fmt: skip
CLOSED = {"loop": "\ndone", "list": "\ndone"}


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def put(naming: str, write: str, wrapper: str = "{}") -> str:
    before, name = NAMINGS[naming]
    command = write.format(name, name)
    if "{q}" in wrapper:
        return wrapper.format(q=quoted(before + command + CLOSED.get(naming, "")))
    # a heredoc's end stands by itself
    wrapper = (
        wrapper.replace("{};", "{}\n").replace("({})", "({}\n)").replace("{} &", "{}\n") if "<<" in write else wrapper
    )
    if wrapper.startswith("bash <<"):
        return wrapper.format(before + command + CLOSED.get(naming, ""))
    return before + wrapper.format(command) + CLOSED.get(naming, "")


def fits(wrapper: str, write: str) -> bool:
    """Whether a program can start it, where the wrapper is one."""
    is_runner = wrapper.endswith(" {}") and wrapper.split()[0] in (
        "sudo",
        "env",
        "time",
        "nice",
        "timeout",
        "!",
    )
    return not (is_runner or "nohup" in wrapper) or (
        write[0].isalpha() and write.split()[0] not in ("if", "while", "f()", "cat()")
    )


def sensible(naming: str, write: str) -> bool:
    """Whether a shell would do what the write says: names in single quotes stay as they are."""
    live = set("$~*?[{\\'\"(`") & set(NAMINGS[naming][1])
    in_code = (
        "'{}" in write or '"{}' in write or "{}'" in write or '{}"' in write or "'rm {}" in write or "'w {}" in write
    )
    glued = any(mark + "{}" in write for mark in ("=", "-o")) and NAMINGS[naming][1].startswith("~")
    return not (in_code and live) and not glued


MATRIX = [pair for pair in itertools.product(NAMINGS, WRITES) if sensible(*pair)]


@pytest.mark.parametrize("kind", [ProjectKind.WORK, ProjectKind.UNKNOWN])
@pytest.mark.parametrize("naming", NAMINGS)
def test_every_write_is_denied_by_whatever_name(naming: str, kind: ProjectKind) -> None:
    """Outside personal projects: each form of write, each way to name the file."""
    allowed = [text for name, write in MATRIX if name == naming and bash(text := put(name, write), kind) is None]
    assert [] == allowed


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_every_write_is_denied_behind_whatever_stands_before_it(wrapper: str) -> None:
    """A runner, a chain, a subshell, a script in a script."""
    rows = [row for at, row in enumerate(MATRIX) if at % 7 == len(wrapper) % 7 and fits(wrapper, row[1])]
    allowed = [text for naming, write in rows if bash(text := put(naming, write, wrapper)) is None]
    assert [] == allowed


READINGS = [
    "rg --glob '*.org' --glob '!*sync-conflict*' --glob '!{{.,#}}*' --no-ignore --text 'a b' {}", "grep -rn oauth {}", "cat {}", "less {}", "head -20 {}", "tail -n +3 {}",
    "ls -la {}", "find {} -name '*.org'", "find {} -type f -print0 | xargs -0 grep -l oauth", "find {} -name '*.org' -exec grep -l oauth {{}} +", "wc -l {}", "sed -n '1,20p' {}",
    "sed -n '/^\\* /p;$=' {}", "sed 's/a\\/b/[c]/g; 3q' {}", "sed -E -e 's#x#y#I' -e '/^$/d' {}", "awk '{{print $1}}' {}", "awk -F: '$2 > 3 {{ n++ }} END {{ print n }}' {}",
    "git -C {} log --oneline -5", "git -C {} status --short", "git -C {} show HEAD:a.org", "git -C {} diff", "git --no-pager -C {} grep oauth", "git -C {} branch -a", "stat {}",
    "file {}", "tree -L 2 {}", "diff {} README.md", "sort -u {}", "sort -t, -k2 {} | uniq -c | sort -rn | head", "jq . {}", "bat -p {}", "fd -e org . {}", "fd . {} -x head -1", "du -sh {}",
    "md5sum {}", "sha256sum {}", "realpath {}", "basename {}", "test -f {} && echo there", "[ -d {} ] || echo gone", "[[ -e {} ]]", "ls {} | wc -l", "cat {} | head -3 | cut -c1-80",
    "cat < {}", "wc -l < {}", "cat {} 2>/dev/null", "cat {} 2>&1 | grep x", "rg oauth {} > /tmp/found.txt", "rg oauth {} | tee /tmp/found.txt", "cat {} >> notes.txt", "cut -d' ' -f1 {}",
    "tr a b < {}", "comm -12 {} b", "xxd {}", "od -c {}", "strings {}", "nl -ba {}", "tac {}", "rev {}", "fold -w 80 {}", "column -t {}", "paste {} b", "join {} b", "expand {}", "fmt {}",
    "pandoc -f org -t markdown {}", "rg -l oauth {} | xargs rg -n token", "rg -c x {} | sort -t: -k2 -n | tail", "rg --json x {} | jq .type", "cat {} | python3 -c 'import sys; print(len(sys.stdin.read()))'",
    "roamkb show {}", "roamkb conflicts {}", "echo {}", "printf '%s\\n' {}", "time rg x {}", "sudo cat {}", "bash -c 'cat \"$1\"' _ {}", "npm test; cat {}", "cat {}; npm test", "cat {} && git commit -m done",
    "(cat {})", "x=$(cat {}); echo \"$x\"", "ls {} | while read -r f; do head -1 \"$f\"; done", "if [ -f {} ]; then cat {}; fi", "diff <(cat {}) <(cat README.md)", "git diff --no-index {} README.md",
    "less -N {}", "more {}", "zgrep x {}", "egrep x {}", "ack x {}", "ag x {}", "cmp {} b", "dirname {}", "readlink -f {}", "cksum {}", "exa -l {}", "tokei {}",
]  # fmt: skip


@pytest.mark.parametrize("kind", ProjectKind)
@pytest.mark.parametrize("naming", sorted(set(NAMINGS) - {"loop", "list", "found"}))
def test_no_plain_reading_is_denied(naming: str, kind: ProjectKind) -> None:
    """Whoever reads, by whatever name, whatever its output goes to elsewhere."""
    texts = [put(naming, reading) for reading in READINGS]
    if naming in ("cd", "cd twice", "pushd"):
        # from within, what runs besides may write there
        besides = ("npm", "commit", "python3", "tee", ">> notes")
        texts = [text for text in texts if not any(one in text for one in besides)]
    assert [] == [(text, denial) for text in texts if (denial := bash(text, kind))]


def ordinary() -> list[str]:
    """Commands as developers give them all day, none of them about the knowledge base."""
    files = [
        "src/app.py",
        "./docs/notes.md",
        "package.json",
        "tests/test_org.py",
        "../lib/roaming.ts",
        "roam/index.ts",
    ]
    each = [
        "sed -i 's/a/b/g' {}", "sed -i -e '/x/d' -e 's#a#b#' {}", "echo 'x' > {}", "echo \"y $HOME\" >> {}", "cat > {} <<'EOF'\nimport os\nprint(\"~/x\")\nEOF",
        "cat <<EOF | tee {}\nhello $USER\nEOF", "python3 -c 'open(\"{}\").read()'", "python3 - <<'EOF'\nfrom pathlib import Path\nPath('{}').write_text('x')\nEOF", "rm -f {}", "rm -rf build {}",
        "cp {} /tmp/backup", "mv {} {}.old", "touch {}", "git add {} && git commit -m 'Update {}'", "git checkout -- {}", "git diff HEAD~1 -- {}", "git log --follow -p {}", "git restore {}",
        "prettier --write {}", "ruff check --fix {}", "ruff format {}", "eslint --fix {}", "npx tsc --noEmit {}", "pytest -q {} -k 'not slow'", "perl -pi -e 's/a/b/' {}",
        "awk '{{print $1}}' {} > /tmp/out.txt", "sort -u -o {} {}", "chmod +x {}", "node {} --port 3000", "node -e 'require(\"fs\").writeFileSync(\"{}\", \"x\")'", "tar czf out.tgz {}",
        "curl -sSL https://example.com/a -o {}", "wget -qO {} https://example.com", "jq '.a=1' {} > tmp.json && mv tmp.json {}", "vim -c wq {}", "code {}", "wc -l {} | tee -a log.txt", "dd if={} of=/tmp/x bs=1M",
        "diff -u {} /tmp/x > a.patch; patch -p1 < a.patch", "find . -name '*.py' -newer {} -delete", "rg -l foo {} | xargs sed -i 's/foo/bar/g'", "ln -sf $PWD/{} /usr/local/bin/x", "rsync -av {} host:/srv/",
        "scp {} host:~/x", "docker cp {} web:/app/", "grep -n TODO {} || true", "head -5 {} > /tmp/h && cat /tmp/h", "for f in {} a b; do echo \"$f\" >> list; rm \"$f\"; done", "while read -r l; do echo \"$l\" >> out; done < {}",
        "truncate -s 0 {}", "install -m 755 {} /usr/local/bin/x", "shellcheck {}", "xxd {} | head", "base64 {} > {}.b64", "split -l 100 {} part-", "stat -c %Y {}", "bash -x {} 2>&1 | tee log", "source {}",
        "ls | xargs -I% mv % {}", "find . -type f -exec sed -i s/a/b/ {{}} \\; # {}", "unzip -o {} -d /tmp/x", "cd src && rm -f {} && cd ..", "(cd docs && make html) > {} 2>&1", "eval \"$(ssh-agent)\"; cat {}",
    ]  # fmt: skip
    alone = [
        "npm install", "npm ci && npm run build -- --mode production", "npm test -- --watch=false", "yarn add -D typescript@5", "pnpm -r exec tsc", "npx create-next-app@latest my-app", "docker compose up -d --build",
        "docker run --rm -v $PWD:/work -w /work node:20 npm ci", "docker run -v ~/.aws:/root/.aws:ro -it img bash", "docker ps -aq | xargs docker rm -f", "docker exec web sh -c 'rm -rf /tmp/*'", "docker build -t a/b:c .",
        "git push origin HEAD", "git pull --rebase", "git checkout -b feature/roam-sync", "git stash && git pull && git stash pop", "git commit -am \"Fix $(date +%F)\"", "git rebase -i HEAD~3", "git clean -fdx", "git reset --hard origin/main",
        "git commit -m \"$(cat <<'EOF'\nAdd org parser\n\nIt reads ~/org files.\nEOF\n)\"", "gh pr create --title 'x' --body \"$(cat <<'EOF'\n## Summary\n- sync/org\nEOF\n)\"", "gh run list --limit 5", "git -C ../other log", "git worktree add ../wt main",
        "make -j8", "make clean all", "cmake -B build -S . && cmake --build build", "cargo build --release", "cargo test -- --nocapture", "go test ./...", "go mod tidy", "mvn -q package", "./gradlew build", "bundle exec rspec",
        "python -m venv .venv && . .venv/bin/activate && pip install -e .", "pip install -r requirements.txt", "uv run pytest", "uv sync", "poetry install", "tox -e py311", "python manage.py migrate", "mypy --strict src",
        "kubectl get pods -n org -o json | jq '.items[].metadata.name'", "kubectl apply -f k8s/", "kubectl logs deploy/sync --tail=100", "terraform plan -out=tf.plan", "helm upgrade --install roam ./chart", "aws s3 sync ./dist s3://bucket/org",
        "ssh host 'sudo systemctl restart app'", "ssh -L 8080:localhost:80 host", "scp -r dist/ host:/var/www", "rsync -avz --delete dist/ host:/var/www/", "curl -s localhost:3000/health | jq .", "curl -X POST -d @body.json http://localhost/org/roam",
        "ps aux | grep node | awk '{print $2}' | xargs kill", "kill -9 %1", "lsof -i :3000", "df -h > disk.txt", "du -sh * | sort -h", "env | sort", "export PATH=$HOME/bin:$PATH", "which python3", "date -u +%FT%TZ > stamp", "history | tail",
        "psql -c 'select 1'", "psql db <<'EOF'\ndelete from org where id=1;\nEOF", "sqlite3 app.db '.tables'", "redis-cli flushall", "mysql -u root -e 'drop table x'", "echo $((1 << 3)) > n", "[[ $x > 3 ]] && echo y", "sleep 5; echo done",
        "rm -rf node_modules dist .cache", "rm -rf ~/.cache/pip", "rm -rf $HOME/.npm/_cacache", "rm -rf /tmp/*", "find . -name node_modules -prune -exec rm -rf {} +", "find ~/projects/work -name '*.pyc' -delete", "mkdir -p ~/bin && cp tool ~/bin/", "mv ~/Downloads/a.zip .",
        "cd ~/projects/work/shop && npm test", "cd .. && ls", "cd ../.. && git status", "ls ~", "ls -la $HOME", "cat ~/.zshrc", "echo 'export A=1' >> ~/.zshrc", "crontab -l", "code .", "tmux new -d 'npm start'", "nohup npm start > log 2>&1 &",
        "brew install jq", "apt-get update && apt-get install -y git", "sudo systemctl restart nginx", "journalctl -u app -f", "openssl rand -hex 16 > secret", "ssh-keygen -t ed25519 -f key -N ''", "gpg --list-keys", "chmod -R u+w .", "chown -R $USER .",
        "bd comments add bd-1 'LEARNED: the org sync is slow'", "roamkb search oauth", "roamkb write 'A fact' --body -", "roamkb learn 'x' --type gotcha", "roamkb curate --dry-run", "roamkb forget k --dry-run", "roamkb trust", "roamkb trust list", "roamkb share", "roamkb share off", "roamkb share migrate --class work", "roamkb classify", "roamkb review --help", "roamkb review", "roamkb review --all", "roamkb recall override | jq .",
        "git commit -m 'Document roamkb override'", "rg 'roamkb review' docs", "echo 'run roamkb override yourself'", "grep -rn 'curate --apply' .", "git add roamkb && git commit -m review", "pytest tests/roamkb -k override", "ruff check roamkb", "cp -r roamkb review",
        "cat .claude/settings.json", "jq . ~/.claude/settings.json", "cat ~/.claude/rules/knowledge-base.md", "vim .claude/settings.local.json", "echo '{}' > .claude/settings.json", "ls ~/.claude ~/.codex", "roamkb install --dry-run", "roamkb doctor",
        "perl -ne 'print if /org/' a > b", "ruby -e 'puts 1'", "node --eval 'console.log(process.env.HOME)'", "deno run -A x.ts", "bun x vite build", "php artisan migrate", "php -r 'echo 1;'", "java -jar a.jar", "gcc -o out a.c", "./configure --prefix=$HOME/.local",
    ]  # fmt: skip
    return [text.format(*[file] * 3) for file in files for text in each] + alone


@pytest.mark.parametrize("kind", ProjectKind)
def test_nothing_else_is_denied(kind: ProjectKind) -> None:
    """Of more than five hundred ordinary commands."""
    texts = ordinary()
    assert len(set(texts)) > 500
    assert [] == [(text, denial) for text in texts if (denial := bash(text, kind))]


HUMAN, OTHER = "~/sync/org/roam/human.org", "~/sync/org/roam/20260101000000-agents.org"


@pytest.mark.parametrize(
    "command",
    [
        "echo x >> {}", "sed -i s/a/b/ {}", "rm {}", "mv {} /tmp/x", "mv /tmp/x {}", "cp /tmp/x {}", "cp human.org ~/sync/org/roam/ # {}", "echo a | tee -a {}", "cat > {} <<'EOF'\nx\nEOF",
        "python3 -c 'open(\"{}\", \"w\").write(\"x\")'", "python3 - <<'EOF'\nfrom pathlib import Path\nPath('{}').expanduser().write_text('x')\nEOF", "node -e 'fs.writeFileSync(\"{}\", 1)'",
        "rm -rf ~/sync/org/roam # {}", "rm ~/sync/org/roam/*.org # {}", "rm -r ~/sync/org/roam/sub # {}", "rm -rf ~/sync # {}", "mv ~/sync /tmp # {}", "find ~/sync -name '*.org' -delete # {}",
        "git -C ~/sync/org/roam checkout -- human.org # {}", "git -C ~/sync/org/roam reset --hard # {}", "truncate -s0 {}", "dd of={} if=/dev/null", "sort -o {} {}", "perl -pi -e s/a/b/ {}",
        "for f in ~/sync/org/roam/*.org; do sed -i s/a/b/ \"$f\"; done # {}", "rg -l x ~/sync/org/roam | xargs sed -i s/a/b/ # {}", "find ~/sync/org/roam -name '*.org' -exec sed -i s/a/b/ '{{}}' + # {}",
        "bash -c 'rm {}'", "cd ~/sync/org/roam && rm human.org # {}", "ls ~/sync/org/roam | while read f; do rm $f; done # {}", "vim -c wq {}", "chmod 000 {}", "ln -sf /tmp/x {}", "shred {}",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: /home/ada/sync/org/roam/human.org\n*** End Patch\nEOF\n# {}",
    ],
)  # fmt: skip
def test_a_humans_note_is_spared_everywhere(command: str) -> None:
    """In a personal project as well; the hint says how to write instead."""
    denial = bash(command.format(HUMAN, HUMAN), ProjectKind.PERSONAL, f"{HOME}/code/site")
    assert denial is not None
    assert "roamkb write" in denial.hint
    assert "human" in denial.reason


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/a/b/ {}", "rm {}", "echo x >> {}", "cp x.org ~/sync/org/roam/new.org # {}", "cat > ~/sync/org/roam/new.org <<'EOF'\nx\nEOF\n# {}", "mkdir -p ~/sync/org/roam/new # {}",
        "git -C ~/sync/org/roam add . # {}", "git -C ~/sync/org/roam commit -m x # {}", "git -C ~/sync/org/roam pull --rebase # {}", "cp ~/sync/org/roam/human.org /tmp/ # {}", "python3 stats.py ~/sync/org/roam # {}",
        "python3 -c 'print(open(\"/home/ada/sync/org/roam/human.org\").read())' # {}", "tar czf /tmp/kb.tgz ~/sync/org/roam # {}", "emacs --batch -l x.el # {}", "touch ~/sync/org/roam/data/a.png # {}",
        "roamkb write 'A fact' --body \"$(cat ~/sync/org/roam/human.org)\" # {}", "rsync -a ~/sync/org/roam/ /backup/roam/ # {}", "ln -s ~/sync/org/roam ./kb # {}", "rm -rf build # {}",
    ],
)  # fmt: skip
def test_a_personal_project_may_write_what_is_no_humans(command: str) -> None:
    """Agents' nodes, new files, and whatever only reads."""
    assert bash(command.format(OTHER), ProjectKind.PERSONAL, f"{HOME}/code/site") is None


APPROVALS = [
    "roamkb override k 0.9", "roamkb forget k", "python3 -c 'import os; os.system(\"roamkb forget k\")'", "roamkb curate --apply abc", "roamkb curate --apply=abc --reason x", "roamkb review --edit", "roamkb review --curate", "roamkb approve p1", "roamkb rollback p1", "roamkb reject p1",
    "roamkb uninstall", "roamkb install --work-root ~/none", "roamkb setup --agents-md --dry-run --project-parent / --yes", "roamkb install --snippets --help --kb /tmp/x --yes", "roamkb install --kb=/tmp/x", "roamkb --json override k 0.9", "roamkb --project /x override k 1", "~/.local/bin/roamkb override k 1",
    "yes | roamkb override k 0.9", "echo k | xargs roamkb override", "echo 'override k 1' | xargs roamkb", "script -qc 'roamkb override k 0.9' /dev/null", "expect -c 'spawn roamkb override k 0.9; send y'",
    "python3 -m roamkb override k 0.9", "python3 -mroamkb override k 1", ".venv/bin/python -m roamkb review --edit", "uv run roamkb curate --apply x", "uvx roamkb override k 1", "A=1 roamkb review --edit", "env A=1 roamkb review --edit",
    "bash -c 'roamkb override k 0.9'", "sh -c 'cd x && roamkb review --edit'", "bash <<'EOF'\nroamkb override k 1\nEOF", "echo 'roamkb override k 1' | bash", "X=override; roamkb $X k 1", "R=roamkb; $R override k 1",
    "roamkb $(echo override) k 1", "r() { roamkb \"$@\"; }; r override k 1", "cd x && (roamkb review --edit)", "sudo roamkb override k 1", "timeout 5 roamkb override k 1",
    "python3 -c 'import pty; pty.spawn([\"roamkb\", \"override\", \"k\", \"1\"])'", "python3 - <<'EOF'\nimport subprocess\nsubprocess.run(['roamkb', 'curate', '--apply', 'x'])\nEOF", "tmux new -d 'roamkb override k 1'",
    "tmux send-keys 'roamkb override k 1' Enter", "ssh localhost roamkb review --edit", "find . -exec roamkb override {} 1 \\;", "parallel roamkb override ::: k", "eval 'roamkb review --edit'", "x=$(roamkb override k 1)", "rOam=1; \"roamkb\" 'review' --edit",
    "ro\\amkb over'ri'de k 1", "nohup roamkb review --edit &", "watch roamkb review --edit", "trap 'roamkb review --edit' EXIT", "if true; then roamkb review --edit; fi", "unbuffer roamkb override k 1", "socat - EXEC:'roamkb override k 1',pty",
    "roamkb trust add k", "roamkb share --service lantern", "roamkb share --class work --service=x", "roamkb --json trust remove k", "echo k | xargs roamkb trust add", "python3 -c 'import pty; pty.spawn([\"roamkb\", \"trust\", \"add\", \"k\"])'",
    "roamkb setup", "roamkb setup --undo", "roamkb setup --kb ~/x --no-work", "bash -c 'roamkb setup --undo'", "python3 -c 'import pty; pty.spawn([\"roamkb\", \"setup\"])'",
    "roamkb init --yes", "roamkb --project x init --untracked --yes", "bash -c 'roamkb init --yes'", "python3 -c 'import pty; pty.spawn([\"roamkb\", \"init\", \"--yes\"])'", "script -qc 'roamkb init --yes' /dev/null",
]  # fmt: skip


@pytest.mark.parametrize("kind", ProjectKind)
@pytest.mark.parametrize("command", APPROVALS)
def test_no_agent_approves(command: str, kind: ProjectKind) -> None:
    """However roamkb is started, whatever the project is."""
    denial = bash(command, kind)
    assert denial is not None
    assert "human" in denial.reason


RULE = "~/.claude/rules/knowledge-base.md"


@pytest.mark.parametrize("kind", ProjectKind)
@pytest.mark.parametrize(
    "name",
    [
        RULE,
        "~/.claude/settings.json",
        "~/.codex/hooks.json",
        "~/.codex/config.toml",
        "~/.claude/settings.local.json",
    ],
)
def test_only_the_human_changes_the_rule(name: str, kind: ProjectKind) -> None:
    """By no tool and no command, in no project."""
    path = name.replace("~", HOME)
    calls = [
        ("Write", {"file_path": path, "content": "x"}),
        ("Edit", {"file_path": path, "old_string": "hooks", "new_string": ""}),
        ("apply_patch", {"input": f"*** Begin Patch\n*** Delete File: {path}\n"}),
    ]
    commands = ["echo x > {}", "rm {}", "sed -i s/a/b/ {}", "mv {} /tmp", "cp /tmp/x {}", "echo x | tee {}", "ln -sf /tmp/x {}", "rm -rf ~/.claude ~/.codex", "cd ~/.claude/rules; cd ../../.claude; rm -r ../{}",
                "python3 -c 'import pathlib; pathlib.Path(\"{}\").write_text(\"\")'", "jq .a=1 {} > /tmp/x && mv /tmp/x {}", "truncate -s 0 {}", "bash -c 'rm {}'"]  # fmt: skip
    calls += [("Bash", {"command": one.format(name, name).replace("../~/", "../")}) for one in commands]
    assert [] == [call for call in calls if judge_tool(*call, ground(kind)) is None]


def test_a_long_command_is_read_to_its_end() -> None:
    """However long its words are."""
    assert bash(f"echo {'x' * 5000}; rm notes/human.org") is not None


def test_settings_without_hooks_may_be_edited() -> None:
    """An agent may add a permission that its human asked for."""
    path = f"{HOME}/.claude/settings.json"
    edit = {"file_path": path, "old_string": '"model": "a"', "new_string": '"model": "b"'}
    assert judge_tool("Edit", edit, ground()) is None
    assert judge_tool("Read", {"file_path": path}, ground()) is None


FILE_CALLS = [
    ("Write", {"file_path": "{}", "content": "x"}), ("Edit", {"file_path": "{}", "old_string": "a", "new_string": "b"}), ("MultiEdit", {"file_path": "{}", "edits": []}), ("NotebookEdit", {"notebook_path": "{}", "new_source": ""}),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"}), ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: a\n*** Move to: {}\n*** End Patch"}), ("apply_patch", {"command": ["apply_patch", "*** Begin Patch\n*** Delete File: {}\n*** End Patch"]}),
    ("mcp__filesystem__write_file", {"path": "{}", "content": "x"}), ("mcp__filesystem__move_file", {"source": "a", "destination": "{}"}), ("mcp__fs__edit_files", {"files": [{"path": "{}"}]}), ("mcp__plugin_roamkb-files_fs__write", {"path": "{}"}),
    ("shell", {"command": ["bash", "-lc", "echo x > {}"]}), ("shell", {"command": ["rm", "{}"]}), ("exec_command", {"cmd": "rm {}"}), ("local_shell", {"action": {"type": "exec", "command": ["tee", "{}"]}}), ("shell", {"command": "rm human.org", "workdir": "{}/.."}),
    ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** Update File: {}\n*** End Patch"]}), ("write_stdin", {"session_id": 1, "chars": "rm {}\n"}), ("Bash", {"command": "rm {}", "description": "x", "run_in_background": True}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "asked"), FILE_CALLS)
@pytest.mark.parametrize(
    "path",
    [
        f"{KB}/human.org",
        f"{HOME}/sync/../sync/org/roam/human.org",
        "../../../sync/org/roam/human.org",
        f"{WORK}/notes/human.org",
    ],
)
def test_file_tools_are_denied(tool: str, asked: dict[str, Any], path: str) -> None:
    """Claude Code's, Codex's and servers', by absolute, relative and linked paths; elsewhere they are free."""
    filled = json.loads(json.dumps(asked).replace("{}", path))
    for kind in ProjectKind:
        assert judge_tool(tool, filled, ground(kind)) is not None
    other = json.loads(json.dumps(asked).replace("{}", f"{WORK}/docs/a.org").replace("/..", ""))
    assert judge_tool(tool, other, ground()) is None


#: Calls of tools that nobody knows: a command, code, or a path and a verb of writing, in whatever form.
OTHER_CALLS: list[tuple[str, dict[str, Any]]] = [
    ('mcp__terminal__run', {'command': 'rm /home/ada/sync/org/roam/a.org'}),
    ('mcp__desktop__start_process', {'command': 'sed -i s/a/b/ /home/ada/sync/org/roam/a.org', 'timeout_ms': 5}),
    ('mcp__py__execute', {'code': "open('/home/ada/sync/org/roam/a.org','w').write('')"}),
    ('mcp__fs__write', {'location': '/home/ada/sync/org/roam/a.org', 'data': 'x'}),
    ('mcp__fs__operate', {'operation': 'delete', 'location': '/home/ada/sync/org/roam/a.org'}),
    ('mcp__fs__op', {'action': 'move', 'from': '/home/ada/sync/org/roam/a.org', 'to': '/tmp/x'}),
    ('mcp__ide__applyEdit', {'edit': {'changes': {'file:///home/ada/sync/org/roam/a.org': [{'newText': 'x'}]}}}),
    ('mcp__ide__edit', {'uri': 'file:///home/ada/sync/org/roam/a.org', 'newText': 'x'}),
    ('mcp__jet__replace_text_in_file', {'pathInProject': '/home/ada/sync/org/roam/a.org', 'oldText': 'a', 'newText': 'b'}),
    ('mcp__x__call', {'arguments': '{"path": "/home/ada/sync/org/roam/a.org", "method": "write_file", "content": "x"}'}),
    ('mcp__shell__exec', {'args': ['rm', '/home/ada/sync/org/roam/a.org']}),
    ('mcp__shell__run', {'cmd': ['bash', '-c', 'echo > /home/ada/sync/org/roam/a.org']}),
    ('mcp__tmux__send', {'keys': 'echo x >> /home/ada/sync/org/roam/a.org\n'}),
    ('mcp__emacs__eval', {'expression': '(with-temp-file "/home/ada/sync/org/roam/a.org" (insert "x"))'}),
    ('mcp__serena__replace_regex', {'relative_path': '../../../sync/org/roam/a.org', 'regex': 'a', 'repl': 'b'}),
    ('mcp__git__git_checkout', {'repo_path': '/home/ada/sync/org/roam', 'branch': 'x'}),
    ('mcp__fs__create_directory', {'path': '/home/ada/sync/org/roam/d'}),
    ('mcp__py__run_python', {'script': "import os\nos.remove(os.path.expanduser('~/sync/org/roam/a.org'))"}),
]  # fmt: skip
#: Calls that only read a note, or say its name.
OTHER_READINGS: list[tuple[str, dict[str, Any]]] = [
    ('mcp__fs__read_text_file', {'path': '/home/ada/sync/org/roam/a.org'}),
    ('mcp__fs__search_files', {'path': '/home/ada/sync/org/roam', 'pattern': 'x'}),
    ('mcp__fs__list_directory', {'path': '/home/ada/sync/org/roam'}),
    ('mcp__terminal__run', {'command': 'cat /home/ada/sync/org/roam/a.org'}),
    ('mcp__py__execute', {'code': "print(open('/home/ada/sync/org/roam/a.org').read())"}),
    ('mcp__github__create_issue', {'title': 'x', 'body': 'rm /home/ada/sync/org/roam/a.org breaks it'}),
    ('mcp__linear__update_issue', {'id': '1', 'description': 'see /home/ada/sync/org/roam/a.org, and write tests'}),
    ('Task', {'prompt': 'read /home/ada/sync/org/roam/a.org and write a summary'}),
    ('Write', {'file_path': 'docs/x.md', 'content': 'rm /home/ada/sync/org/roam/a.org'}),
    ('Edit', {'file_path': 'docs/x.md', 'old_string': '/home/ada/sync/org/roam/a.org', 'new_string': 'x'}),
    ('mcp__slack__post_message', {'text': 'I will delete /home/ada/sync/org/roam/a.org'}),
    ('mcp__memory__create_entities', {'entities': [{'name': 'kb', 'observations': ['notes in /home/ada/sync/org/roam/a.org']}]}),
    ('mcp__fs__get_file_info', {'path': '/home/ada/sync/org/roam/a.org'}),
    ('mcp__git__git_log', {'repo_path': '/home/ada/sync/org/roam'}),
    ('mcp__playwright__browser_navigate', {'url': 'file:///home/ada/sync/org/roam/a.org'}),
    ('mcp__fs__copy_file', {'source': '/home/ada/sync/org/roam/a.org', 'destination': '/tmp/a.org'}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "asked"), OTHER_CALLS)
def test_any_servers_tool_is_judged_by_what_it_is_told(tool: str, asked: dict[str, Any]) -> None:
    """Nobody knows what it does; it names a note together with a verb of writing."""
    assert judge_tool(tool, asked, ground()) is not None


@pytest.mark.parametrize(("tool", "asked"), OTHER_READINGS)
def test_a_tool_that_reads_or_talks_is_free(tool: str, asked: dict[str, Any]) -> None:
    """A note may be named in a text, be read, and be copied elsewhere."""
    for kind in ProjectKind:
        assert judge_tool(tool, asked, ground(kind)) is None


PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch"
#: Shell text, and whether it changes the file.
TEXTS = [
    ("echo x > {}", True),
    ("cat > {} <<'EOF'\nx\nEOF", True),
    (f"apply_patch <<'EOF'\n{PATCH}\nEOF", True),
    (f"cd /tmp && apply_patch <<'EOF'\n{PATCH}\nEOF", True),
    (f"apply_patch '{PATCH}'", True),
    (f"apply_patch <<'EOF'\n{PATCH.replace('Update File', 'Add File')}\nEOF", True),
    ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.md\n*** Move to: {}\n*** End Patch\nEOF", True),
    ("sed -n 1,20p {}", False),
    ("rg -n oauth {} | head", False),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "form"), FORMS)
@pytest.mark.parametrize(("text", "changes"), TEXTS)
def test_a_command_is_judged_the_same_in_every_harness_words(
    tool: str, form: dict[str, Any], text: str, changes: bool
) -> None:
    """As text, as words, in an action; a patch through the shell as well."""
    script = json.dumps(text.replace("{}", f"{KB}/human.org"))[1:-1]
    given = json.loads(json.dumps(form).replace("{}", script))
    for kind in ProjectKind:
        assert changes == (judge_tool(tool, given, ground(kind)) is not None)


def test_reading_tools_are_free() -> None:
    """They change nothing."""
    for tool, asked in [
        ("Read", {"file_path": f"{KB}/human.org"}),
        ("Grep", {"path": KB, "pattern": "x"}),
        ("mcp__fs__read_file", {"path": f"{KB}/human.org"}),
        ("Write", {"file_path": "a.md", "content": KB}),
        ("mcp__roamkb__write", {"title": KB}),
        ("mcp__plugin_roamkb_roamkb__write", {"title": KB}),
    ]:
        assert judge_tool(tool, asked, ground()) is None


@pytest.mark.parametrize(
    "command",
    ["rm 'unclosed ~/sync/org/roam/x", "rm ~/sync/org/roam/x )", "echo $(rm ~/sync/org/roam/x", "if ((; rm $HOME/sync/org/roam/x", "cat <(rm /home/ada/sync/org/roam/x", "rm ~/sync/o\"\"rg/roam/x 'y"],
)  # fmt: skip
def test_what_cannot_be_read_is_denied_where_it_names_the_knowledge_base(command: str) -> None:
    """Another shell may read it."""
    assert bash(command) is not None
    assert bash("rm 'unclosed") is None


def test_what_the_shell_knows_is_known() -> None:
    """A variable of the environment that names the folder."""
    known = ground(variables={"ORG": "/home/ada/sync/org"})
    assert judge_tool("Bash", {"command": "rm $ORG/roam/x.org"}, known) is not None
    assert judge_tool("Bash", {"command": "cat $ORG/roam/x.org"}, known) is None


@pytest.mark.parametrize(
    "command",
    ["select f in ~/sync/org/roam/*; do rm $f; done", "cp -r evil/roam ~/sync/org/", "rm -rf ~/sync", "find ~/sync -name '*.org' -delete", "rm -rf ~/*", "exec 3>~/sync/org/roam/x; echo a >&3", "A=(~/sync/org/roam/*); rm \"${A[@]}\""],
)  # fmt: skip
def test_what_takes_the_folder_along_or_hides_its_name_is_denied(command: str) -> None:
    """Folders above it, and what builtins put into variables."""
    assert bash(command) is not None


def test_every_name_of_the_folder_counts() -> None:
    """The real path, and what another mount calls it."""
    named = GuardContext(
        kb=(KB, "/data/roam"),
        kind=lambda: ProjectKind.UNKNOWN,
        cwd=WORK,
        home=HOME,
        is_agent_note=lambda path: True,
        resolve=resolve,
    )
    assert judge_tool("Write", {"file_path": "/data/roam/a.org"}, named) is not None
    assert judge_tool("Bash", {"command": "rm /data/roam/a.org"}, named) is not None
    assert judge_tool("Write", {"file_path": "/data/roam2/a.org"}, named) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["command", "file_path", "cmd", "action", "x"]) | st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
tools = st.sampled_from(
    ["Bash", "shell", "local_shell", "Write", "Edit", "apply_patch", "mcp__x__write", ""]
) | st.text(max_size=10)
shellish = st.lists(
    st.sampled_from(["~/sync/org/roam/", "roamkb ", "rm ", "cd ", "x=", "$x", "$(", ")", "`", "'", '"', "\\", "|", ">", "<<E\n", "\n", ";", "{", "}", "*", "xargs ", "sed ", "find ", "git ", "-C ", "awk ", "bash -c ", "python -c ", " ", "[", "é", "\0"]),
    max_size=25,
).map("".join)  # fmt: skip


@settings(deadline=None)
@given(
    tools,
    st.dictionaries(st.sampled_from(["command", "file_path", "cmd", "action", "input"]), json_values, max_size=3),
    st.sampled_from(list(ProjectKind)),
)
def test_any_input_has_an_answer(tool: str, asked: dict[str, Any], kind: ProjectKind) -> None:
    """Whatever a harness sends."""
    assert isinstance(judge_tool(tool, asked, ground(kind)), Denial | None)


@settings(deadline=None, max_examples=examples(300))
@given(shellish, st.sampled_from(list(ProjectKind)), st.sampled_from([WORK, KB, HOME, "/"]))
def test_any_command_has_an_answer(command: str, kind: ProjectKind, cwd: str) -> None:
    """Whatever stands in it."""
    assert isinstance(bash(command, kind, cwd), Denial | None)


HOSTILE = [
    "$(", "(", "`", "'", '"', "{", "${", "{a,b}", "$((", "a=b:c,d@", "~/sync/org/roam ", "rm x;", "cd ~/sync/org;", "| xargs ", "bash -c '", "sed s/", "sed 's/[", "print ", "roamkb ", "roamkb curate ", "find -exec ", "<<E\n", "*?[", "/", "../", "$x", "x=$x$x;", "f() ", "read x;", "> a ", "(cd x;",
]  # fmt: skip


@pytest.mark.parametrize("kind", [ProjectKind.WORK, ProjectKind.PERSONAL])
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_has_an_answer(piece: str, kind: ProjectKind) -> None:
    """What repeats badly, after a name that makes it worth reading; nothing here may grow with its square."""
    text = ("echo ~/sync/org/roam; " + piece * (16384 // len(piece)))[:16384]
    assert isinstance(bash(text, kind), Denial | None)
