"""Serve a class from one machine: several processes of the app behind nginx, watched and replaced one by one.

python -m deploy.class_server                     on port 8501, a process for each core
python -m deploy.class_server --processes 4 --listen 0.0.0.0:80

Each visitor stays with one process, by a cookie that nginx sets. A process that dies or no longer answers is
replaced, and so is nginx, and a process that has reached its memory (`ATTNVIZ_PROCESS_MB`); its visitors' browsers
connect again by themselves and, by their link, show what they showed. On SIGHUP all processes are replaced by new
ones, which read the program and the settings anew: a new one is asked for its health before visitors come to it, and
an old one goes when its visitors have gone, or after a grace. All end with this program, however it ends. Models are
mapped into memory, so that processes share their pages; readings of sentences are shared in a folder that only this
user can enter and that is removed at the end, or by the next server where this one was killed. Needs nginx, and
nothing else that `make run` does not.
"""

import argparse
import fcntl
import http.client
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
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from attnviz.rooms.addresses import is_local, own_address
from attnviz.serve import compressed_files, log_lines, process_limits

log = logging.getLogger("attnviz.class")

ROOT = Path(__file__).parents[1]
TEMPLATE = Path(__file__).with_name("nginx.conf.template")
MIME_TYPES = ("/etc/nginx/mime.types", "/usr/local/etc/nginx/mime.types", "/opt/homebrew/etc/nginx/mime.types")
LOOK = 2.0  # seconds between two looks at every process
PATIENCE = 10.0  # seconds for an answer about health
STARTS_WITHIN = 180.0
FORGIVEN = 3  # looks in a row at which a process does not answer, or has too much memory, before it is replaced
HURRY = 30.0  # the same for a process that has reached its memory
GRACE = 600.0  # seconds that visitors of an old version may stay with it; then it is gone
FOLDERS = "attnviz-class-"  # how folders of servers begin in the system's folder for temporary files
ENDS_WITHIN = 10.0  # seconds between the request to end and the end by force
GUARDS = ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy")


