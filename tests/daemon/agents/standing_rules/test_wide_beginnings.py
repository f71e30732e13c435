"""A beginning after which plain words are any command is known, however it is written; others are not."""

from typing import Any

from daemon.agents.standing_rules.argument_pattern import Pattern, wide_arguments

WIDE = (
    *("sh -c ", "sh", "/bin/bash -c", "bash -lc ", '"sh" -c ', "s\\h -c ", "'sh' -c ", "\tsh -c ", "  sh"),
    *(
        "env ",
        "/usr/bin/env ",
        "env A=b ",
        "A=b ",
        "A=b B=c env ",
        "PATH=",
        "A=b sh -c ",
        "sudo ",
        "sudo -u ana ",
    ),
    *("xargs ", "nohup ", "time ", "timeout 5 ", "nice -n 19 ", "watch ", "exec ", "eval ", "command ", ". "),
    *("python -c ", "python3.11 ", "/opt/python3 x.py", "perl -e ", "node ", "awk ", "sed ", "psql -c "),
    *(
        "git ",
        "git -c alias.x=",
        "git -c ",
        "git -C /srv ",
        "git -C /srv -c core.pager=",
        "git config ",
        "git rebase",
    ),
    *(
        "docker ",
        "docker run ",
        "docker exec box",
        "npm exec ",
        "npm ",
        "npx ",
        "uv run ",
        "kubectl -n a exec",
    ),
    *("docker --host x ", "docker --config x ", "docker -l info --host x run ", "podman --root x "),
    *("docker container ", "docker container run ", "docker --host x container ", "docker-compose -f a "),
    *("kubectl --kubeconfig k ", "kubectl --cluster x ", "kubectl -v 5 exec pod ", "oc --token x rsh "),
    *(
        "uv --directory sub ",
        "uv --project x ",
        "uv -n run ",
        "poetry -P a ",
        "poetry -n run ",
        "hatch -e a ",
    ),
    *("npm -w a ", "npm -f exec ", "yarn --cwd a ", "pnpm --filter a exec ", "yarn workspace a "),
    *(
        "git --git-dir x ",
        "git --namespace x ",
        "git --unheard x ",
        "go -C sub ",
        "cargo +nightly ",
        "npm --",
    ),
    *("ssh host ", "find . ", "find docs -exec ", "rsync -e ", "mytool --exec "),
    *("ghc -e ", "nc -e ", "kitty -e ", "uv run pytest ", "python -m pytest ", "a > ~/", "cat a > docs/"),
    *(
        'a > "my docs/',
        'a > "my docs"/',
        "a >& docs/",
        "a >|docs/",
        "a 2>to=",
        "sort < docs/",
        "a <<<",
        "a >>",
    ),
    *("https://a.example/;sudo ", "https://a.example/ & sudo ", "https://a.example/?q=$(", "watch the "),
    *("git status &&", "git status && ", "git status;", "git status &", "git status |", "a | sh", "(", "{ "),
    *(
        "git status\n",
        "git status\nsh -c ",
        "a\r",
        "echo $(",
        "echo `",
        "! ",
        "if ",
        "while sh",
        "if true; then ",
    ),
    *("$SHELL -c ", "${X} ", "$", "a >", "a > ", "a <", ">a sh -c ", "2>/dev/null ", "<(", "a <(sh "),
    *("/usr/bin/", "./", "bin/", "a && /usr/bin/", "/", "~/", "A=b /bin/", '"/usr/bin/', "if /bin/"),
    *("A='b c' sh -c ", "A='b;c d' sh -c ", "> 'b c' sh -c ", "git -C 'a b' ", "git -C 'a b' -c alias.x="),
    *("/bin/b*sh -c ", "/bin/ba?h -c ", "s$@h -c ", "[s]h -c ", "cmd.exe /c "),
)
PROGRAM_IS_OPEN = ("/usr/bin/", "/bin/", "/usr/bin/env", "A=b /bin/", "> 'b c' /bin/", "A='b c' /bin/")
RUN = (
    *("shell_command", "run", "cmdline", "script", "exec", "command", "Cmd", "code", "runScript", "bash"),
    *("argv", "program", "executable", "process_line", "terminalInput", "SHELL"),
)
NARROW = (
    *(
        "git status",
        "git -C /srv status",
        "git --no-pager log ",
        "git -C /srv/ --no-pager log ",
        "docker --host x ps ",
        "kubectl --context=a -n b get pods",
        "uv --directory sub sync ",
        "cargo +nightly test ",
        "git diff docs/",
        "ls ",
        "cat docs/",
        "npm test",
    ),
    *(
        "npm run test",
        "docker ps ",
        "make test",
        "echo a > b",
        "cd docs && git status",
        "A=b make ",
        "pytest -q ",
    ),
    *(
        "Weekly ",
        "Re: what's",
        "Find time",
        "ana@",
        "https://example.org/?q=",
        "echo a > docs/b ",
        "wc -c ",
        "grep -c ",
        "grep -e ",
        "shell",
        "python-tool ",
        "envoy ",
        "cat 'a b' ",
        "A='b c' make ",
        "git -C 'a b' status",
    ),
)


def test_a_beginning_is_wide_if_plain_words_after_it_are_any_command() -> None:
    for beginnings, expected in ((WIDE, ["command"]), (NARROW, [])):
        wrong = [text for text in beginnings if wide_arguments(Pattern({}, {"command": text})) != expected]
        assert not wrong, expected
    address = "https://api.example.org/search?lang=en&q="
    names = ("url", "address", "command", "shell_command", "run")
    assert wide_arguments(Pattern({}, dict.fromkeys(names, address))) == ["command", "run", "shell_command"]
    assert not wide_arguments(Pattern({"command": "sh -c ls"}, {"file": "/srv/", "subject": "Weekly"}))
    assert wide_arguments(Pattern({}, {"b": "sh -c ", "a": "env ", "c": "ls "})) == ["a", "b"]


def test_an_argument_that_is_run_may_not_begin_within_its_program() -> None:
    for beginning in PROGRAM_IS_OPEN:
        wide = wide_arguments(Pattern({}, dict.fromkeys(RUN, beginning)))
        assert wide == sorted(RUN), beginning
    assert not wide_arguments(Pattern({}, dict.fromkeys(("file", "path", "to"), "/usr/bin/")))


def test_a_program_that_runs_others_allows_no_open_argument_beside_it() -> None:
    alone = ("bash", "bash -c", ["bash", "-c"], ["/usr/bin/env"], "sudo -n", "/bin/b*sh", "A=b sh", ["sh"])
    for program in alone:
        assert wide_arguments(Pattern({"command": program}, {"args": "ls ", "input": "-c "})) == [
            "args",
            "input",
        ], program
    complete: tuple[Any, ...] = ("make", "sh -c ls", ["bash", "-c", "ls"], "git status", "", [], 1, None, {})
    for whole in complete:
        assert not wide_arguments(Pattern({"command": whole, "topic": "node"}, {"args": "ls "})), whole
