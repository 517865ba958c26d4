"""Why a piper process ends at once: what it says when it is run by hand."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

MAX_CHARS = 300


async def last_words(command: Sequence[str], limit_s: float) -> str:
    """Run ``command`` without a line to say; return the last line of its standard error, or nothing.

    It is given no text, so that it cannot quote any. Nothing of it is left running.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limit_s):
            _, errors = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.shield(process.wait())
    lines = [line for line in errors.decode(errors="replace").splitlines() if any(map(str.isalpha, line))]
    return lines[-1].strip()[:MAX_CHARS] if lines else ""
