#!/usr/bin/env bash
# Runs the unit under a user manager of its own and prints what came of it as KEY=VALUE lines.
# Only to be run by test_unit.py, as root in mount and process namespaces of its own: it mounts over /run
# and /home, and whatever it starts ends with it.
set -euo pipefail
unit=$1 scripts=$2 root=$3 group=$4 install=${5:-}

# As on every machine that systemd runs: it hands credentials over by a mount.
mount --make-rshared /
mount -t tmpfs -o mode=755 placet-test /run
mount -t tmpfs -o mode=755 placet-test /home
# What the system's manager would have made.
mkdir -p /run/systemd/{system,unit-root,propagate} /run/user/0
export HOME=/home/tester XDG_RUNTIME_DIR=/run/user/0
mkdir -p "$HOME/.config/systemd/user/placet.service.d" "$HOME/.local/bin" "$HOME/.local/share/placet"
chmod 700 /run/user/0
mkdir -m 700 "$HOME/.ssh"
echo "a private key" >"$HOME/.ssh/id_ed25519"

# A control group of our own, in each hierarchy that systemd may use; the caller removes it.
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
    if [[ -w $hierarchy/cgroup.procs ]]; then
        mkdir "$hierarchy/$group"
        echo $$ >"$hierarchy/$group/cgroup.procs"
    fi
done

if [[ -z $install ]]; then
    cp "$unit" "$HOME/.config/systemd/user/placet.service"
    ln -s "$scripts/placet" "$HOME/.local/bin/placet"
fi
# The tree under test, and its interpreter, may lie where the sandbox shows nothing.
cat >"$HOME/.config/systemd/user/placet.service.d/test.conf" <<END
[Service]
Environment=PLACET_MDNS_ENABLED=false PLACET_LISTEN_HOST=127.0.0.1 PYTHONDONTWRITEBYTECODE=1
BindReadOnlyPaths=$root $("$scripts/python" -c 'import sys; print(sys.base_prefix)')
END
if [[ -z $install ]]; then
    echo "ExecStartPost=/usr/bin/env python3 $root/tests/systemd/taken_over.py %h/.local/share/placet/reached" \
        >>"$HOME/.config/systemd/user/placet.service.d/test.conf"
fi

/lib/systemd/systemd --user --log-target=console --log-level=notice >&2 &
for _ in {1..1200}; do
    systemctl --user show-environment >/dev/null 2>&1 && break
    read -r -t 0.1 <> <(:) || true
done

if [[ -n $install ]]; then
    rmdir "$HOME/.local/share/placet"
    printf 'Environment=%s\n' PLACET_MODEL_KIND=openai PLACET_MODEL_BASE_URL=http://127.0.0.1:9/v1 \
        PLACET_MODEL_NAME=m >>"$HOME/.config/systemd/user/placet.service.d/test.conf"
    PLACET_MODEL_KEY=sk-Kanarienvogel-0123456789 "$scripts/placet" service install >&2
    echo "Again=$("$scripts/placet" service install 2>&1 >/dev/null | tail -1)"
    echo "Facts=$("$scripts/placet" service status --plain | tr '\t\n' ': ')"
    echo "Key=$("$scripts/placet" doctor --plain | grep -o 'key: .*')"
    "$scripts/placet" add "Written in the sandbox" >&2
    "$scripts/placet" service install --socket >&2
    for _ in 1 2; do
        systemctl --user stop placet >&2
        echo "Away=$(systemctl --user is-active placet || true)"
        echo "Woken=$("$scripts/placet" list --plain | grep -o 'Written in the sandbox')"
    done
    echo "Back=$(systemctl --user is-active placet)"
    echo "Socket=$("$scripts/placet" doctor --plain | grep -o 'systemd listens at .*control.sock')"
    # A daemon that cannot start keeps nobody waiting, and is not started again and again for who has gone.
    systemctl --user stop placet >&2
    echo 'listen = "nowhere"' >"$HOME/.config/placet/config.toml"
    echo "Refused=$("$scripts/placet" list 2>&1 | tr '\n' ' ' || true)"
    echo "SocketThen=$(systemctl --user is-active placet.socket || true)"
    echo "Failed=$(systemctl --user is-active placet || true) $(systemctl --user show --property=NRestarts --value placet)"
    rm "$HOME/.config/placet/config.toml"
    echo "Mended=$("$scripts/placet" list --plain | grep -o 'Written in the sandbox')"
    "$scripts/placet" service uninstall >&2
    echo "After=$(systemctl --user is-active placet || true)"
    echo "Unit=$([[ -e $HOME/.config/systemd/user/placet.service ]] && echo there || echo gone)"
    echo "Data=$([[ -s $HOME/.local/share/placet/placet.db ]] && echo there || echo gone)"
    exit 0
fi

systemctl --user start placet >&2 || { systemctl --user --no-pager status placet >&2 || true; exit 1; }
echo "Before=$(systemctl --user is-active placet)"
pid=$(systemctl --user show --property=MainPID --value placet)
echo "Filters=$(awk '/^Seccomp:/ {print $2}' "/proc/$pid/status")"
"$scripts/placet" add "Written in the sandbox" >&2

