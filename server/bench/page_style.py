"""How the page looks, in light and in dark."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--page:#fbfaf7;--card:#fff;--ink:#1d2330;--dim:#6a7180;--line:#e3e1da;--a:#2563c9;
--b:#c2570c;--good:#1a7f42;--bad:#c22a2a;--speech:#9db4d8;--silence:#e4e2dc;--gap:#d9480f;--stt:#3b8ea5;--first:#7a5cc0;
--reply:#b9a6e2;--audio:#2f9e66}
@media (prefers-color-scheme:dark){:root{--page:#14171d;--card:#1c2028;--ink:#e8eaf0;--dim:#98a0b0;--line:#2f3541;
--a:#79aaff;--b:#ffa15c;--good:#5fd08a;--bad:#ff7b7b;--speech:#4b6796;--silence:#343a46;--gap:#ff8a4c;--stt:#56b8d0;
--first:#a68bf0;--reply:#6d5aa8;--audio:#58c98e}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:32px 20px 64px;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{font-size:28px;margin:0 0 4px}h2{font-size:19px;margin:40px 0 12px}p{margin:4px 0}
.dim{color:var(--dim)}.run-a{color:var(--a)}.run-b{color:var(--b)}.good{color:var(--good)}.bad{color:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:12px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px}
.card b{display:block;font-size:24px;font-variant-numeric:tabular-nums}
.plot{display:grid;grid-template-columns:minmax(210px,270px) 1fr;gap:8px 20px;align-items:center;
border-top:1px solid var(--line);padding:10px 0}
.plot h3{font-size:15px;margin:0;font-weight:600}
.numbers{font-variant-numeric:tabular-nums;font-size:13px}
@media (max-width:720px){.plot{grid-template-columns:1fr}}
svg{width:100%;height:auto;display:block;overflow:visible}
svg text{font-size:11px;fill:var(--dim)}svg .tick{text-anchor:middle}
.grid{stroke:var(--line)}.asked{stroke:var(--good);stroke-dasharray:4 3;stroke-width:1.5}
.a circle{fill:var(--a)}.b circle{fill:var(--b)}circle{fill-opacity:.5}
.a path{stroke:var(--a)}.b path{stroke:var(--b)}path{stroke-width:3}path.p95{stroke-width:1.5}
.speech{fill:var(--speech)}.silence{fill:var(--silence)}.gap{fill:var(--gap)}
.stage.stt{fill:var(--stt)}.stage.llm_first_token{fill:var(--first)}.stage.reply{fill:var(--reply)}
.stage.tts_first_audio{fill:var(--audio)}.out{opacity:.35}
.key{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;margin:0 0 8px}
.key span::before{content:"";display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;
vertical-align:-1px;background:var(--colour)}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;width:100%}
td,th{border-top:1px solid var(--line);padding:4px 12px 4px 0;text-align:left;vertical-align:top}
"""
"""CSS without anything from elsewhere."""

KEY = (
    ("speech", "candidate speaks"),
    ("silence", "silence until the decision"),
    ("gap", "gap: the candidate waits"),
    ("stt", "speech to text"),
    ("first", "first token"),
    ("reply", "rest of the reply"),
    ("audio", "first audio"),
)
"""Colours of the timeline, and what they stand for."""
