"""Credentials are found by their formats, named, and never shown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamkb.secrets.detector import find_secret
from roamkb.secrets.detector import find_secrets
from roamkb.secrets.detector import has_high_entropy
from roamkb.secrets.detector import mask_secrets
from roamkb.secrets.detector import names_a_secret
from roamkb.secrets.detector import redact_fact
from roamkb.secrets.detector import withhold_secrets
from roamkb.secrets.issued_formats import find_issued

#: Built from parts, so that no scanner takes this file for a leak.
FAKES = [
    ("AWS access key", "AKIA" + "IOSFODNN7EXAMPL2"),
    ("AWS access key", "ASIA" + "Y34FZKBOKMUTVV7A"),
    ("GitHub token", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("GitHub token", "ghs_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("GitHub token", "gho_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("GitHub token", "github_pat_" + "11ABCDEFG0" + "x7Q" * 20),
    ("GitLab token", "glpat-" + "x9K2mQ7vB4nL8pR3tY6w"),
    ("GitLab token", "glptt-" + "x9K2mQ7vB4nL8pR3tY6w"),
    ("Slack token", "xoxp-" + "123456789012-abcdefghijkl"),
    ("Slack token", "xoxb-" + "123456789012-abcdefghijkl"),
    ("Slack token", "xapp-1-" + "A012BCD-3456789-abcdef0123456789"),
    ("Slack webhook", "https://hooks.slack.com/services/" + "T01ABCDEF/B02GHIJKL/" + "a1B2c3D4" * 3),
    ("Anthropic key", "sk-ant-" + "api03-" + "Zk9" * 15),
    ("OpenAI key", "sk-svcacct-" + "Ab3" * 15),
    ("OpenAI key", "sk-proj-" + "Ab3" * 15),
    ("OpenAI key", "sk-" + "A1b2C3d4" * 6),
    ("Google API key", "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    ("Google OAuth token", "ya29." + "a0AfH6SMBx-1234567890abc"),
    ("Google OAuth secret", "GOCSPX-" + "1234567890abcdefghij_-k"),
    ("Stripe key", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"),
    ("Stripe key", "rk_test_" + "4eC39HqLyjWDarjtT1zdp7dc"),
    ("Stripe webhook secret", "whsec_" + "1234567890abcdef1234567890"),
    ("npm token", "npm_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("PyPI token", "pypi-AgE" + "IcHlwaS5vcmc" * 5),
    ("Hugging Face token", "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz012345"),
    ("SendGrid key", "SG." + "abcdefghijklmnopqrstuv" + "." + "A1b2" * 10),
    ("DigitalOcean token", "dop_v1_" + "0123456789abcdef" * 4),
    ("Twilio key", "SK" + "0123456789abcdef" * 2),
    ("Azure storage key", "AccountKey=" + "A1b2C3d4" * 10 + "=="),
    ("age secret key", "AGE-SECRET-KEY-1" + "QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    ("private key", "-----BEGIN OPENSSH " + "PRIVATE KEY-----"),
    ("private key", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----"),
    ("JSON web token", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NSJ9." + "dozjgNryP4J3jVmNHl0w5N"),
    ("GitHub token", "ghs_" + "123456_eyJhbGciOiJSUzI1NiJ9." + "Zk9-b_4Q" * 9 + "." + "x7Q" * 20),
    ("Cloudflare token", "cfut_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0" + "1f2e3d4c"),
    ("Cloudflare token", "cfk_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0" + "1f2e3d4c"),
    ("Supabase key", "sbp_v0_" + "0123456789abcdef0123456789abcdef01234567"),
    ("Supabase key", "sbp_oauth_" + "0123456789abcdef0123456789abcdef01234567"),
    ("Vercel token", "vcr_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    ("Vercel token", "vercel_blob_rw_" + "a1B2c3D4e5F6g7H8_i9J0k1L2m3N4o5P6q7R8i9J0k1L2m3"),
    ("Shopify token", "shpua_" + "0123456789abcdef" * 2),
    ("Shopify token", "shptka_" + "0123456789abcdef" * 2),
    ("Tailscale key", "tskey-" + "z6vD1pkZt3YxCNTRL-ug2Bvko2iIMGFylY3Ip4mk"),
    ("age secret key", "AGE-SECRET-KEY-PQ-1" + "QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    ("age secret key", "AGE-PLUGIN-YUBIKEY-1" + "QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    ("Google API key", "AQ." + "Ab8RN6cFzQ5RdwDk2xxnIZhFtdzON_S7UR53Wus3by1sFwOq"),
    ("Discord token", "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs"),
    ("Discord token", "NzA5MjgxNDk0NDc2NDU1OTg3MQ" + ".G8BS5g." + "2lmzECVlZv3vv6miVnUaKPQi2wI-xK9_mQ7vB4"),
    ("AWS Bedrock key", "ABSK" + "QmVkcm9ja0FQSUtleS" * 2 + "zlkA7CoEU0hCdtCliXnUiklYfn" * 3),
    ("HubSpot token", "pat-na1-" + "7c1e93b8-3f05-de2f-15c2-5686477a10ca"),
    ("Cursor key", "crsr_" + "0123456789abcdef" * 4),
    ("Together key", "tgp_v1_" + "kW3sLRDA4qKaK-zVuyz4ucILMDsTpqldnRzDoqR8iS9"),
    ("Cerebras key", "csk-" + "t6g2dhda1mn0j4g95s748kokqt4lujqbtwv5sj8ogszjid9x"),
    ("URL with a login", "postgres://" + "app:s3cr3tpw@db.example.org/app"),
]


@pytest.mark.parametrize(("kind", "secret"), FAKES)
def test_a_credential_is_found_in_a_sentence(kind: str, secret: str) -> None:
    """Each format is recognised within prose, and the report shows four characters."""
    found = find_secret(f"The deploy uses {secret} since June.")
    assert found is not None
    assert kind == found.kind
    assert 4 == len(found.start)


@pytest.mark.parametrize(("kind", "secret"), FAKES)
def test_masking_leaves_nothing_of_a_credential(kind: str, secret: str) -> None:
    """Neither the masked nor the redacted text holds the credential's tail."""
    for text in (mask_secrets(f"use {secret} here"), redact_fact(f"use {secret} here")):
        assert secret[6:] not in text


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn is a library; sk-ip this",
        "the commit 3f786850e387550fdab836ed7e6dc881de23001b broke it",
        "postgres://user:password@localhost is the placeholder of the docs",
        "https://example.org:8080/a@b is a URL without a login",
        "01939b7a-5f3c-7d2e-9a1b-2c3d4e5f6a7b",
        "AKIA is how AWS access keys begin",
        "-----BEGIN CERTIFICATE-----",
        "ghp_ is the prefix of GitHub's tokens",
        "use ${TOKEN} from the environment",
        "tskey-auth-… and shpat_… are prefixes, and so are cfut_[40 characters][checksum] and AGE-SECRET-KEY-1…",
        "MTU.length.of_packets_in_the_network_of_ours and NTP.server.list_of_all_the_servers_there",
        "pat-na1-one_of_the_regions and vcr_proxy_for_the_container_registry",
    ],
)
def test_what_only_speaks_of_credentials_is_no_secret(text: str) -> None:
    """Prefixes, digests, ids and placeholders may be written down."""
    assert find_secret(text) is None


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        ("staging deploys on Tuesdays", "staging deploys on Tuesdays"),
        ("mail bob@acme.com about it", "mail [address] about it"),
        ("the db is db-prod-01.acme.internal:5432", "the db is [host]"),
        ("see /etc/acme/secrets.yml and ~/x/y", "see [path] and [path]"),
        ("src/auth/login.py checks it", "[path] checks it"),
        ("10.1.2.3:8080 answers", "[address] answers"),
        ("the password is hunter2!", "the password [secret]"),
        ("token: abc123", "token [secret]"),
        ("The password of the router is Zebra99x", "The password [secret]"),
        (
            "Wifi: Zebra99x is the password of the guests. It hangs in the hall",
            "Wifi: Zebra99x is the password [secret] It hangs in the hall",
        ),
        ("see https://wiki.acme.com/x?y=z now", "see [url] now"),
        ("two\nlines \x1b[31m", "two lines [31m"),
        (
            "Acme pays with key ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 daily",
            "Acme pays with key [GitHub token] daily",
        ),
        ("see /etc/passwd bob@acme.com", "see [path] [address]"),
        (r"\\server\share and C:\Users\bob", "[path] and [path]"),
    ],
)
def test_a_redacted_line_names_the_fact_without_places(fact: str, line: str) -> None:
    """Secrets, addresses, hosts and paths are masked; the rest tells what was lost."""
    assert line == redact_fact(fact)


