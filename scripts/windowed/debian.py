# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder with a Debian that has the real Blender in it, because bpy as a Python module has no window."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

RELEASE = "sid"  # the only one with a Blender that can be used here
SECONDS = 1200  # that each step of making it may take: mirrors can be slow, and so can a machine with much else to do
PACKAGES = (
    "blender",
    *("python3-numpy", "python3-requests", "python3-cattr", "python3-zstandard", "python3-certifi"),  # its extensions
    *("xvfb", "xauth", "libgl1", "libegl1", "libgl1-mesa-dri"),  # a display without a screen, drawing without a card
    "imagemagick",  # pictures of it
)
# Of a Blender that is only run: a third less to unpack.
LEFT_OUT = ("doc", "man", "info", "locale")
KEPT = ("locale/languages", "locale/de/LC_MESSAGES/blender.mo")  # Blender's interface in one other language
# A mirror may be behind by more than the archive allows; the signatures are checked nevertheless.
APT = ("-o", "Acquire::Check-Valid-Until=false", "-o", "Acquire::Retries=3", "-q", "-y", "--no-install-recommends")

# In namespaces of its own: what is mounted goes with the last process, no process outlives the first or its starter,
# and there is no network but where it is asked for.
SPACES = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
# $1 is the Debian's folder, $2 one that is its /tmp. The shell stays as the first process: to one with the number 1
# Xvfb does not tell that it is ready.
ENTER = 'mount --bind "$2" "$1/tmp"; mount -t proc proc "$1/proc"; root=$1; shift 2; chroot "$root" "$@"; exit 0'


class UnavailableError(Exception):
    """There can be no such Debian on this machine; the message says why."""


def require(folder: Path) -> None:
    """Make the Debian if it is not there. Takes minutes, about 350 MB to download and 1.5 GB on the disk.

    Raises UnavailableError, and then leaves nothing behind.
    """
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        raise UnavailableError("only root on Linux can make a Debian in a folder, and run in it")
    if whole(folder):
        return
    if folder.exists():
        raise UnavailableError(f"{folder} is there and has no Blender in it; remove it, or name another with --chroot")
    if shutil.which("debootstrap") is None:
        _install_debootstrap()
    print(f"Making a Debian with Blender in {folder} (minutes, 1.5 GB)", flush=True)
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # of a run that was interrupted
    partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        _fill(partial)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def whole(folder: Path) -> bool:
    """Return True if a Debian with Blender and a display is installed."""
    names = ("blender", "Xvfb", "magick")
    return all(os.path.lexists(folder / "usr/bin" / name) for name in names)  # a link may lead nowhere from out here


def command_in(folder: Path, tmp: Path, *command: str, network: bool = False) -> list[str]:
    """Return the command line that runs a command in the Debian, with `tmp` as its /tmp; children end with it."""
    spaces = SPACES if network else (*SPACES, "--net")
    return [*spaces, "sh", "-ec", ENTER, "sh", str(folder.resolve()), str(tmp.resolve()), *command]


def _install_debootstrap() -> None:
    if shutil.which("apt-get") is None:
        raise UnavailableError("there is neither debootstrap nor apt-get to install it")
    _run(["apt-get", "update", "-q"])
    _run(["apt-get", "install", *APT, "debootstrap", "debian-archive-keyring"])


def _fill(folder: Path) -> None:
    base = ("debootstrap", "--variant=minbase", "--include=ca-certificates", RELEASE, str(folder), _mirror())
    _run([*SPACES, "--mount-proc", *base])
    (folder / "etc/mtab").symlink_to("/proc/mounts")
    excluded = (f"path-exclude=/usr/share/{name}/*\n" for name in LEFT_OUT)
    kept = (f"path-include=/usr/share/{name}\n" for name in KEPT)
    # Nor does it wait for the disk after each package: what is not whole is taken away and made anew.
    slim = "".join([*excluded, *kept, "force-unsafe-io\n"])
    (folder / "etc/dpkg/dpkg.cfg.d/slim").write_text(slim, encoding="utf-8")
    for command in (["update"], ["install", *PACKAGES], ["clean"]):
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "apt-get", *APT, *command]
        _run(command_in(folder, folder / "var/tmp", *apt, network=True))
    if not whole(folder):
        raise UnavailableError(f"Debian {RELEASE} has no Blender at present")


def _mirror() -> str:
    """The mirror of Debian that this machine uses already, or that DEBIAN_MIRROR names."""
    known = [os.environ["DEBIAN_MIRROR"]] if "DEBIAN_MIRROR" in os.environ else []
    if not known and shutil.which("apt-get"):
        asked = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
        known = [address for address in said if address.rstrip("/").endswith("/debian")]
    if not known:
        raise UnavailableError("no mirror of Debian is known here; name one in DEBIAN_MIRROR")
    return known[0]


def _run(command: list[str]) -> None:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    try:
        done = subprocess.run(command, **pipes, text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{' '.join(command)} was not done in {SECONDS} s") from error
    if done.returncode:
        last = "\n  ".join(done.stdout.splitlines()[-8:])
        raise UnavailableError(f"{' '.join(command)} ended with {done.returncode}:\n  {last}")
