"""How do far nodes answer? A relay that hands on every byte half a round trip later: `delay.py MS PORT ...`

Prints one line with the ports on which it listens, one for each PORT of loopback; ends with its stdin.
"""

from __future__ import annotations

import asyncio
import sys


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def fill() -> None:
        try:
            while data := await reader.read(65536):
                queue.put_nowait((loop.time() + seconds, data))
        except OSError:
            pass
        queue.put_nowait((loop.time() + seconds, b""))

    filling = asyncio.create_task(fill())
    try:
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not data:
                break
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    filling.cancel()
    writer.close()


async def main(milliseconds: float, ports: list[int]) -> None:
    def relay_to(port: int):
        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # As in the figures that the bar was set by, the handshake of TCP itself is not delayed.
            there, back = await asyncio.open_connection("127.0.0.1", port)
            half = milliseconds / 2000
            await asyncio.gather(pump(reader, back, half), pump(there, writer, half))

        return relay

    servers = [await asyncio.start_server(relay_to(port), "127.0.0.1", 0) for port in ports]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), [int(word) for word in sys.argv[2:]]))