@given(st.text(max_size=400))
def test_redaction_gives_one_short_line_of_any_text(text: str) -> None:
    """Whatever comes in, one line of bounded length comes out."""
    line = redact_fact(text)
    assert "\n" not in line
    assert len(line) <= 120


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("The deploy password is hunter2", True),
        ("password=hunter2abc deploy", True),
        ("API key: abcd1234", True),
        ("the password is in the vault", False),
        ("rotate the token every 30 days", False),
        ("/etc/passwd: x0 is a placeholder", False),
    ],
)
def test_what_reads_like_a_password_is_noticed(text: str, tells: bool) -> None:
    """A warning on a write: prose can't be sure."""
    assert tells is names_a_secret(text)


CERTAIN = [
    ("DB_PASSWORD=k9!vQz-27", "password"),
    ("export PGPASSWORD='7h3r31sN0' && psql", "password"),
    ("docker run -e MYSQL_ROOT_PASSWORD=wq8Zr2Lm mysql:8", "password"),
    ("GITEA__TOKEN=9f3c1ab77de1", "password"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzKy9", "password"),
    ("Server=db.example;User Id=app;Password=Zk3!mm02;", "password"),
    ("curl -H 'Authorization: Bearer 3f1c9a0d7b2e4f6a8c0d'", "authorization"),
    ("authorization: bearer mF_9.B5f-4.1JqM4xWq2Zt7", "authorization"),
    ("Authorization: Basic dXNlcjpodW50ZXIyMTIz", "authorization"),
    ("password: 8sK2mPq9vXz4Lw7Rt", "secret value"),
    ('{"clientSecret": "Qx7~8bC2dE5fG9hJ1kL4mN6pQ"}', "secret value"),
    ("spring.datasource.password=aT9mK2xQ7wE4rY1uI", "secret value"),
    ("api_key => 'q8W3e7R2t9Y1u4I6o5'", "secret value"),
    ("the dbPassword := `z9Y8x7W6v5U4t3S2r1`", "secret value"),
]


@pytest.mark.parametrize(("text", "kind"), CERTAIN)
def test_what_is_set_to_a_secret_is_one(text: str, kind: str) -> None:
    """By the setting's name and a value that nobody makes up for an example."""
    found = find_secret(f"On staging {text}, they say")
    assert found is not None
    assert kind == found.kind
    value = text[found.span[0] - 11 : found.span[1] - 11]
    assert value not in mask_secrets(text)
    assert len(found.start) <= max(len(value) // 4, 1)


@pytest.mark.parametrize(
    "text",
    [
        "set DB_PASSWORD=$PGPASS", "DB_PASSWORD=<your password>", "DB_PASSWORD=${DB_PASSWORD:-x1}", "PASSWORD=changeme123",
        "API_KEY=your-api-key-123", "DB_PASSWORD=hunter2", "MAX_TOKENS=4096tokens", "TOKEN_LIFETIME=15minutes", "SECRET=/run/secrets/db1",
        "API_KEY=abc123def", "DB_PASSWORD=password123", "DB_PASSWORD=secret123", "the password is hunter2", "password: string, at least 12 letters",
        "password: hunter2", "token: IDENTIFIER", "api_key: process.env.API_KEY_2", "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-a1b2c3",
        "Authorization: Bearer $TOKEN", "Authorization: Bearer <token>", "a Bearer authentication-scheme is used", "Authorization: Bearer YOUR_ACCESS_TOKEN_12",
        "private_key: PKCS7PrivateKeyTypes", "secret: 48205d4ffd7feba3", "api-key = 9f4d9f69-275a-41fe-b58e-2b837bd9ba48", "access_key: AKEXAMPLE0912lkjsdfEXAMPLE",
        "nextToken: f/31961209122447488583055879464742346735", "passwords have 16 characters", "Rotate API_KEY=NEW_KEY_2026 in March", "secretKeyRef: name-of-the-secret-2",
        "password = getpass.getpass(prompt1)", "keyboard: ThinkPad_X1_Carbon_Gen_9_2021", "the secret: 20 minutes of kneading", "SECRET=one,two,three",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_setting_is_none(text: str) -> None:
    """Placeholders, names, places, commands and digests; a warning may be given all the same."""
    assert find_secret(text) is None


GIVEN = [
    "echo 'hunter2pass' | sudo -S apt update", "echo hunter2xyz | sudo -u bob -kS ls", "echo 'Tr0ub4dor&3' | sudo -S ls",
    "printf '%s\\n' 'Tr0ub4dor&3' | sudo -S ls", "sudo -S ls <<< 'hunter2xyz'", 'echo "deploy:hunter2xyz" | sudo chpasswd',
    "chpasswd <<< 'deploy:hunter2xyz'", 'echo -e "hunter2xyz\\nhunter2xyz" | passwd deploy', "echo hunter2xyz | passwd --stdin bob",
    "echo hunter2xyz | kinit bob@REALM", "(echo hunter2xyz; echo hunter2xyz) | smbpasswd -a bob",
    "echo hunter2xyz | gpg --batch --passphrase-fd 0 -d f", "docker login --password-stdin <<< hunter2xyz",
    "echo -n 'hunter2xyz' | cryptsetup luksAddKey /dev/sda2 -", "ssh web 'echo hunter2xyz | /usr/bin/sudo -S reboot'",
    "echo hunter2xyz | gh secret set DB", "gh secret set DB --body=hunter2xyz", "gh secret set DB -b 'hunter2xyz'",
    "useradd -m -p 'Kx9vTq2mPw' bob", "openssl passwd -6 hunter2xyz", "openssl enc -aes-256-cbc -k hunter2xyz -in x",
    "wpa_passphrase HomeNet hunter2xyz", "redis-cli AUTH hunter2xyz", "lftp -u bob,hunter2xyz ftp.x.io", "xh -a bob:hunter2xyz x.io",
    "snmpwalk -v3 -u bob -A hunter2xyz host", "htpasswd -nbB admin hunter2xyz", "htpasswd -Bbc f admin hunter2xyz",
    "mysql -p'S3cr&t99x' app", "/usr/bin/mysql -u root -pS3cret", "unrar x -phunter2xyz a.rar", "curl --user=a:hunter2xyz x.io",
    "security add-generic-password -a bob -w hunter2xyz",
]  # fmt: skip


@pytest.mark.parametrize("command", GIVEN)
def test_a_password_that_a_command_is_given_is_noticed(command: str) -> None:
    """As an option, by a pipe or by a here-string: what isn't random is withheld and worth a warning."""
    assert names_a_secret(command)
    assert not re.search("hunter2|Tr0ub4|S3cr|Kx9v", withhold_secrets(f"I ran {command} there"))


@pytest.mark.parametrize(
    "command",
    [
        'echo "$PASSWORD" | sudo -S ls', "echo YOUR_PASSWORD | sudo -S ls", 'echo "$USER:$PASS" | chpasswd', "sudo -S ls <<< $PW1",
        "echo user:password | chpasswd", "echo v2.3.1 is out | sudo tee -S x", "echo 'bob:x:1001' | sudo tee -a /etc/passwd",
        "echo net.ipv4=1 | sudo tee /etc/sysctl.d/9.conf", "echo abcd1234 | sha256sum | sudo tee -S x", "mysql -u root -p app_2024",
        "echo deb12 | sudo pacman -S vim", "openssl rand -base64 32", "openssl req -newkey rsa:2048 -keyout k2.pem", "openssl passwd -6",
        "mkdir -p src/app2 && ssh -p 2222 web", "see kernel2 | sudo -S is an option", "htpasswd -c .htpasswd2 bob",
    ],
)  # fmt: skip
def test_a_command_that_is_given_no_password_is_no_warning(command: str) -> None:
    """What it is given is a variable, a placeholder, another thing, or asked for."""
    assert not names_a_secret(command)
    assert find_secret(command) is None


@pytest.mark.parametrize(
    ("table", "secret"),
    [
        ("| password | hunter2xyz |", "hunter2xyz"), ("|Wi-Fi password|Kx9vTq2mPw|", "Kx9vTq2mPw"), ("> | **Password** | `Tr0ub4dor&3` |", "Tr0ub4dor&3"),
        ("| user | bob | password | hunter2xyz |", "hunter2xyz"), ("| DB_PASSWORD | =hunter2xyz= |", "hunter2xyz"),
        ("| host | user | password | note |\n|---+---+---+---|\n| db1 | app | hunter2xyz | x |\n| db2 | app | Zebra99x | y |", "Zebra99x"),
        ("| Passwort: | hunter2xyz |", "hunter2xyz"), ("| api key | Kx9vTq2mPw8sZLq4aB7 |", "Kx9vTq2mPw8sZLq4aB7"),
    ],
)  # fmt: skip
def test_a_password_in_a_table_is_noticed(table: str, secret: str) -> None:
    """In the cell behind its name, or in the column that the name heads."""
    text = f"All of them:\n\n{table}\n\nand that is all"
    assert names_a_secret(text)
    assert secret not in withhold_secrets(text)


@pytest.mark.parametrize(
    "table",
    [
        "| password | min length 14 |", "| test | pass | 97.3% |", "| pass | 12/14 |", "| password_hash | varchar2 |", "| token | string2 |",
        "| key | value | password |\n| a1 | b2 | c |", "| how do I reset the password of my account there | v2 |",
        "| a | b |\n\n| password | user |\n|---|---|\n| - | bob1 |", "| public key | abc12345 |", "| password | see 1Password |",
        "see | password |\nand x1 | y2", "| password |\n\n| host123 |",
    ],
)  # fmt: skip
def test_a_table_that_speaks_of_passwords_is_no_warning(table: str) -> None:
    """What it says of them, its other columns, and other tables."""
    assert not names_a_secret(table)


def test_the_head_of_a_table_that_begins_a_text_counts() -> None:
    """As anywhere else."""
    assert names_a_secret("| user | password |\n|---+---|\n| alice | Tr4vels&Pots9 |")


@pytest.mark.parametrize(
    "name", ["xoxm-some-example-thing", "xoxd-session-cookie-name", "xoxc-and-xoxd-tokens are its own"]
)
def test_the_name_of_a_kind_of_token_is_none(name: str) -> None:
    """What Slack gives out begins with a number, or is long."""
    assert not names_a_secret(name)


def test_many_letters_in_one_option_are_read_once() -> None:
    """Where each was tried as the one that counts this took minutes."""
    assert find_secret("htpasswd -" + "n" * 200_000) is None


@pytest.mark.parametrize(
    "sentence",
    [
        "Das Passwort lautet {}", "das Kennwort für den Router ist {}.", "le mot de passe du wifi est {}", "mot de passe : {}", "la contraseña es {}",
        "пароль: {}", "Пароль — {}", "パスワードは {}", "パスワードは{}です", "パスワードは「{}」です", "パスワード：{}", "密码是{}", "密碼：{}", "비밀번호는 {} 입니다",
        "la password è {}", "a senha é {}", "hasło to {}", "het wachtwoord is {}", "lösenordet är {}", "adgangskoden er {}", "şifre: {}", "รหัสผ่าน: {}",
    ],
)  # fmt: skip
def test_a_password_is_noticed_in_any_language_with_a_word_for_it(sentence: str) -> None:
    """Also where no blanks part the words."""
    text = sentence.format("Kx9vTq2mPw")
    assert names_a_secret(text)
    assert "Kx9vTq2mPw" not in withhold_secrets(text)


@pytest.mark.parametrize(
    "sentence",
    [
        "パスワードは12文字以上必要です", "パスワード：12文字以上で必ず入力してください", "パスワードは1Passwordにあります", "パスワードは secrets.yaml にあります", "密码是必填的",
        "密码：至少12位", "비밀번호는 12자 이상입니다", "das Passwort ist zu kurz", "le mot de passe est expiré", "la contraseña es obligatoria", "пароль: минимум 8 символов",
        "Пароль — обязателен", "mot de passe : 12 caractères", "lösenordet är fel",
    ],
)  # fmt: skip
def test_a_sentence_about_passwords_is_no_warning_in_any_language(sentence: str) -> None:
    """How long they must be, where they are kept, what is wrong with them."""
    assert not names_a_secret(sentence)
    assert find_secret(sentence) is None


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\u202e", "\x00"])
def test_invisible_characters_hide_no_credential(hidden: str) -> None:
    """Neither from a write nor from a refusal's line."""
    parted = f"AK{hidden}IA" + "IOSFODNN7EXAMPL2"
    assert find_secret(parted) is not None
    assert "IOSFODNN7" not in redact_fact(f"the key is {parted}, really")
    assert "IOSFODNN7" not in redact_fact(parted)


def test_a_private_key_is_masked_with_its_body() -> None:
    """Its first line alone would be of no use to anybody, and the rest is."""
    body = "\n".join(
        [
            "b3BlbnNzaC1rZXktdjE" + "AAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2g",
            "a1B2c3D4" * 8,
            "e5F6g7==",
        ]
    )
    key = "-----BEGIN OPENSSH " + f"PRIVATE KEY-----\n{body}\n-----END OPENSSH " + "PRIVATE KEY-----"
    assert "use [private key] there" == mask_secrets(f"use {key} there")


def test_entropy_tells_random_words_from_prose() -> None:
    """A random word is noticed, an ordinary one isn't."""
    assert has_high_entropy("x " + "9fK2mQ7vB4nL8pR3tY6wZ1cX5sD0gH")
    assert not has_high_entropy("internationalization-of-the-whole-thing-2024")


def test_a_part_of_a_connection_string_is_a_password() -> None:
    """Behind a semicolon, wherever that stands."""
    for text in (";Password=Zk3!mm02;", "x;Password=Zk3!mm02;"):
        found = find_secret(text)
        assert found is not None and "password" == found.kind


def test_a_public_word_is_no_warning_at_the_beginning_either() -> None:
    """What stands before it says what it is."""
    word = "9fK2mQ7vB4nL8pR3tY6wZ1cX5sD0gH"
    for before in ("ssh-rsa ", "see base64,", "the public key: "):
        assert not has_high_entropy(before + word)
    assert has_high_entropy(word)


def test_the_middle_of_a_longer_word_is_no_credential() -> None:
    """One letter before it is enough."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert [] == [*find_issued(f"see x{token}")]
    assert 1 == len([*find_issued(f"see {token}")])


def test_a_variable_is_upper_case_from_its_beginning() -> None:
    """What stands before an underscore is part of the name."""
    for name, kind in (("DB_PASSWORD", "password"), ("db_PASSWORD", "secret value")):
        found = find_secret(f"{name}: 8sK2mPq9vXz4Lw7Rt")
        assert found is not None and kind == found.kind


@pytest.mark.parametrize("word", ["compass", "coauth", "a/password", "author"])
def test_a_word_that_only_holds_a_name_sets_nothing(word: str) -> None:
    """Neither what follows it nor what the text begins with."""
    assert find_secret(f'= "kX9vPq27LmZt4RwB" of the {word}') is None


def test_a_header_is_said_to_be_one() -> None:
    """By its name, whatever scheme its value has."""
    found = find_secret("curl -H 'Authorization: Bot kX9vPq27LmZt4RwB' x")
    assert found is not None
    assert "authorization" == found.kind


def test_a_login_by_a_poor_password_is_withheld() -> None:
    """And what everybody writes into an example isn't."""
    for password, tells in (("horses", True), ("password", False), ("demo", False), ("changeme", False)):
        url = f"postgres://app:{password}@db.example.org/app"
        assert tells is (password not in withhold_secrets(f"see {url} now"))


def test_the_first_of_several_credentials_is_told() -> None:
    """As when the text is asked for alone."""
    text = f"{FAKES[2][1]} and then {FAKES[9][1]}"
    alone = find_secret(text)
    assert alone is not None
    assert (FAKES[2][0], alone.span) == (find_secrets([text])[text].kind, find_secrets([text])[text].span)


def test_of_two_credentials_that_begin_together_the_longer_is_masked() -> None:
    """The rest of it is as secret as what has a known form."""
    issued, rest = "glpat-" + "x9K2mQ7vB4nL8pR3tY6w", "kX9vPq27LmZt4RwB"
    assert rest not in mask_secrets(f"api_key={issued}:{rest} now")


def test_a_credential_within_what_may_be_a_password_is_found() -> None:
    """What is certain counts, wherever it lies in something that is only likely."""
    key = "AKIA" + "IOSFODNN7EXAMPL2"
    text = f"my password is 1-{key}"
    found = find_secret(text)
    assert found is not None
    assert ("AWS access key", "my password is 1-[AWS access key]") == (found.kind, mask_secrets(text))


def test_a_public_key_is_no_random_word_however_long_its_type() -> None:
    """OpenSSH's longest usual name of one stands before it."""
    word = "9fK2mQ7vB4nL8pR3tY6wZ1cX5sD0gH"
    assert has_high_entropy(f"key {word}")
    assert not has_high_entropy(f"ecdsa-sha2-nistp256 {word}")
