"""Serve a class from one machine: several processes of the app behind nginx, watched and replaced one by one.

python -m deploy.class_server                     on port 8501, a process for each core
python -m deploy.class_server --processes 4 --listen 0.0.0.0:80

Each visitor stays with one process, by a cookie that nginx sets. A process that dies or no longer answers is
replaced; its visitors' browsers connect again by themselves and, by their link, show what they showed. On SIGHUP all
processes are replaced by new ones, which read the program and the settings anew: a new one is asked for its health
before visitors come to it, and an old one goes when its visitors have gone, or after a grace. Models are mapped into
memory, so that processes share their pages; readings of sentences are shared in a folder that only this user can
enter and that is removed at the end. Needs nginx, and nothing else that `make run` does not.
"""

import argparse
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from attnviz.serve import compressed_files, log_lines

log = logging.getLogger("attnviz.class")

ROOT = Path(__file__).parents[1]
TEMPLATE = Path(__file__).with_name("nginx.conf.template")
MIME_TYPES = ("/etc/nginx/mime.types", "/usr/local/etc/nginx/mime.types", "/opt/homebrew/etc/nginx/mime.types")
LOOK = 2.0  # seconds between two looks at every process
PATIENCE = 10.0  # seconds for an answer about health
STARTS_WITHIN = 180.0
FORGIVEN = 3  # unanswered questions about health in a row, before a process is replaced
GRACE = 600.0  # seconds that visitors of an old version may stay with it; then it is gone
ENDS_WITHIN = 10.0  # seconds between the request to end and the end by force
GUARDS = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy")


@dataclass
class Worker:
    """One process of the app."""

    port: int
    process: subprocess.Popen[bytes]
    unanswered: int = 0

    def asked(self, what: str, patience: float = PATIENCE) -> Any:
        """Its answer about its health or metrics; OSError, of which URLError is one, where there is none."""
        return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/attnviz/{what}", timeout=patience)

    def healthy(self) -> bool:
        """Whether it answers."""
        try:
            return bool(self.asked("health").status == 200)
        except OSError:
            return False

    def guards(self) -> dict[str, str]:
        """The security headers of its answers."""
        with self.asked("health") as answer:
            return {name: answer.headers[name] for name in GUARDS}

    def visitors(self, patience: float = PATIENCE) -> int:
        """How many are connected; 0 where it does not say."""
        return self.counted("attnviz_visitors", patience)

    def counted(self, name: str, patience: float = PATIENCE) -> int:
        """A number of its metrics; 0 where it does not say."""
        try:
            text = self.asked("metrics", patience).read().decode()
        except OSError:
            return 0
        found = re.search(rf"^{name} (\S+)", text, re.MULTILINE)
        return int(float(found[1])) if found else 0


