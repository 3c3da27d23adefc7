"""Publish-subscribe over Redis, and the client that everything here reaches Redis with."""

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
"""So that a flood cannot keep the daemon from polling its counters."""
HEALTH_CHECKS_MISSED = 2
"""How many intervals the answer to a health check may take; the first has passed when it is sent."""


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """Where Redis is and who we are to it."""

    url: str
    """"redis://host:6379/0", with TLS "rediss://host:6380/0", or "unix:///run/redis.sock"."""
    username: str | None = None
    password: str | None = None
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    timeout_s: float = 1.0
    """For connecting and for each answer: the daemon waits no longer."""
    reconnect_s: float = 1.0
    health_check_s: float = 5.0
    """A connection that was silent for so long is asked whether it lives."""


def client(settings: RedisSettings) -> redis.Redis:
    """A client that fails at once and leaves it to us to try again."""
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
    """Where a URL leads, without who we are there. Raises ValueError for what is not a URL of Redis."""
    parts = redis.ConnectionPool.from_url(url).connection_kwargs
    host = parts.get("path") or f"{parts.get('host', 'localhost')}:{parts.get('port', 6379)}"
    return f"{host}/{parts.get('db', 0)}"


def check_url(url: str) -> None:
    """Raises ValueError for what is not a URL of Redis, or has an option that there is not. Does not connect."""
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
    """One subscription, and a connection to publish on. Comes back by itself after Redis was away."""

    def __init__(self, settings: RedisSettings, channel: str) -> None:
        self._settings = settings
        self._channel = channel
        self._client = client(settings)
        self._subscription = _subscription(self._client)
        self._is_subscribed = False
        self._try_at_s = float("-inf")
        self._heard_at_s = float("-inf")
        self._refused: set[str] = set()
        """What we may not do, so that each is told once."""

    @property
    def is_connected(self) -> bool:
        """Is the subscription in place, as far as is known?"""
        return self._is_subscribed

    def publish(self, channel: str, payload: bytes, now_s: float) -> bool:
        """Send; False when Redis is away or refuses, or when nobody listens there."""
        if not self._connect(now_s):
            return False
        try:
            return int(self._client.publish(channel, payload)) > 0
        except redis.ResponseError as refused:
            # The connection is sound: the other channels must not suffer for this one.
            self._tell_refused(f"messages on {channel}", refused)
            return False
        except (redis.RedisError, OSError) as failed:
            self._disconnect(now_s, failed)
            return False

    def receive(self, now_s: float) -> list[bytes]:
        """What has come; nothing while Redis is away."""
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
        """Set or delete a key of the database."""
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
        """Let go of both connections."""
        with suppress(redis.RedisError, OSError):
            self._subscription.close()
        with suppress(redis.RedisError, OSError):
            self._client.close()

    def _tell_refused(self, what: str, refused: redis.ResponseError) -> None:
        if what not in self._refused:
            log.warning("Redis refuses %s: %s", what, refused)
        self._refused.add(what)

    def _require_life(self, now_s: float) -> None:
        """A Redis that was stopped keeps its connections, and only its silence tells. Raises `redis.RedisError`."""
        if self._subscription.health_check_response_counter == 0 or self._has_more():
            self._heard_at_s = now_s
        elif now_s - self._heard_at_s > HEALTH_CHECKS_MISSED * self._settings.health_check_s:
            raise redis.TimeoutError(f"it has not answered for {now_s - self._heard_at_s:.0f} s")

    def _has_more(self) -> bool:
        """Answers to our own subscribe and ping come as None, with messages perhaps behind them."""
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
