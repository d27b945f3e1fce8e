"""A screen of its own, keys, and a look at the pixels: for tests and pictures of the real window."""
import os
import struct
import subprocess
import sys
import time
import zlib

SIZE = (1600, 1000)
PATIENCE = 60


def wait_for(what, condition):
    begin = time.monotonic()
    while time.monotonic() - begin < PATIENCE:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    sys.exit(f"waited {PATIENCE} s in vain for {what}")


class Screen:
    """An X server with nobody else on it."""

    def __enter__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        self.display = ":" + os.read(read, 16).decode().strip()
        self.environment = {**os.environ, "DISPLAY": self.display, "QT_QPA_PLATFORM": "xcb"}
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def tool(self, *words):
        return subprocess.run(["xdotool", *words], env=self.environment, capture_output=True, text=True)

    def window(self, title):
        found = self.tool("search", "--onlyvisible", "--name", title).stdout.split()
        return found[-1] if found else None

    def press(self, window, *keys):
        self.tool("windowfocus", "--sync", window)
        for key in keys:
            self.tool("key", "--clearmodifiers", key)
            time.sleep(0.1)

    def pixels(self, x, y, width, height):
        """The part of the screen as rows of bytes."""
        dump = subprocess.run(["xwd", "-root", "-silent"], env=self.environment, capture_output=True, check=True).stdout
        head = struct.unpack(">25I", dump[:100])
        begin = head[0] + head[19] * 12
        stride, size = head[12], head[11] // 8
        return [dump[begin + row * stride + x * size:begin + row * stride + (x + width) * size]
                for row in range(y, y + height)]

    def picture(self, path):
        """The whole screen as a PNG file."""
        rows = self.pixels(0, 0, *SIZE)
        lines = bytearray()
        for row in rows:
            line = bytearray(3 * SIZE[0])
            size = len(row) // SIZE[0]
            line[0::3], line[1::3], line[2::3] = row[2::size], row[1::size], row[0::size]
            lines += b"\0" + line

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *SIZE, 8, 2, 0, 0, 0))
                         + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))