@dataclass
class Worker:
    """One process of the app."""

    port: int
    process: subprocess.Popen[bytes]
    unanswered: int = 0
    full: int = 0  #: looks in a row at which it had reached its memory
    answered: bool = False  #: once, at least
    born: float = field(default_factory=time.monotonic)

    def asked(self, what: str, patience: float = PATIENCE) -> Any:
        """Its answer about its health or metrics; OSError, of which URLError is one, where there is none."""
        return urllib.request.urlopen(f"http://127.0.0.1:{self.port}/attnviz/{what}", timeout=patience)

    def healthy(self) -> bool:
        """Whether it lives and answers: who else listens there is not it."""
        try:
            self.answered |= (answers := self.process.poll() is None and self.asked("health").status == 200)
        except (OSError, http.client.HTTPException):
            return False
        return answers

    def is_lost(self) -> bool:
        """Whether another must take its place. Asks it."""
        self.unanswered = 0 if self.healthy() else self.unanswered + 1
        slow = self.unanswered >= FORGIVEN if self.answered else time.monotonic() - self.born > STARTS_WITHIN
        return self.process.poll() is not None or slow

    def is_full(self, most: int) -> bool:
        """Whether it keeps more than so many bytes: what it takes for a moment ends nobody's visit. Asks it."""
        self.full = self.full + 1 if self.counted("attnviz_own_memory_bytes") >= most else 0
        return self.full >= FORGIVEN

    def guards(self) -> dict[str, str]:
        """The security headers of its answers."""
        with self.asked("health") as answer:
            return {name: answer.headers[name] for name in GUARDS}

    def counted(self, name: str, patience: float = PATIENCE) -> int:
        """A number of its metrics; 0 where it does not say."""
        try:
            text = self.asked("metrics", patience).read().decode()
        except (OSError, http.client.HTTPException):
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
        self.token = secrets.token_hex(16)  #: by which its own nginx is told from any other
        self.files = process_limits.open_more_files()
        self.most_memory = process_limits.memory_mark(processes)  #: MB of each process's own
        self.environment = os.environ | {
            "ATTNVIZ_PROCESS_MB": str(self.most_memory),
            "STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32),
            "ATTNVIZ_HOSTED": os.environ.get("ATTNVIZ_HOSTED", "1"),
            "ATTNVIZ_READINGS": str(folder / "readings"),
        }
        host, _colon, port = listen.rpartition(":")
        if not is_local(host.strip("[]")):  # each process listens to nginx alone, which others reach
            host = own_address() if host in ("", "*", "0.0.0.0", "[::]") else host
            self.environment.setdefault("ATTNVIZ_ADDRESS", f"http://{host}:{port}")
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
        self._start_nginx()
        log.info("%d processes at http://%s", self.count, self.listen)

    def watch(self) -> None:
        """Look after the processes until `stop`."""
        while not self.stopped.wait(LOOK):
            if self.renew.is_set():
                self.renew.clear()
                self.replace_all()
            if lost := [worker for worker in self.workers if worker.is_lost()]:
                self._replace_lost(lost)
            for worker in [each for each in self.workers if each.answered]:
                if worker.is_full(self.most_memory * 10**6):
                    log.warning("the process on port %d has reached its memory: another takes its place", worker.port)
                    self._renew(worker, min(HURRY, self.grace))
            if self.nginx is not None and self.nginx.poll() is not None and not self.stopped.is_set():
                log.warning("nginx ended with %d: it is started anew", self.nginx.returncode)
                self._start_nginx()

    def replace_all(self) -> None:
        """New processes for old ones, one at a time; the old ones stay while their visitors do."""
        for old in list(self.workers):
            self._renew(old, self.grace)
        log.info("%d processes are new", len(self.workers))

    def stop(self) -> None:
        """End everything."""
        self.stopped.set()
        _end([*self.old, *(worker.process for worker in self.workers)], ENDS_WITHIN)
        if self.nginx is not None:
            _end([self.nginx], ENDS_WITHIN)
            _end_group(self.nginx)
        for thread in self.leaving:
            thread.join(ENDS_WITHIN)

    def _replace_lost(self, lost: Sequence[Worker]) -> None:
        """Others on the same ports, all at once, so that visitors come back to them and nginx need not be told.

        They are waited for by the next looks.
        """
        for worker in lost:
            log.warning("the process on port %d is gone or silent: another takes its place", worker.port)
        _end([worker.process for worker in lost], ENDS_WITHIN)
        for worker in lost:
            self.workers[self.workers.index(worker)] = self._new_worker(worker.port)

    def _renew(self, old: Worker, grace: float) -> None:
        """A new process, and when it answers the end of the old one, whose visitors may stay for a grace."""
        new = self._new_worker()
        try:
            self._await(new)
        except RuntimeError as failed:
            log.error("%s: the old one stays", failed)
            _end([new.process], ENDS_WITHIN)
            return
        self.workers[self.workers.index(old)] = new
        self._configure()
        if self.nginx is not None:
            self.nginx.send_signal(signal.SIGHUP)
        self.old = [*(each for each in self.old if each.poll() is None), old.process]
        leaving = threading.Thread(target=self._let_go, args=(old, grace), daemon=True)
        leaving.start()
        self.leaving.append(leaving)

    def _let_go(self, worker: Worker, grace: float) -> None:
        """End an old process when its visitors have gone; it is asked so early that it is gone with its grace."""
        asked = time.monotonic() + max(grace - ENDS_WITHIN, grace / 2)
        while (left := asked - time.monotonic()) > 0 and worker.counted("attnviz_visitors", min(PATIENCE, left)):
            if self.stopped.wait(min(LOOK, left)):
                break
        _end([worker.process], min(ENDS_WITHIN, grace / 2))

    def _new_worker(self, port: int = 0) -> Worker:
        port = port or free_port()
        ends = process_limits.end_with_parent()
        return Worker(port, subprocess.Popen(self._command(port), cwd=ROOT, env=self.environment, preexec_fn=ends))

    def _command(self, port: int) -> list[str]:
        """Starts a process of the app."""
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        return [*command, "--server.address", "127.0.0.1"]

    def _start_nginx(self) -> None:
        """Start nginx, in a group of its own: where its first process was killed the others would hold the port."""
        if self.nginx is not None:
            _end_group(self.nginx)
        self.nginx = subprocess.Popen(
            [_nginx(), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")],
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=process_limits.end_with_parent(signal.SIGTERM),  # which it hands on to the others
        )
        assert self.nginx.stderr is not None
        threading.Thread(target=_relay, args=(self.nginx.stderr,), daemon=True).start()
        self._await_visitors()

    def _await(self, worker: Worker) -> None:
        end = time.monotonic() + STARTS_WITHIN
        while not worker.healthy():
            if worker.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the process on port {worker.port} did not start")
            time.sleep(0.2)

    def _await_visitors(self) -> None:
        """Wait until this nginx, and no other, lets visitors in: who hears that the app is served can open it."""
        host, _colon, port = self.listen.rpartition(":")
        host = "127.0.0.1" if host in ("", "*", "0.0.0.0") else host.strip("[]")
        end = time.monotonic() + PATIENCE
        while self.nginx is not None and self.nginx.poll() is None and time.monotonic() < end:
            asked = http.client.HTTPConnection(host, int(port), timeout=1)
            with suppress(OSError, http.client.HTTPException), closing(asked):
                asked.request("GET", f"/attnviz/class/{self.token}")
                if asked.getresponse().status == 204:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"nginx does not listen at {self.listen}")

    def _configure(self) -> None:
        guards = self.workers[-1].guards().items()
        values = {
            "folder": self.folder,
            "files": self.files,
            "token": self.token,
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


def _end_group(leader: subprocess.Popen[bytes]) -> None:
    """End what is left of a group by force."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader.pid, signal.SIGKILL)


def _end_left_nginx(folder: Path) -> None:
    """End the nginx of a killed server: killed in the same instant, it leaves processes that hold the port."""
    with suppress(OSError, ValueError):
        group = int((folder / "nginx.pid").read_text())
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has just ended
                name, _bracket, fields = stat.read_text().rpartition(")")
                if name.endswith("(nginx") and int(fields.split()[2]) == group:
                    os.kill(int(stat.parent.name), signal.SIGKILL)


def own_folder() -> tuple[Path, IO[str]]:
    """A folder for this server, held for as long as the file beside it is open; those that nobody holds are removed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        with suppress(OSError), (folder / "held").open("r+") as held:
            if folder.stat().st_uid == os.getuid():
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _end_left_nginx(folder)
                shutil.rmtree(folder, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=FOLDERS))
    held = (folder / "held").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    return folder, held


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
        log_lines.begin_logging()
    else:
        logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    _nginx()
    folder, _held = own_folder()
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
