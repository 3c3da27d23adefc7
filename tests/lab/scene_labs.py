"""Recorded scenes of the exhibit all/live, in private labs, with a look at the frames of a host's kernel."""

import json
import subprocess
import sys
import time

import pytest

from hitless.lab.programs import OwnLab
from hitless_papers.together.scenes import scenes
from warm import hitless

BURSTS = 3
ATTEMPTS = 3
"""Number of attempts: a machine that stalls a lab for longer than its slack invalidates the result."""
SNIFF = """
import json, socket, sys, select
seen = {}
with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as here:
    here.bind(("eth0", 0))
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([here, sys.stdin], [], [])
        if here in ready:
            frame, address = here.recvfrom(65536)
            if address[2] != socket.PACKET_OUTGOING:
                seen[f"{frame[12]:02x}{frame[13]:02x}"] = seen.get(f"{frame[12]:02x}{frame[13]:02x}", 0) + 1
        elif sys.stdin in ready:
            break
print(json.dumps(seen))
"""


def scene(system):
    return next(scene for scene in scenes(BURSTS) if scene.system == system)


class Sniffer:
    """Records the types of the frames that reach a host's interface."""

    def __init__(self, lab, host):
        words = [sys.executable, "-c", SNIFF]
        self._process = lab.start(host, *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "ready\n"

    def seen(self):
        return json.loads(self._process.communicate("", timeout=300)[0])


def counts(make_lab, folder, system, variant, *, record=False, drive=None, host="slow", again_if=None):
    """Return a variant's counts, status, and types of frames that a host received; skip if all attempts are late.

    ``again_if`` decides from the counts whether to make another attempt.
    """
    of, made = scene(system), None
    for _ in range(ATTEMPTS):
        lab = make_lab()
        file, recording = folder / f"{lab.name}.toml", folder / f"{lab.name}.recording"
        file.write_text(of.scenario(variant))
        more = ["--record", recording] if record else []
        lab.up(file, "--real-time", "--slack-us", "20000", "--congestion", "cubic", *more)
        sniffer = Sniffer(lab, host)
        own = OwnLab(lab.name)
        try:
            found = (drive or of.drive)(own, time.sleep)
            own.settle()
            status = own.status()
        finally:
            own.end_programs()
        types = sniffer.seen()
        lab.down()
        if record:
            hitless("lab", "replay", recording)
        if not status.is_overloaded:
            made = found, status, types
            if again_if is None or not again_if(found):
                break
    if made is None:
        pytest.skip(f"this machine could not keep up {ATTEMPTS} times: {status.warnings[0]}")
    return made
