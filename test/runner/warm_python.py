# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One interpreter for all Python that tests run: `%python` in a RUN line. To import torch takes 2 s of a processor, more than most tests do
with it. A server of each run of lit has imported it, and forks for each script.

    warm_python.py --serve FOLDER PID MODULE..    listens at FOLDER/socket until the process PID ends
    warm_python.py SCRIPT ARGUMENT..              (or -c TEXT) what `python SCRIPT ARGUMENT..` does, by the server of $TAYLOR_WARM_PYTHON

A script has its own process, folder, environment, arguments and streams. Where more than that differs from the server's surroundings
(threads of OpenMP, limits, cores, network, user), and for other options of python, the client becomes a plain interpreter instead, as without
a server. If the client is killed, so is the script."""
import os
import sys

# What libraries or the interpreter read once, when they are loaded.
READ_ONCE = ("LD_", "OMP_", "GOMP_", "MKL_", "KMP_", "OPENBLAS_", "PYTHON", "MALLOC_", "GLIBC_", "ASAN_", "UBSAN_", "TORCH", "CUDA_", "LC_", "LANG", "TZ")


def surroundings():
    """What a process inherits and a fork of the server would not have, as text."""
    import resource

    limits = [resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource)) if name.startswith("RLIMIT_")]
    environment = sorted((k, v) for k, v in os.environ.items() if k.startswith(READ_ONCE))
    network = os.readlink("/proc/self/ns/net")
    return repr((environment, limits, sorted(os.sched_getaffinity(0)), network, os.getuid(), os.geteuid(), os.getpriority(os.PRIO_PROCESS, 0)))


def socket_path(folder):
    """A name of FOLDER/socket that is short enough for a socket, and the descriptor that it holds open."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    return f"/proc/self/fd/{descriptor}/socket", descriptor


# The client. It imports as little as it can.


def ask(arguments):
    """The script's exit status by the server, or None where it does not take it."""
    import _socket
    import marshal
    import struct

    folder = os.environ.get("TAYLOR_WARM_PYTHON")
    if not folder or not arguments or (arguments[0].startswith("-") and arguments[0] != "-c"):
        return None
    try:
        path, _ = socket_path(folder)
        server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        server.connect(path)
    except OSError:
        return None
    mask = os.umask(0)
    os.umask(mask)
    request = marshal.dumps((arguments, os.getcwd(), dict(os.environ), mask, surroundings()))
    try:
        server.sendmsg([struct.pack("<Q", len(request))], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))])
    except OSError:  # a stream is closed
        return None
    server.sendall(request)
    reply = b""
    while len(reply) < 16 and (more := server.recv(16 - len(reply))):
        reply += more
    if len(reply) < 16:
        sys.exit("warm_python: the server has ended")
    status, seconds = struct.unpack("<qd", reply)
    if status == REFUSED:
        return None
    if "TAYLOR_TEST_SECONDS" in os.environ:
        with open(os.environ["TAYLOR_TEST_SECONDS"], "a") as f:
            f.write(f"{seconds}\n")
    return status


REFUSED = 1 << 32


def run_client(arguments):
    status = ask(arguments)
    if status is None:
        os.execv(sys.executable, [sys.executable, *arguments])
    if status < 0:
        import signal

        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


# The server.


def receive(connection):
    """A client's request and its three streams."""
    import array
    import marshal
    import socket
    import struct

    streams = array.array("i")
    head, control, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(3 * streams.itemsize))
    for level, kind, data in control:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            streams.frombytes(data)
    (size,) = struct.unpack("<Q", head)
    request = b""
    while len(request) < size and (more := connection.recv(size - len(request))):
        request += more
    return marshal.loads(request), list(streams)


def become_script(arguments, folder, environment, mask, streams):
    """In the script's own process: runs it, and ends."""
    import atexit
    import runpy
    import signal
    import threading
    import traceback

    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1, errors="backslashreplace")
    os.chdir(folder)
    os.umask(mask)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = 0
    try:
        if arguments[0] == "-c":
            sys.argv = ["-c", *arguments[2:]]
            sys.path[0] = ""
            main = type(sys)("__main__")
            sys.modules["__main__"] = main
            exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
        else:
            sys.argv = arguments
            sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))
            runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            pass
    os._exit(status & 255)


def handle(connection, own):
    """In a process for this client: starts the script, and answers when it has ended; ends it when the client has."""
    import select
    import signal
    import struct

    (arguments, folder, environment, mask, client), streams = receive(connection)
    if client != own:
        connection.sendall(struct.pack("<qd", REFUSED, 0))
        return
    script = os.fork()
    if script == 0:
        connection.close()
        become_script(arguments, folder, environment, mask, streams)
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(script)
    ready, _, _ = select.select([ended, connection], [], [])
    if ended not in ready:
        try:
            os.killpg(script, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(script, signal.SIGKILL)
    _, status, used = os.wait4(script, 0)
    connection.sendall(struct.pack("<qd", os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime))


def serve(folder, owner, modules):
    import gc
    import importlib
    import select
    import shutil
    import signal
    import socket

    path, _ = socket_path(folder)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    server.listen(64)
    own = surroundings()
    for module in modules:
        importlib.import_module(module)
    gc.freeze()  # what is shared with scripts stays so
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    ended = os.pidfd_open(owner)
    while ended not in (ready := select.select([server, ended], [], [])[0]):
        connection, _ = server.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            server.close()
            handle(connection, own)
            os._exit(0)
        connection.close()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
    else:
        run_client(sys.argv[1:])
