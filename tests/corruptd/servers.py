"""A real redis-server, started and ended by the test."""

import shutil
import signal
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from hitless.corruptd.redis_bus import RedisBus, RedisSettings
from waiting import wait_until

PASSWORD = "a-password-of-the-test"  # noqa: S105 - of a server that lives as long as the test


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class RedisServer:
    """Options: a password for everybody, or TLS, or an access list."""

    def __init__(self, folder: Path, *arguments: str, tls: bool = False) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is missing, and only root can install it (apt-get install redis-server)")
        self.folder = folder
        self.port = free_port()
        self._command = [program, "--save", "", "--appendonly", "no", "--dir", str(folder), "--bind", "127.0.0.1"]
        self.ca_file = folder / "ca.pem" if tls else None
        if tls:
            make_certificates(folder)
            files = {"cert": "server.pem", "key": "server.key", "ca-cert": "ca.pem"}
            self._command += ["--port", "0", "--tls-port", str(self.port), "--tls-auth-clients", "no"]
            for name, file in files.items():
                self._command += [f"--tls-{name}-file", str(folder / file)]
        else:
            self._command += ["--port", str(self.port)]
        self._command += arguments or ["--requirepass", PASSWORD]
        self._process = None
        self._open = []
        self.start()

    @property
    def url(self):
        scheme = "rediss" if self.ca_file else "redis"
        return f"{scheme}://127.0.0.1:{self.port}/0"

    def settings(self, **more):
        return RedisSettings(**{"url": self.url, "password": PASSWORD, "ca_file": self.ca_file, **more})

    def bus(self, switch_id, **more):
        bus = RedisBus(self.settings(**{"reconnect_s": 1e-3, **more}), f"SWITCH-{switch_id}")
        self._open.append(bus)
        return bus

    def client(self, database=0, **more):
        ssl = {"ssl_ca_certs": str(self.ca_file)} if self.ca_file else {}
        url = self.url.removesuffix("0") + str(database)
        client = redis.Redis.from_url(url, **{"password": PASSWORD, **ssl, **more})
        self._open.append(client)
        return client

    def listener(self, channel):
        subscription = self.client().pubsub(ignore_subscribe_messages=True)
        subscription.subscribe(channel)
        self._open.insert(0, subscription)
        return subscription

    def start(self):
        assert self._process is None
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._listens, process=self._process)

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    @contextmanager
    def silent(self):
        """Stop it without ending it: its connections stay open."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def end(self):
        self.stop()
        for connected in self._open:
            connected.close()

    def stop(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


def make_certificates(folder: Path):
    """Make an authority, and a server's certificate for 127.0.0.1 signed by it."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "rsa:2048", "-nodes")
    authority = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test", *authority)
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=redis")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    openssl("x509", "-req", "-in", "server.csr", *signed, "-out", "server.pem")