cat "$HOME/.local/share/placet/reached"
echo "Escapes=$([[ -e $HOME/escaped ]] && echo there || echo none)"

# Of a daemon that is stopped nothing answers, and its watchdog, which is impatient here, has it started again.
printf '[Service]\nWatchdogSec=2\nRestartSec=100ms\n' >"$HOME/.config/systemd/user/placet.service.d/watchdog.conf"
systemctl --user daemon-reload >&2
systemctl --user restart placet >&2
kill -STOP "$(systemctl --user show --property=MainPID --value placet)"
for _ in {1..600}; do
    restarts=$(systemctl --user show --property=NRestarts --value placet)
    [[ $restarts == 1 && $(systemctl --user is-active placet) == active ]] && break
    read -r -t 0.1 <> <(:) || true
done
echo "Restarts=$restarts"
echo "Answers=$("$scripts/placet" list --plain | grep -o 'Written in the sandbox')"

# Had it taken longer than the unit allows, the manager would have killed it, and the result would say so.
systemctl --user stop placet
echo "Result=$(systemctl --user show --property=Result --value placet)"

# The relay too, in its own sandbox: it answers, and a box that is made beside it can be used at once.
relay=$HOME/.local/share/placet-relay port=$("$scripts/python" -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$relay" "$HOME/.config/systemd/user/placet-relay.service.d"
cp "${unit%placet.service}placet-relay.service" "$HOME/.config/systemd/user/placet-relay.service"
sed '/^Environment/d; /^ExecStartPost/d' "$HOME/.config/systemd/user/placet.service.d/test.conf" \
    >"$HOME/.config/systemd/user/placet-relay.service.d/test.conf"
printf '%s\n' Environment=PYTHONDONTWRITEBYTECODE=1 ExecStart= \
    "ExecStart=%h/.local/bin/placet relay up --host 127.0.0.1 --port $port --folder %h/.local/share/placet-relay" \
    >>"$HOME/.config/systemd/user/placet-relay.service.d/test.conf"
systemctl --user daemon-reload >&2
systemctl --user start placet-relay >&2 || { systemctl --user --no-pager status placet-relay >&2 || true; exit 1; }
echo "Relay=$(systemctl --user is-active placet-relay)"
secret=$("$scripts/placet" relay add home --folder "$relay" --plain | awk '$1 == "secret" {print $2}')
"$scripts/python" - "$port" "$secret" <<'END'
import ssl, sys, urllib.error, urllib.request

port, secret = sys.argv[1:]
trust = ssl.create_default_context()
trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
for name, shown in (("RelayKnown", secret), ("RelayStranger", "x")):
    place = f"https://127.0.0.1:{port}/home/{'0' * 32}"
    request = urllib.request.Request(place, headers={"Authorization": f"Bearer {shown}"})
    try:
        print(f"{name}={urllib.request.urlopen(request, context=trust).status}")
    except urllib.error.HTTPError as refusal:
        print(f"{name}={refusal.code}")
END
systemctl --user stop placet-relay
echo "RelayResult=$(systemctl --user show --property=Result --value placet-relay)"

systemctl --user start placet >&2
echo "Kept=$("$scripts/placet" list --plain | grep -o 'Written in the sandbox')"
systemctl --user stop placet

# The unit of a server, as far as a user's manager can run it: without another user, and with a folder made here.
mount -t tmpfs -o mode=755 placet-test /var
mkdir -p -m 1777 /var/tmp && mkdir -p /var/lib/placet && mkdir -m 700 /var/lib/placet/anna
mkdir -p "$HOME/.config/systemd/user/placet@.service.d"
cp "${unit%placet.service}placet@.service" "$HOME/.config/systemd/user/placet@.service"
sed -i '/^User=/d; /^StateDirectory/d; /^DevicePolicy/d; /^ProtectHome/d; /^InaccessiblePaths/d' "$HOME/.config/systemd/user/placet@.service"
printf '%s\n' '[Service]' \
    Environment="PLACET_MDNS_ENABLED=false PLACET_LISTEN_HOST=127.0.0.1 PYTHONDONTWRITEBYTECODE=1" \
    ExecStart= "ExecStart=$scripts/placet up" "ReadWritePaths=/var/lib/placet/anna" >"$HOME/.config/systemd/user/placet@.service.d/test.conf"
systemctl --user daemon-reload >&2
systemctl --user start placet@anna >&2 || { systemctl --user --no-pager status placet@anna >&2 || true; exit 1; }
export PLACET_HOME=/var/lib/placet/anna
"$scripts/placet" add "On the server" >&2
systemctl --user reload placet@anna >&2
systemctl --user stop placet@anna >&2
echo "ServerResult=$(systemctl --user show --property=Result --value placet@anna)"
systemctl --user start placet@anna >&2
echo "ServerKept=$("$scripts/placet" list --plain | grep -o 'On the server')"
systemctl --user stop placet@anna >&2
