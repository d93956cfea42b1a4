"""Errors in the words of the programs that say them: each row one error, in several runs of it.

The wording is that of the tools themselves; most of it was got by running Python 3.11, pytest 9, Node 20,
npm 10, rustc and cargo 1.9x, gcc and ld 12, Java 17, GNU make 4, git 2, bash, dash, curl, SQLite, psql, pip.
"""

from typing import Final

#: What every two rows don't share, and all messages of a row do.
SAME: Final[dict[str, tuple[str, ...]]] = {
    # Python
    "python KeyError": (
        "KeyError: 'missing'",
        "Traceback (most recent call last):\n  File \"/srv/app/a.py\", line 4, in <module>\n    f({})\n"
        "  File \"/srv/app/a.py\", line 1, in f\n    def f(d): return d['other']\n"
        "                     ~^^^^^^^^^^^\nKeyError: 'other'",
        "test_a.py:4: KeyError\nFAILED tests/test_a.py::test_k - KeyError: 'a'",
        "2026-06-10 12:00:03,114 ERROR app.views - KeyError: 'user_id'",
        "KeyError: 17",
        "KeyError 'id'",
        "tests fail with KeyError: 'id' in views.py",
        "ERROR    root:app.py:12 KeyError: 'x'",
    ),
    "python attribute of None": (
        "AttributeError: 'NoneType' object has no attribute 'foo'",
        "AttributeError: 'NoneType' object has no attribute 'group'",
        "E       AttributeError: 'NoneType' object has no attribute 'x'",
    ),
    "python attribute of a list": (
        "AttributeError: 'list' object has no attribute 'items'",
        "AttributeError: 'list' object has no attribute 'keys'",
    ),
    "python module": (
        "ModuleNotFoundError: No module named 'nonexist_mod'",
        "E   ModuleNotFoundError: No module named 'nope_mod'",
        "ERROR test_b.py - ModuleNotFoundError: No module named 'yaml'",
    ),
    "python import name": (
        "ImportError: cannot import name 'Mapping' from 'collections' (/usr/lib/python3.11/collections/__init__.py)",
        "ImportError: cannot import name 'url_quote' from 'werkzeug.urls' (/venv/lib/werkzeug/urls.py)",
    ),
    "python file": (
        "FileNotFoundError: [Errno 2] No such file or directory: '/root/none.txt'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'config.toml'",
    ),
    "python permission": (
        "PermissionError: [Errno 13] Permission denied: '/var/log/app.log'",
        "PermissionError: [Errno 13] Permission denied: '/etc/shadow'",
    ),
    "python disk full": ("OSError: [Errno 28] No space left on device", "OSError: [Errno 28] No space left on device: '/tmp/x1'"),
    "python zero": ("ZeroDivisionError: division by zero",),
    "python int": (
        "ValueError: invalid literal for int() with base 10: 'abc'",
        "ValueError: invalid literal for int() with base 10: ''",
    ),
    "python unpack": (
        "ValueError: not enough values to unpack (expected 2, got 1)",
        "ValueError: not enough values to unpack (expected 3, got 0)",
    ),
    "python argument missing": (
        "TypeError: f() missing 1 required positional argument: 'a'",
        "TypeError: Client.send() missing 1 required positional argument: 'body'",
    ),
    "python keyword unexpected": (
        "TypeError: f() got an unexpected keyword argument 'timeout'",
        "TypeError: Session.get() got an unexpected keyword argument 'proxies'",
    ),
    "python not subscriptable": ("TypeError: 'NoneType' object is not subscriptable",),
    "python name": ("NameError: name 'x' is not defined", "NameError: name 'os' is not defined"),
    "python json": (
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 40 column 1 (char 911)",
    ),
    "python json value": ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",),
    "python syntax": (
        "  File \"/tmp/errs/b.py\", line 1\n    print(x\n         ^\nSyntaxError: '(' was never closed",
        "SyntaxError: '[' was never closed",
    ),
    "python indentation": ("IndentationError: unexpected indent",),
    "python recursion": ("RecursionError: maximum recursion depth exceeded",),
    "python refused": (
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nConnectionRefusedError: [Errno 111] Connection refused",
    ),
    "python timed out": ("TimeoutError: [Errno 110] Connection timed out",),
    "python subprocess": (
        "subprocess.CalledProcessError: Command '['false']' returned non-zero exit status 1.",
        "subprocess.CalledProcessError: Command '['git', 'push', '-q']' returned non-zero exit status 1.",
    ),
    "python subprocess 128": ("subprocess.CalledProcessError: Command '['git', 'pull']' returned non-zero exit status 128.",),
    "python unicode": (
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 1041: invalid start byte",
    ),
    "python chained": (
        "Traceback (most recent call last):\n  File \"/tmp/errs/a.py\", line 4, in <module>\n    f({})\nKeyError: 'missing'\n\n"
        "The above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n"
        "  File \"/tmp/errs/a.py\", line 6, in <module>\n    raise RuntimeError(\"cannot load config\") from e\n"
        "RuntimeError: cannot load config /etc/app/1.toml",
        "RuntimeError: cannot load config /home/u/app/2.toml",
    ),
    "requests 404": (
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: https://api.example.com/v1/users/7",
        "requests.exceptions.HTTPError: 404 Client Error: Not Found for url: http://localhost:8000/x",
    ),
    "requests 500": ("requests.exceptions.HTTPError: 500 Server Error: Internal Server Error for url: https://api.example.com/v1",),
    "requests refused": (
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=8000): Max retries exceeded with url: /x "
        "(Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f1c2a3b4d50>: Failed to establish a new "
        "connection: [Errno 111] Connection refused'))",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.com', port=443): Max retries exceeded with url: /y "
        "(Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7fa000001110>: Failed to establish a new "
        "connection: [Errno 111] Connection refused'))",
    ),
    "requests name": (
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='nope.invalid', port=443): Max retries exceeded with url: / "
        "(Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7fa000001110>: Failed to establish a new "
        "connection: [Errno -2] Name or service not known'))",
    ),
    "urllib 404": ("urllib.error.HTTPError: HTTP Error 404: Not Found",),
    "urllib 503": ("urllib.error.HTTPError: HTTP Error 503: Service Unavailable",),
    "django": (
        "django.core.exceptions.ImproperlyConfigured: Requested setting DATABASES, but settings are not configured.",
        "Traceback (most recent call last):\n  File \"m.py\", line 3, in f\ndjango.core.exceptions.ImproperlyConfigured: Requested setting DATABASES, but settings are not configured.",
    ),
    # pytest
    "pytest assert equal": (
        "E   assert 1 == 2",
        "    def test_a(): assert 1 == 2\nE   assert 404 == 200\n\ntest_a.py:2: AssertionError\nFAILED test_a.py::test_a - assert 404 == 200",
        "E       AssertionError: assert {'a': 1} == {'a': 2}\nE         \nE         Differing items:\nE         {'a': 1} != {'a': 2}",
    ),
    "pytest assert in": ("E   AssertionError: assert 'x' in 'abc'", "E       assert 'needle' in ['hay']"),
    "pytest fixture": (
        "file /tmp/errs/pt/test_a.py, line 3\n  def test_f(nofix): pass\nE       fixture 'nofix' not found\n"
        ">       available fixtures: capfd, capsys, tmp_path\n>       use 'pytest --fixtures [testpath]' for help on them.",
        "E       fixture 'db' not found",
    ),
    "pytest did not raise": (
        "E       Failed: DID NOT RAISE ValueError\n\ntest_a.py:6: Failed",
        "FAILED test_a.py::test_r - Failed: DID NOT RAISE ValueError",
    ),
    # Node and npm
    "node null": (
        "TypeError: Cannot read properties of null (reading 'x')",
        "[eval]:1\nnull.x\n     ^\n\nTypeError: Cannot read properties of null (reading 'id')\n    at [eval]:1:6\n"
        "    at runScriptInThisContext (node:internal/vm:209:10)\n\nNode.js v20.20.2",
        "Uncaught TypeError: Cannot read properties of null (reading 'style')",
    ),
    "node undefined": ("TypeError: Cannot read properties of undefined (reading 'map')", "TypeError: Cannot read properties of undefined (reading 'length')"),
    "node not defined": ("ReferenceError: x is not defined", "ReferenceError: require is not defined"),
    "node not a function": ("TypeError: a.foo is not a function", "TypeError: app.router.use is not a function"),
    "node module": (
        "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'nope'\nRequire stack:\n- /tmp/errs/[eval]\n"
        "    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [ '/tmp/errs/[eval]' ]\n}",
        "Error: Cannot find module '/srv/app/dist/index.js'",
    ),
    "node esm package": ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'nope' imported from /tmp/errs/x.mjs", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'chalk' imported from /srv/cli.mjs"),
    "node ENOENT": (
        "Error: ENOENT: no such file or directory, open '/nope'",
        "node:fs:573\n  return binding.open(\n                 ^\n\nError: ENOENT: no such file or directory, open './config.json'\n    at Object.openSync (node:fs:573:18) {\n"
        "  errno: -2,\n  code: 'ENOENT',\n  syscall: 'open',\n  path: './config.json'\n}",
    ),
    "node EACCES": ("Error: EACCES: permission denied, open '/etc/shadow'", "Error: EACCES: permission denied, open '/root/x'"),
    "node ECONNREFUSED": (
        "Error: connect ECONNREFUSED 127.0.0.1:9\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)",
        "Error: connect ECONNREFUSED ::1:5432",
    ),
    "node ETIMEDOUT": ("Error: connect ETIMEDOUT 10.0.0.7:443",),
    "node EADDRINUSE": (
        "Error: listen EADDRINUSE: address already in use :::3000",
        "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080",
    ),
    "node ENOTFOUND": ("Error: getaddrinfo ENOTFOUND api.example.com", "Error: getaddrinfo ENOTFOUND db"),
    "node json": ("SyntaxError: Unexpected token < in JSON at position 0", "SyntaxError: Unexpected token < in JSON at position 4"),
    "node esm syntax": ("SyntaxError: Cannot use import statement outside a module",),
    "axios 401": ("AxiosError: Request failed with status code 401",),
    "axios 429": ("AxiosError: Request failed with status code 429",),
    "typescript name": (
        "src/app.ts(12,5): error TS2304: Cannot find name 'foo'.",
        "src/x/y.ts:3:1 - error TS2304: Cannot find name 'process'.",
    ),
    "typescript type": ("src/app.ts(12,5): error TS2322: Type 'string' is not assignable to type 'number'.",),
    "npm ENOENT": (
        "npm error code ENOENT\nnpm error syscall open\nnpm error path /tmp/errs/np/package.json\nnpm error errno -2\n"
        "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/tmp/errs/np/package.json'\n"
        "npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-22T02_46_44_533Z-debug-0.log",
        "npm ERR! code ENOENT\nnpm ERR! syscall open\nnpm ERR! path /srv/package.json",
    ),
    "npm ERESOLVE": ("npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR!\nnpm ERR! While resolving: site@1.0.0",),
    "npm E404": ("npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/nopkg - Not found",),
    "npm script": ('npm error Missing script: "nope"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run', 'npm ERR! Missing script: "build:all"'),
    # Rust
    "rust E0382": (
        "error[E0382]: borrow of moved value: `s`\n --> a.rs:1:57\n  |\n1 | fn main(){ }\n\nwarning: unused variable: `t`\n\n"
        "error: aborting due to 1 previous error; 1 warning emitted\n\nFor more information about this error, try `rustc --explain E0382`.",
        "error[E0382]: borrow of moved value: `config`",
    ),
    "rust E0499": ("error[E0499]: cannot borrow `s` as mutable more than once at a time\n --> b.rs:1:57", "error[E0499]: cannot borrow `*self` as mutable more than once at a time"),
    "rust E0308": ("   Compiling cg v0.1.0 (/tmp/errs/cg)\nerror[E0308]: mismatched types\n --> src/main.rs:1:25\nerror: could not compile `cg` (bin \"cg\") due to 1 previous error", "error[E0308]: mismatched types"),
    "rust bounds": (
        "thread 'main' (7453) panicked at d.rs:1:52:\nindex out of bounds: the len is 0 but the index is 0\nnote: run with `RUST_BACKTRACE=1`",
        "thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 7', src/main.rs:4:5",
    ),
    "rust unwrap": ("thread 'main' (7471) panicked at e.rs:1:24:\ncalled `Option::unwrap()` on a `None` value\nstack backtrace:\n   0: __rustc::rust_begin_unwind\n             at /rustc/59807616/library/std/src/panicking.rs:689:5",),
    "cargo package": ("error: no matching package named `nopecrate` found\nlocation searched: crates.io index", "error: no matching package named `serd` found"),
    "cargo manifest": ("error: could not find `Cargo.toml` in `/tmp/errs/cg` or any parent directory", "error: could not find `Cargo.toml` in `/srv` or any parent directory"),
    # Go
    "go nil": ("panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x45c0f2]\n\ngoroutine 1 [running]:\nmain.main()",),
    "go index": ("panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x/main.go:7 +0x1d", "panic: runtime error: index out of range [0] with length 0"),
    "go deadlock": ("fatal error: all goroutines are asleep - deadlock!",),
    "go undefined": ("# example.com/x\n./main.go:5:2: undefined: foo", "./server/handler.go:41:9: undefined: json"),
    "go unused": ("./main.go:4:2: declared and not used: x", "./main.go:9:2: declared and not used: err"),
    "go import": ('./main.go:3:8: "os" imported and not used', './x.go:5:2: "fmt" imported and not used'),
    "go module": ("main.go:4:2: no required module provides package github.com/pkg/errors; to add it:\n\tgo get github.com/pkg/errors", "x.go:9:2: no required module provides package golang.org/x/net/html; to add it:"),
    "go no main module": ("go: cannot find main module, but found .git/config in /srv",),
    # Java
    "java null": (
        "Exception in thread \"main\" java.lang.IllegalStateException: could not start server on port 8080\n\tat A.main(A.java:1)\n"
        "Caused by: java.lang.NullPointerException: Cannot invoke \"String.length()\" because \"<local1>\" is null\n\tat A.main(A.java:1)",
        "java.lang.NullPointerException: Cannot invoke \"java.util.List.size()\" because \"this.items\" is null",
    ),
    "java class": ("Error: Could not find or load main class Nope\nCaused by: java.lang.ClassNotFoundException: Nope", "java.lang.ClassNotFoundException: com.mysql.cj.jdbc.Driver"),
    "java heap": ("java.lang.OutOfMemoryError: Java heap space", "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space"),
    "javac types": ("B.java:1: error: incompatible types: String cannot be converted to int\nclass B { }\n        ^\n1 error", "src/main/java/X.java:44: error: incompatible types: String cannot be converted to int"),
    "javac symbol": ("B.java:1: error: cannot find symbol\n  symbol:   method foo()\n  location: class B", "[ERROR] /srv/src/main/java/X.java:[10,5] cannot find symbol"),
    # C and C++
    "c undeclared": ("c.c:1:40: error: ‘y’ undeclared (first use in this function)", "main.c:99:3: error: 'errno' undeclared (first use in this function)"),
    "c header": ("e.c:1:10: fatal error: nope.h: No such file or directory\n    1 | #include <nope.h>\ncompilation terminated.", "/usr/src/x.c:20:10: fatal error: openssl/ssl.h: No such file or directory"),
    "c semicolon": ("f.c:1:21: error: expected ‘;’ before ‘}’ token",),
    "c++ member": ("g.cc:2:35: error: ‘class std::vector<int>’ has no member named ‘foo’", "g.cc:7:3: error: ‘class Widget’ has no member named ‘size’"),
    "ld reference": ("/usr/bin/ld: /tmp/cc7WaFDk.o: in function `main':\nd.c:(.text+0x5): undefined reference to `foo'\ncollect2: error: ld returned 1 exit status", "main.o:main.c:(.text+0x1f): undefined reference to `sqrt'"),
    "ld library": ("/usr/bin/ld: cannot find -lnope: No such file or directory\ncollect2: error: ld returned 1 exit status", "/usr/bin/ld: cannot find -lssl"),
    "segmentation fault": ("bash:  7392 Segmentation fault      bash -c './a.out'", "Segmentation fault (core dumped)"),
    # shells
    "shell command": ("bash: foo_bar_baz: command not found", "s.sh: line 1: frobnicate: command not found", "zsh: command not found: jq", "-bash: node: command not found", "Exit code 127\nbash: line 1: jq: command not found", "sudo: apt: command not found"),
    "shell file": ("cat: /nonexist: No such file or directory", "ls: cannot access '/nope': No such file or directory", "bash: line 1: cd: /root/nope: No such file or directory", "rm: cannot remove 'nope': No such file or directory"),
    "shell permission": ("bash: line 1: /etc/passwd: Permission denied", "cat: /etc/shadow: Permission denied", "mkdir: cannot create directory ‘/opt/x’: Permission denied"),
    "shell exists": ("mkdir: cannot create directory ‘/tmp’: File exists",),
    "shell not empty": ("rmdir: failed to remove '/tmp': Directory not empty",),
    "shell full": ("cp: error writing '/mnt/x': No space left on device", "tee: out.log: No space left on device"),
    "shell unbound": ("bash: UNDEF: unbound variable", "deploy.sh: line 12: TOKEN_FILE: unbound variable"),
    "shell syntax": ("bash: -c: line 2: syntax error: unexpected end of file",),
    # databases
    "sqlite table": ("sqlite3.OperationalError: no such table: users", "sqlite3.OperationalError: no such table: main.orders"),
    "sqlite column": ("sqlite3.OperationalError: no such column: nope", "sqlite3.OperationalError: no such column: u.id"),
    "sqlite locked": ("sqlite3.OperationalError: database is locked",),
    "sqlite unique": ("sqlite3.IntegrityError: UNIQUE constraint failed: t.a", "sqlite3.IntegrityError: UNIQUE constraint failed: users.email, users.org"),
    "sqlite not null": ("sqlite3.IntegrityError: NOT NULL constraint failed: t.a",),
    "sqlite shell table": ("Error: in prepare, no such table: users",),
    "postgres relation": ('ERROR:  relation "users" does not exist\nLINE 1: select * from users;', 'ERROR:  relation "public.orders" does not exist'),
    "postgres column": ('ERROR:  column "nope" does not exist',),
    "psycopg relation": ('Traceback (most recent call last):\n  File "x.py", line 2, in <module>\npsycopg2.errors.UndefinedTable: relation "users" does not exist\nLINE 1: select * from users\n                      ^',),
    "postgres password": ('psql: error: connection to server at "10.0.0.3", port 5432 failed: FATAL:  password authentication failed for user "app"', 'FATAL:  password authentication failed for user "root"'),
    "postgres refused": ('psql: error: connection to server at "127.0.0.1", port 9 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?',),
    "mysql denied": ("ERROR 1045 (28000): Access denied for user 'root'@'localhost' (using password: YES)", "ERROR 1045 (28000): Access denied for user 'app'@'10.0.0.9' (using password: YES)"),
    "mysql table": ("ERROR 1146 (42S02) at line 3: Table 'shop.users' doesn't exist", "ERROR 1146 (42S02): Table 'x.y' doesn't exist"),
    "mysql duplicate": ("ERROR 1062 (23000): Duplicate entry '1' for key 'users.PRIMARY'",),
    "oracle": ("ORA-00942: table or view does not exist",),
    # git
    "git no repository": ("fatal: not a git repository (or any of the parent directories): .git",),
    "git pathspec": ("error: pathspec 'nobranch' did not match any file(s) known to git", "error: pathspec 'main' did not match any file(s) known to git"),
    "git refspec": ("error: src refspec main does not match any\nerror: failed to push some refs to 'origin'", "error: src refspec x does not match any\nerror: failed to push some refs to 'nowhere'"),
    "git fast-forward": (" ! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs to 'github.com:u/x.git'", "To github.com:u/y.git\n ! [rejected]        dev -> dev (non-fast-forward)\nerror: failed to push some refs to 'github.com:u/y.git'"),
    "git fetch first": (" ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:u/x.git'",),
    "git conflict": ("Auto-merging a\nCONFLICT (content): Merge conflict in a\nAutomatic merge failed; fix conflicts and then commit the result.", "CONFLICT (content): Merge conflict in src/app.py"),
    "git overwritten": ("error: Your local changes to the following files would be overwritten by checkout:\n\ta\nPlease commit your changes or stash them before you switch branches.\nAborting",),
    "git overwritten by merge": ("error: Your local changes to the following files would be overwritten by merge:\n\ta\nAborting",),
    "git no remote": ("fatal: repository '/nowhere' does not exist", "fatal: repository 'https://example.com/x.git' does not exist"),
    "git auth": ("fatal: Authentication failed for 'https://github.com/u/x.git/'",),
    "git index.lock": ("fatal: Unable to create '/srv/x/.git/index.lock': File exists.\n\nAnother git process seems to be running in this repository", "fatal: Unable to create '/home/u/y/.git/index.lock': File exists."),
    "git publickey": ("git@github.com: Permission denied (publickey).\nfatal: Could not read from remote repository.",),
    # pip and make
    "pip version": (
        "ERROR: Could not find a version that satisfies the requirement nopenope (from versions: none)\nERROR: No matching distribution found for nopenope",
        "ERROR: Could not find a version that satisfies the requirement numpy==9.9 (from versions: 1.3.0, 1.4.1, 2.0)\nERROR: No matching distribution found for numpy==9.9",
        "#12 3.1 ERROR: Could not find a version that satisfies the requirement foo==9 (from versions: 1.0)\n#12 3.1 ERROR: No matching distribution found for foo==9\n"
        "#12 ERROR: process \"/bin/sh -c pip install\" did not complete successfully: exit code: 1",
    ),
    "pip externally managed": ("error: externally-managed-environment\n\n× This environment is externally managed",),
    "make rule": ("make: *** No rule to make target 'nothing'.  Stop.", "make[1]: *** No rule to make target 'all'.  Stop."),
    "make rule needed": ("make: *** No rule to make target 'd.x', needed by 'c'.  Stop.",),
    "make separator": ("Makefile:4: *** missing separator.  Stop.", "build/rules.mk:90: *** missing separator.  Stop."),
    "make error 1": ("make: *** [Makefile:2: a] Error 1", "make[2]: *** [Makefile:77: test] Error 1"),
    "make error 127": ("make: *** [Makefile:2: a] Error 127",),
    # the network and containers
    "curl connect": ("curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server", "curl: (7) Failed to connect to api.example.com port 443 after 2101 ms: Couldn't connect to server"),
    "curl resolve": ("curl: (6) Could not resolve host: nope.invalid", "curl: (6) Could not resolve host: api"),
    "curl 404": ("curl: (22) The requested URL returned error: 404",),
    "curl 500": ("curl: (22) The requested URL returned error: 500",),
    "http 404": ("HTTP/1.1 404 Not Found", "HTTP/2 404 Not Found"),
    "http 500": ("HTTP/1.1 500 Internal Server Error",),
    "docker daemon": ("docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",),
    "docker port": (
        "docker: Error response from daemon: Bind for 0.0.0.0:5432 failed: port is already allocated.",
        "Error response from daemon: Bind for 0.0.0.0:80 failed: port is already allocated.",
    ),
    # others
    "ruby": ("app.rb:3:in `foo': undefined method `x' for nil:NilClass (NoMethodError)", "lib/y.rb:90:in `block in call': undefined method `name' for nil:NilClass (NoMethodError)"),
    "php": ("PHP Fatal error:  Uncaught Error: Call to undefined function foo() in /srv/x.php:3", "PHP Fatal error:  Uncaught Error: Call to undefined function mb_strlen() in /var/www/i.php:12"),
    # tools that the forms weren't made from, as their documents and trackers quote them
    "k8s image": ("Failed to pull image \"registry.io/app:1.2\": rpc error: code = NotFound desc = failed to pull and unpack image", "Failed to pull image \"registry.io/web:9\": rpc error: code = NotFound desc = failed to pull and unpack image"),
    "kubectl": ("Error from server (NotFound): pods \"web-7d9f\" not found", "Error from server (NotFound): pods \"api-1\" not found"),
    "kubectl forbidden": ("Error from server (Forbidden): pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",),
    "docker pull": ("Error response from daemon: pull access denied for nope/x, repository does not exist or may require 'docker login': denied: requested access to the resource is denied", "Error response from daemon: pull access denied for foo, repository does not exist or may require 'docker login': denied: requested access to the resource is denied"),
    "docker name": ("docker: Error response from daemon: Conflict. The container name \"/db\" is already in use by container \"3f2a9b\". You have to remove (or rename) that container to be able to reuse that name.", "docker: Error response from daemon: Conflict. The container name \"/web\" is already in use by container \"77aa11bb22cc\". You have to remove (or rename) that container to be able to reuse that name."),
    "terraform": ("╷\n│ Error: Invalid reference\n│ \n│   on main.tf line 3, in resource \"x\" \"y\":\n", "│ Error: Invalid reference\n│   on net.tf line 30:"),
    "tf missing": ("Error: Missing required argument",),
    "pyimport circ": ("ImportError: cannot import name 'x' from partially initialized module 'a' (most likely due to a circular import) (/srv/a.py)", "ImportError: cannot import name 'Foo' from partially initialized module 'b.c' (most likely due to a circular import) (/srv/b/c.py)"),
    "index": ("IndexError: list index out of range",),
    "pandas": ("KeyError: \"['a', 'b'] not in index\"",),
    "numpy shape": ("ValueError: operands could not be broadcast together with shapes (2,3) (4,)", "ValueError: operands could not be broadcast together with shapes (10,) (3,7)"),
    "torch oom": ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 6.1 GiB already allocated)", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 1; 15.78 GiB total capacity; 14.2 GiB already allocated)"),
    "sqlalchemy": ("sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) no such table: users\n[SQL: SELECT * FROM users]\n(Background on this error at: https://sqlalche.me/e/20/e3q8)", "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) no such table: orders\n[SQL: INSERT INTO orders VALUES (1)]\n(Background on this error at: https://sqlalche.me/e/14/e3q8)"),
    "sqlalchemy dup": ("sqlalchemy.exc.IntegrityError: (psycopg2.errors.UniqueViolation) duplicate key value violates unique constraint \"users_email_key\"\nDETAIL:  Key (email)=(a@b.c) already exists.", "sqlalchemy.exc.IntegrityError: (psycopg2.errors.UniqueViolation) duplicate key value violates unique constraint \"x_key\"\nDETAIL:  Key (id)=(3) already exists."),
    "pg dup": ("ERROR:  duplicate key value violates unique constraint \"users_pkey\"\nDETAIL:  Key (id)=(1) already exists.", "ERROR:  duplicate key value violates unique constraint \"y\"\nDETAIL:  Key (id)=(9) already exists."),
    "pg syntax": ("ERROR:  syntax error at or near \"selec\"\nLINE 1: selec 1;", "ERROR:  syntax error at or near \"FROM\"\nLINE 4: x"),
    "pg fk": ("ERROR:  insert or update on table \"a\" violates foreign key constraint \"a_b_fkey\"",),
    "mysql syntax": ("ERROR 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'selec 1' at line 1", "ERROR 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right syntax to use near 'x' at line 3"),
    "redis": ("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", "redis.exceptions.ConnectionError: Error 111 connecting to 10.1.2.3:6380. Connection refused."),
    "mongo": ("MongoServerError: E11000 duplicate key error collection: test.users index: email_1 dup key: { email: \"a@b.c\" }", "MongoServerError: E11000 duplicate key error collection: test.users index: email_1 dup key: { email: \"zz@b.c\" }"),
    "jest": ("  ● adds › works\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 4\n\n      at Object.<anonymous> (sum.test.js:4:19)", "    expect(received).toBe(expected) // Object.is equality\n\n    Expected: \"a\"\n    Received: \"b\""),
    "vite": ("[vite] Internal server error: Failed to resolve import \"./x\" from \"src/App.tsx\". Does the file exist?", "[vite] Internal server error: Failed to resolve import \"@/y\" from \"src/main.ts\". Does the file exist?"),
    "webpack": ("ERROR in ./src/index.js\nModule not found: Error: Can't resolve './foo' in '/srv/src'", "ERROR in ./src/b.js\nModule not found: Error: Can't resolve 'lodash' in '/home/x/src'"),
    "eslint": ("/srv/a.js\n  3:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)", "/srv/b.js\n  13:1  error  'yy' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)"),
    "mypy": ("a.py:3: error: Incompatible types in assignment (expression has type \"str\", variable has type \"int\")  [assignment]\nFound 1 error in 1 file (checked 1 source file)",),
    "mypy import": ("a.py:1: error: Cannot find implementation or library stub for module named \"yaml\"  [import-not-found]", "b.py:9: error: Cannot find implementation or library stub for module named \"x.y\"  [import-not-found]"),
    "ruff": ("a.py:1:8: F401 [*] `os` imported but unused", "b/c.py:3:8: F401 [*] `sys` imported but unused"),
    "ruff e501": ("a.py:1:111: E501 Line too long (115 > 110)", "b.py:7:111: E501 Line too long (140 > 110)"),
    "ssh": ("ssh: connect to host 127.0.0.1 port 9: Connection refused", "ssh: connect to host db.example.com port 22: Connection refused"),
    "ssh timeout": ("ssh: connect to host 10.0.0.1 port 22: Connection timed out",),
    "ssh hostkey": ("Host key verification failed.\nfatal: Could not read from remote repository.",),
    "apt": ("E: Unable to locate package foo-dev", "E: Unable to locate package libbar"),
    "apt lock": ("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234 (apt)", "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 99 (unattended-upgr)"),
    "gradle": ("FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileJava'.\n> Compilation failed; see the compiler error output for details.", "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':lib:compileJava'.\n> Compilation failed; see the compiler error output for details."),
    "spring": ("***************************\nAPPLICATION FAILED TO START\n***************************\n\nDescription:\n\nWeb server failed to start. Port 8080 was already in use.", "Web server failed to start. Port 9000 was already in use."),
    "go test": ("--- FAIL: TestAdd (0.00s)\n    add_test.go:9: got 3, want 4\nFAIL\nexit status 1\nFAIL\texample.com/x\t0.002s", "--- FAIL: TestSub (0.01s)\n    sub_test.go:19: got 30, want 45\nFAIL\nexit status 1\nFAIL\texample.com/y\t0.012s"),
    "go dial": ("dial tcp 127.0.0.1:5432: connect: connection refused", "dial tcp [::1]:6379: connect: connection refused"),
    "go nohost": ("dial tcp: lookup api.example.com: no such host", "dial tcp: lookup db on 127.0.0.11:53: no such host"),
    "context": ("context deadline exceeded",),
    "aws": ("An error occurred (AccessDenied) when calling the PutObject operation: Access Denied", "botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation: Access Denied"),
    "aws2": ("botocore.exceptions.ClientError: An error occurred (NoSuchBucket) when calling the GetObject operation: The specified bucket does not exist",),
    "ssl": ("ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)", "ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:997)"),
    "asyncio": ("RuntimeError: This event loop is already running",),
    "asyncio2": ("RuntimeError: no running event loop",),
    "flask": ("werkzeug.routing.exceptions.BuildError: Could not build url for endpoint 'index'. Did you mean 'main.index' instead?", "werkzeug.routing.exceptions.BuildError: Could not build url for endpoint 'x'. Did you mean 'y' instead?"),
    "jinja": ("jinja2.exceptions.TemplateNotFound: index.html", "jinja2.exceptions.TemplateNotFound: auth/login.html"),
    "oom": ("Killed", "bash: line 1: 12345 Killed                  python train.py"),
    "exit137": ("Process finished with exit code 137",),
    "exit1": ("Process finished with exit code 1",),
    "cmake": ("CMake Error at CMakeLists.txt:5 (find_package):\n  By not providing \"FindFoo.cmake\" in CMAKE_MODULE_PATH", "CMake Error at sub/CMakeLists.txt:50 (find_package):\n  By not providing \"FindBar.cmake\" in CMAKE_MODULE_PATH"),
    "linker mac": ("Undefined symbols for architecture arm64:\n  \"_foo\", referenced from:\nld: symbol(s) not found for architecture arm64\nclang: error: linker command failed with exit code 1 (use -v to see invocation)",),
    "rails": ("ActiveRecord::RecordNotFound (Couldn't find User with 'id'=42)", "ActiveRecord::RecordNotFound: Couldn't find User with 'id'=7"),
    "dotnet": ("Unhandled exception. System.NullReferenceException: Object reference not set to an instance of an object.\n   at Program.Main() in /srv/P.cs:line 3", "System.NullReferenceException: Object reference not set to an instance of an object."),
    "elixir": ("** (KeyError) key :foo not found in: %{a: 1}",),
    "yaml": ("yaml.scanner.ScannerError: mapping values are not allowed here\n  in \"x.yml\", line 3, column 8", "yaml.scanner.ScannerError: mapping values are not allowed here\n  in \"conf/y.yml\", line 30, column 1"),
    "pydantic": ("pydantic_core._pydantic_core.ValidationError: 1 validation error for User\nid\n  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='x', input_type=str]", "pydantic_core._pydantic_core.ValidationError: 3 validation errors for User\nid\n  Input should be"),
    "playwright": ("playwright._impl._errors.TimeoutError: Page.click: Timeout 30000ms exceeded.", "playwright._impl._errors.TimeoutError: Page.click: Timeout 5000ms exceeded."),
    "pnpm": ("ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\" because pnpm-lock.yaml is not up to date with package.json",),
    "yarn": ("error Couldn't find package \"nope\" on the \"npm\" registry.", "error Couldn't find package \"left\" on the \"npm\" registry."),
    "pip build": ("ERROR: Failed building wheel for psycopg2", "ERROR: Failed building wheel for lxml"),
    "pip conflict": ("ERROR: Cannot install a==1 and b==2 because these package versions have conflicting dependencies.\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/", "ERROR: Cannot install foo==1.2 and bar==2.9 because these package versions have conflicting dependencies."),
    "uv": ("  × No solution found when resolving dependencies:\n  ╰─▶ Because there is no version of numpy==99 and you require numpy==99, we can conclude that your requirements are unsatisfiable.",),
    "github": ("remote: Permission to u/x.git denied to bob.\nfatal: unable to access 'https://github.com/u/x.git/': The requested URL returned error: 403", "remote: Permission to a/b.git denied to ci.\nfatal: unable to access 'https://github.com/a/b.git/': The requested URL returned error: 403"),
    "git detached": ("fatal: refusing to merge unrelated histories",),
    "nginx": ("nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)", "nginx: [emerg] bind() to 0.0.0.0:443 failed (98: Address already in use)"),
    "systemd": ("Failed to start foo.service: Unit foo.service not found.", "Failed to start bar.service: Unit bar.service not found."),
    "http json": ("{\"error\": {\"code\": 404, \"message\": \"Not found\"}}",),
    "fetch": ("TypeError: Failed to fetch",),
    "fetch2": ("TypeError: fetch failed",),
    "ts jest": ("src/a.test.ts:3:5 - error TS2339: Property 'foo' does not exist on type 'Bar'.", "src/b.ts(3,5): error TS2339: Property 'x' does not exist on type 'Y<Z>'."),
    "react": ("Error: Objects are not valid as a React child (found: object with keys {a, b}). If you meant to render a collection", "Error: Objects are not valid as a React child (found: object with keys {x}). If you meant to render a collection"),
    "next": ("Error: Hydration failed because the initial UI does not match what was rendered on the server.",),
    # as agents and harnesses pass them on
    "passed on: jest module": (
        "FAIL ./a.test.js\n  ● Test suite failed to run\n\n    Cannot find module './b' from 'a.test.js'\n\n"
        "      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:427:11)\nTest Suites: 1 failed, 1 total",
        "Cannot find module './c' from 'z.test.js'",
    ),
    "passed on: build script": (
        "error: failed to run custom build command for `openssl-sys v0.9.0`\n\nCaused by:\n  process didn't exit successfully: `/x/b` (exit status: 101)\n"
        "  --- stderr\n  thread 'main' panicked at build.rs:3:4:\n  Could not find directory of OpenSSL installation",
        "thread 'main' panicked at /root/x/build.rs:30:4:\nCould not find directory of OpenSSL installation",
    ),
    "plain": ("the build hangs at linking",),
}  # fmt: skip
