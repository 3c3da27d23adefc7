"""Publish-subscribe over Redis, and the Redis client for all of corruptd."""

import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.client import PubSub
from redis.retry import Retry

from hitless.corruptd.messages import PAYLOAD_BYTES_MAX

log = logging.getLogger(__name__)

MESSAGES_A_CALL = 1_000
"""Maximum number of messages per call, so that a flood cannot stop the daemon from polling its counters."""
HEALTH_CHECKS_MISSED = 2
"""Number of intervals to wait for the answer to a health check; the first is over when it is sent."""


@dataclass(frozen=True, slots=True)
class RedisSettings:
    url: str
    """"redis://host:6379/0", with TLS "rediss://host:6380/0", or "unix:///run/redis.sock"."""
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    timeout_s: float = 1.0
    """Timeout for connecting and for each answer."""
    reconnect_s: float = 1.0
    health_check_s: float = 5.0
    """Idle time of a connection before a health check."""


def client(settings: RedisSettings) -> redis.Redis:
    """Return a client that fails at once and leaves retries to us."""
    options: dict[str, object] = {
        "username": settings.username,
        "password": settings.password,
        "socket_timeout": settings.timeout_s,
        "retry": Retry(NoBackoff(), 0),
        "health_check_interval": settings.health_check_s,
    }
    if not settings.url.startswith("unix:"):
        options |= {"socket_connect_timeout": settings.timeout_s, "socket_keepalive": True}
    if settings.url.startswith("rediss:"):
        options |= {
            "ssl_ca_certs": _text(settings.ca_file),
            "ssl_certfile": _text(settings.certificate_file),
            "ssl_keyfile": _text(settings.key_file),
            "ssl_cert_reqs": "required",
            "ssl_check_hostname": True,
        }
    return redis.Redis.from_url(settings.url, **{name: value for name, value in options.items() if value is not None})


def address(url: str) -> str:
    """Return the address in a URL without its credentials. Raises ValueError unless it is a URL of Redis."""
    parts = redis.ConnectionPool.from_url(url).connection_kwargs
    host = parts.get("path") or f"{parts.get('host', 'localhost')}:{parts.get('port', 6379)}"
    return f"{host}/{parts.get('db', 0)}"


def check_url(url: str) -> None:
    """Raise ValueError unless it is a URL of Redis with known options. Does not connect."""
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("url must begin with redis://, rediss:// (TLS) or unix://")
    pool = redis.ConnectionPool.from_url(url)
    try:
        pool.connection_class(**pool.connection_kwargs)
    except (TypeError, redis.RedisError) as wrong:
        raise ValueError(f"the url has an option that the client does not know: {wrong}") from wrong


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _subscription(of: redis.Redis) -> PubSub:
    return of.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call, no-any-return, unused-ignore]


class RedisBus:
    """One subscription, and a connection to publish on. It reconnects when Redis returns."""

    def __init__(self, settings: RedisSettings, channel: str) -> None:
        self._settings = settings
        self._channel = channel
        self._client = client(settings)
        self._subscription = _subscription(self._client)
        self._is_subscribed = False
        self._try_at_s = float("-inf")
        self._heard_at_s = float("-inf")
        self._refused: set[str] = set()
        """Forbidden operations, to report each only once."""

    @property
    def is_connected(self) -> bool:
        """Is the subscription active, by its latest knowledge?"""
        return self._is_subscribed

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Send; False if Redis is away or refuses, or without subscribers."""
        if not self._connect(now_s):
            return False
        try:
            return int(self._client.publish(channel, payload)) > 0
        except redis.ResponseError as refused:
            # The connection is fine: the other channels must not suffer from this one.
            self._tell_refused(f"messages on {channel}", refused)
            return False
        except (redis.RedisError, OSError) as failed:
            self._disconnect(now_s, failed)
            return False

    def receive(self, now_s: float) -> list[bytes]:
        """Return the received messages; empty while Redis is away."""
        payloads: list[bytes] = []
        if not self._connect(now_s):
            return payloads
        try:
            self._require_life(now_s)
            for _ in range(MESSAGES_A_CALL):
                message = self._subscription.get_message(timeout=0.0)
                if message is None and not self._has_more():
                    break
                if message is not None:
                    payloads.append(message["data"][: PAYLOAD_BYTES_MAX + 1])
        except (redis.RedisError, OSError) as failed:
            self._disconnect(now_s, failed)
        return payloads

    def note(self, key: str, value: str | None, now_s: float) -> None:
        if not self._connect(now_s):
            return
        try:
            if value is None:
                self._client.delete(key)
            else:
                self._client.set(key, value)
        except redis.ResponseError as refused:
            self._tell_refused(f"the key {key}", refused)
        except (redis.RedisError, OSError) as failed:
            self._disconnect(now_s, failed)

    def close(self) -> None:
        with suppress(redis.RedisError, OSError):
            self._subscription.close()
        with suppress(redis.RedisError, OSError):
            self._client.close()

    def _tell_refused(self, what: str, refused: redis.ResponseError) -> None:
        if what not in self._refused:
            log.warning("Redis refuses %s: %s", what, refused)
        self._refused.add(what)

    def _require_life(self, now_s: float) -> None:
        """Detect a hung Redis: it keeps its connections but stops answering. Raises `redis.RedisError`."""
        if self._subscription.health_check_response_counter == 0 or self._has_more():
            self._heard_at_s = now_s
        elif now_s - self._heard_at_s > HEALTH_CHECKS_MISSED * self._settings.health_check_s:
            raise redis.TimeoutError(f"it has not answered for {now_s - self._heard_at_s:.0f} s")

    def _has_more(self) -> bool:
        """Is there more to read? Answers to our subscribe and ping come as None, possibly followed by messages."""
        connection: Any = self._subscription.connection
        return connection is not None and bool(connection.can_read(timeout=0))

    def _connect(self, now_s: float) -> bool:
        if self._is_subscribed or now_s < self._try_at_s:
            return self._is_subscribed
        try:
            self._subscription.subscribe(self._channel)
        except (redis.RedisError, OSError) as failed:
            self._disconnect(now_s, failed)
            return False
        self._is_subscribed = True
        self._heard_at_s = now_s
        log.info("connected to Redis, listening on %s", self._channel)
        return True

    def _disconnect(self, now_s: float, failed: Exception) -> None:
        log.warning("Redis is away: %s", failed)
        self._is_subscribed = False
        self._try_at_s = now_s + self._settings.reconnect_s
        with suppress(redis.RedisError, OSError):
            self._subscription.close()
        self._client.connection_pool.disconnect()
        self._subscription = _subscription(self._client)
