"""The whole examination: the ground first, then the models, then every engine that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

from engines.errors import EngineError
from engines.models import ModelError, load_lock
from engines.proofs import prove_vad
from engines.setup import Kind
from server.doctor import ground
from server.doctor.database import check_database
from server.doctor.engine_checks import EngineChecks
from server.doctor.findings import fault, not_checked, ok
from server.doctor.model_files import ModelFiles
from server.doctor.report import Report
from server.live.own_processes import OwnProcesses
from server.settings import Settings
from server.settings.engines import KINDS

SPEECH_KINDS: tuple[Kind, ...] = ("stt", "tts")


async def examine(settings: Settings, limit_s: float, report: Report) -> None:
    """Check everything, and tell ``report`` of each thing as it is done; ``limit_s`` bounds each inference.

    Engines of this machine are started, proven and stopped; however this ends, none is left running.
    """
    try:
        profile = load_lock().profile(settings.profile)
    except ModelError as error:
        report.tell(fault("models", str(error), "Install relance anew with make setup."))
        return
    onnxruntime = ground.check_onnxruntime()
    report.tell(onnxruntime)
    report.tell(ground.check_memory(settings, profile))
    report.tell(ground.check_data_dir(settings.data_dir))
    report.tell(await check_database(settings.database_url, limit_s))
    report.tell(await asyncio.to_thread(ground.check_tokens, settings))
    report.tell(await asyncio.to_thread(ground.check_port, settings.host, settings.port))
    with report.doing("reading the model files"):
        files = await asyncio.to_thread(ModelFiles.looked_at, settings, profile)
    for finding in files.findings:
        report.tell(finding)
    await _check_vad(files, report)
    blocked: dict[Kind, str] = {kind: "its models come first" for kind in KINDS if not files.serve(kind)}
    if onnxruntime.status == "fault":  # the speech worker would end with the same fault
        blocked |= dict.fromkeys(SPEECH_KINDS, "onnxruntime comes first")
    await _check_engines(settings, files, blocked, limit_s, report)


async def _check_vad(files: ModelFiles, report: Report) -> None:
    if "vad" in files.broken:
        report.tell(not_checked("vad", "its model comes first"))
        return
    # Loaded here and not above: a library that fails to load must not take the whole report with it.
    try:
        from engines.silero import SileroVoiceActivity

        vad = SileroVoiceActivity(files.store.path(files.profile, "vad"))
        measured = await prove_vad(vad, files.profile.language)
    except ImportError as error:
        report.tell(fault("vad", f"onnxruntime cannot be loaded: {error}", "Install relance anew with make setup."))
    except (EngineError, ModelError) as error:
        mend = f"Run: {files.store.fetch_command(files.profile)}, or install relance anew with make setup."
        report.tell(fault("vad", str(error).removeprefix("vad: "), mend))
    else:
        report.tell(ok("vad", f"silero, in the server: {measured}"))


async def _check_engines(
    settings: Settings, files: ModelFiles, blocked: Mapping[Kind, str], limit_s: float, report: Report
) -> None:
    kinds = frozenset(kind for kind in KINDS if kind not in blocked)
    async with AsyncExitStack() as stack:
        own = await asyncio.to_thread(OwnProcesses.of, settings, files.profile, files.store, kinds)
        checks = EngineChecks(files, own, blocked, limit_s, report)
        await checks.start(stack)
        for kind in KINDS:
            for choice in settings.choices(kind):
                await checks.check(choice)
