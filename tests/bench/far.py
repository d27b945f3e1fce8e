"""Makes a server on this machine a distant one: far.py PORT HALF_ROUND_TRIP_MS BYTES_PER_SECOND. A proxy on a port of
its own, which it prints: what passes comes so much later, and all answers together are no faster than that. Ends with
its stdin."""

import asyncio
import sys
import time

PIECE = 64 << 10
AHEAD = 4096  # pieces on their way in one connection


class Line:
    """What all connections share."""

    def __init__(self, rate):
        self.rate, self.free_at = rate, 0.0

    async def carry(self, size):
        self.free_at = max(self.free_at, time.monotonic()) + size / self.rate
        await asyncio.sleep(self.free_at - time.monotonic())


async def pump(reader, writer, delay, line):
    pieces = asyncio.Queue(AHEAD)

    async def take():
        while data := await reader.read(PIECE):
            if line:
                await line.carry(len(data))
            await pieces.put((time.monotonic() + delay, data))
        await pieces.put((time.monotonic() + delay, b""))

    taking = asyncio.create_task(take())
    try:
        while True:
            due, data = await pieces.get()
            await asyncio.sleep(due - time.monotonic())
            if not data:
                writer.write_eof()
                return
            writer.write(data)
            await writer.drain()
    except OSError:
        taking.cancel()


async def main(port, delay, rate):
    line = Line(rate)

    async def connected(reader, writer):
        await asyncio.sleep(delay)  # its handshake
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pump(reader, to_writer, delay, None), pump(to_reader, writer, delay, line))
        writer.close()
        to_writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


asyncio.run(main(int(sys.argv[1]), float(sys.argv[2]) / 1000, float(sys.argv[3])))