class ClassServer:
    """The processes and the nginx before them."""

    def __init__(self, processes: int, listen: str, folder: Path, grace: float = GRACE) -> None:
        self.count = processes
        self.listen = listen
        self.folder = folder
        self.grace = grace
        self.workers: list[Worker] = []
        self.old: list[subprocess.Popen[bytes]] = []  # replaced, and perhaps not gone yet
        self.leaving: list[threading.Thread] = []
        self.stopped = threading.Event()
        self.renew = threading.Event()
        self.environment = os.environ | {
            "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
            "ATTNVIZ_HOSTED": os.environ.get("ATTNVIZ_HOSTED", "1"),
            "ATTNVIZ_READINGS": str(folder / "readings"),
        }
        self.nginx: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the processes, wait until all are healthy, then let visitors in."""
        self.folder.chmod(0o711)  # nginx started by root reads its files as nobody
        (self.folder / "readings").mkdir(mode=0o700)
        self._copy_static()
        self.workers = [self._new_worker() for _ in range(self.count)]
        for worker in self.workers:
            self._await(worker)
        self._configure()
        command = [_nginx(), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        self.nginx = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert self.nginx.stderr is not None
        threading.Thread(target=_relay, args=(self.nginx.stderr,), daemon=True).start()
        self._await_visitors()
        log.info("%d processes at http://%s", self.count, self.listen)

    def watch(self) -> None:
        """Look after the processes until `stop`."""
        while not self.stopped.wait(LOOK):
            if self.renew.is_set():
                self.renew.clear()
                self.replace_all()
            for worker in list(self.workers):
                worker.unanswered = 0 if worker.healthy() else worker.unanswered + 1
                if worker.process.poll() is not None or worker.unanswered >= FORGIVEN:
                    log.warning("the process on port %d is gone or silent: another takes its place", worker.port)
                    self._replace_dead(worker)
            if self.nginx is not None and self.nginx.poll() is not None and not self.stopped.is_set():
                raise RuntimeError(f"nginx ended with {self.nginx.returncode}")

    def replace_all(self) -> None:
        """New processes for old ones, one at a time; the old ones stay while their visitors do."""
        for number, old in enumerate(list(self.workers)):
            new = self._new_worker()
            self._await(new)
            self.workers[number] = new
            self._configure()
            if self.nginx is not None:
                self.nginx.send_signal(signal.SIGHUP)
            self.old = [*(each for each in self.old if each.poll() is None), old.process]
            leaving = threading.Thread(target=self._let_go, args=(old,), daemon=True)
            leaving.start()
            self.leaving.append(leaving)
        log.info("all %d processes are new", len(self.workers))

    def stop(self) -> None:
        """End everything."""
        self.stopped.set()
        everything = [*self.old, *(worker.process for worker in self.workers), *([self.nginx] if self.nginx else [])]
        _end(everything, ENDS_WITHIN)
        for thread in self.leaving:
            thread.join(ENDS_WITHIN)

    def _replace_dead(self, worker: Worker) -> None:
        """Another process on the same port, so that its visitors come back to it and nginx need not be told."""
        _end([worker.process], ENDS_WITHIN)
        new = self._new_worker(worker.port)
        self.workers[self.workers.index(worker)] = new
        self._await(new)

    def _let_go(self, worker: Worker) -> None:
        """End an old process when its visitors have gone; it is asked so early that it is gone with its grace."""
        asked = time.monotonic() + max(self.grace - ENDS_WITHIN, self.grace / 2)
        while (left := asked - time.monotonic()) > 0 and worker.visitors(min(PATIENCE, left)):
            if self.stopped.wait(min(LOOK, left)):
                break
        _end([worker.process], min(ENDS_WITHIN, self.grace / 2))

    def _new_worker(self, port: int = 0) -> Worker:
        port = port or free_port()
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        command += ["--server.address", "127.0.0.1"]
        return Worker(port, subprocess.Popen(command, cwd=ROOT, env=self.environment))

    def _await(self, worker: Worker) -> None:
        end = time.monotonic() + STARTS_WITHIN
        while not worker.healthy():
            if worker.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the process on port {worker.port} did not start")
            time.sleep(0.2)

    def _await_visitors(self) -> None:
        """Wait until nginx lets visitors in: whoever hears that the app is served can open it."""
        host, _colon, port = self.listen.rpartition(":")
        host = "127.0.0.1" if host in ("", "*", "0.0.0.0") else host.strip("[]")
        end = time.monotonic() + PATIENCE
        while self.nginx is not None and self.nginx.poll() is None and time.monotonic() < end:
            with suppress(OSError):
                return socket.create_connection((host, int(port)), 1).close()
            time.sleep(0.05)
        raise RuntimeError(f"nginx does not listen at {self.listen}")

    def _configure(self) -> None:
        guards = self.workers[-1].guards().items()
        values = {
            "folder": self.folder,
            "version": secrets.token_hex(4),
            "static": self.folder / "static",
            "mime_types": next((path for path in MIME_TYPES if Path(path).exists()), ""),
            "servers": "\n    ".join(f"server 127.0.0.1:{w.port} max_fails=1 fail_timeout=2s;" for w in self.workers),
            "listen": self.listen,
            "guards": "\n    ".join(f'add_header {name} "{value}" always;' for name, value in guards),
        }
        text = TEMPLATE.read_text()
        for name, value in values.items():
            text = text.replace(f"$({name})", str(value))  # nginx writes its own variables with a bare $
        (self.folder / "nginx.conf").write_text(text)

    def _copy_static(self) -> None:
        """Streamlit's own files, each beside itself compressed, for nginx to send."""
        there = self.folder / "static"
        shutil.copytree(compressed_files.STATIC, there)
        compressed = compressed_files.prepare()
        if compressed is not None:
            shutil.copytree(compressed, there, dirs_exist_ok=True)


def _relay(complaints: IO[bytes]) -> None:
    """Log what nginx complains of, without the request, which may hold a sentence, and without whose it was."""
    for line in complaints:
        log.warning("nginx: %s", line.decode(errors="replace").partition(", client: ")[0].strip())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _end(processes: Sequence[subprocess.Popen[bytes]], within: float) -> None:
    """Ask all to end, and end by force those that are still there when the time is over."""
    end = time.monotonic() + within
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _nginx() -> str:
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    return found or sys.exit("nginx is not installed: it is Debian's package nginx-light, or nginx elsewhere")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--listen", default="127.0.0.1:8501", help="address and port for visitors")
    parser.add_argument("--grace", type=float, default=GRACE, help="seconds that an old version stays for its visitors")
    options = parser.parse_args(arguments)
    if os.environ.get("ATTNVIZ_LOG", "json") == "json":
        log_lines.begin()
    else:
        logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    _nginx()
    folder = Path(tempfile.mkdtemp(prefix="attnviz-class-"))
    server = ClassServer(options.processes, options.listen, folder, options.grace)
    signal.signal(signal.SIGHUP, lambda *_: server.renew.set())
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: server.stopped.set())
    try:
        server.start()
        server.watch()
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
