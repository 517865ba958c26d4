"""Performs the exam's effects, each in one place, at once: whatever takes time was started and reports a fact later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from server.exam import effects as do
from server.exam.effects import Effect
from server.exam.facts import AudioPlayed, Fact
from server.live.contracts import Contract
from server.live.ear import Ear
from server.live.outbox import Outbox
from server.live.recorder import Recorder
from server.live.speaker import Speaker
from server.live.voice import Voice


@dataclass(frozen=True, slots=True)
class Performer:
    """The parts of one session that effects are performed on."""

    contract: Contract
    captions: bool
    ear: Ear
    voice: Voice
    speaker: Speaker
    recorder: Recorder
    outbox: Outbox
    group: asyncio.TaskGroup
    post: Callable[[Fact], None]

    def perform(self, effect: Effect) -> None:
        """Perform any effect but ``Close``, which is the coordinator's own."""
        match effect:
            case do.TakeStock() | do.PauseListening() | do.ResumeListening() | do.StopListening():
                self._listen(effect)
            case do.WarmUp(prompt):
                self.voice.warm_up(prompt)
            case do.PrepareReply() | do.Say() | do.CancelReply():
                self._reply(effect)
            case do.Record(transcript, final):
                self.recorder.record(transcript, final=final)
            case do.Evaluate():
                self.group.create_task(self.recorder.evaluate(), name="evaluate")
            case _:
                for frame in self.contract.encode(effect, captions=self.captions):
                    self.outbox.send(frame)

    def _listen(self, effect: do.TakeStock | do.PauseListening | do.ResumeListening | do.StopListening) -> None:
        match effect:
            case do.TakeStock(turn):
                self.ear.take_stock(turn)
            case do.PauseListening():
                self.ear.pause()
            case do.ResumeListening():
                self.ear.resume()
            case do.StopListening():
                self.ear.stop()

    def _reply(self, effect: do.PrepareReply | do.Say | do.CancelReply) -> None:
        match effect:
            case do.PrepareReply(turn, brief):
                self.voice.prepare(turn, brief)
            case do.Say(turn):
                self.speaker.say(self.voice.commit(turn))
            case do.CancelReply(turn):
                heard = self.speaker.stop(turn)
                self.voice.drop(turn)
                self.ear.drop_stock(turn)
                self.post(AudioPlayed(turn, heard, complete=False))
