/** The CSS of the page, light and dark. */
export const style = `
:root { --ground: #f6f7f9; --paper: #ffffff; --ink: #1c2230; --quiet: #667085; --line: #e3e7ee; --band: #f4f6fa;
  --good: #1a7f4b; --wait: #b76a00; --bad: #c4314b; --off: #8a93a5; --busy: #3566c4; --user: #6b3fb8; --sign: #ffffff;
  --good-soft: #d9f0e3; --wait-soft: #fdeacb; --bad-soft: #fbdde2; --busy-soft: #dde7fb; --off-soft: #e9ecf2; --stripe: rgb(255 255 255 / .45);
  --v0: #d5e2fa; --v1: #b5d4f4; --v2: #a9ddd6; --v3: #c3e3b0; --v4: #f0dfa4; --v5: #e6cdf2; --on-version: #1c2a44; }
@media (prefers-color-scheme: dark) { :root { --ground: #12151b; --paper: #1a1e26; --ink: #e7eaf0; --quiet: #98a2b5; --line: #2b313d; --band: #1e232c;
  --good: #4cc38a; --wait: #f0a53a; --bad: #ff7a8a; --off: #7d8798; --busy: #86aefc; --user: #c4a2ff; --sign: #12151b;
  --good-soft: #173828; --wait-soft: #402d10; --bad-soft: #47212a; --busy-soft: #1f2f52; --off-soft: #2a303b; --stripe: rgb(0 0 0 / .3);
  --v0: #2b4270; --v1: #235476; --v2: #1d5d59; --v3: #3a5c2b; --v4: #63531d; --v5: #553568; --on-version: #eef2fa; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; }
header, main { max-width: 1500px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 28px; display: flex; flex-wrap: wrap; gap: 4px 28px; align-items: baseline; }
h1 { font-size: 24px; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 19px; margin: 0; } h3 { font-size: 15px; margin: 26px 0 8px; } h4 { font-size: 14px; margin: 14px 0 4px; }
small { color: var(--quiet); font-weight: 400; font-size: 12.5px; }
section, .list { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; margin: 20px 0; }
.list { padding: 12px 22px; } summary { cursor: pointer; } .list ul { margin: 8px 0; padding-left: 18px; }
.facts { margin: 2px 0 14px; color: var(--quiet); }
.reason { border-left: 4px solid var(--bad); background: var(--bad-soft); padding: 8px 12px; border-radius: 0 6px 6px 0; overflow-wrap: anywhere; }
.legend { margin: 0; } .key { margin-right: 16px; color: var(--quiet); white-space: nowrap; }
.dot { display: inline-block; width: 11px; height: 11px; margin-right: 6px; border-radius: 50%; vertical-align: -1px; }
.dot.passed { background: var(--good); } .dot.blocked { background: var(--wait); border-radius: 3px; }
.dot.failed { background: var(--bad); border-radius: 1px; transform: rotate(45deg) scale(.85); } .dot.ignored { border: 2px solid var(--off); }
.dot.pending { background: var(--busy-soft); border: 1px solid var(--busy); width: 18px; border-radius: 6px; }
.dot.fault { width: 0; height: 0; border: 6px solid transparent; border-top: 10px solid var(--bad); border-bottom: 0; border-radius: 0; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 9px; font-size: 12px; font-weight: 600; vertical-align: 1px; }
.badge.passed { background: var(--good-soft); color: var(--good); } .badge.blocked { background: var(--wait-soft); color: var(--wait); }
.badge.failed { background: var(--bad-soft); color: var(--bad); } .badge.ignored { background: var(--off-soft); color: var(--quiet); }
.drawing { border: 1px solid var(--line); border-radius: 10px; overflow-x: auto; }
.grid { display: grid; } .grid > * { min-width: 0; white-space: nowrap; font-size: 12px; }
.grid .label { position: sticky; left: 0; z-index: 3; padding: 0 8px 0 14px; align-content: center; background: var(--paper); border-right: 1px solid var(--line); font-size: 13px; overflow: hidden; text-overflow: ellipsis; }
.grid .label.lane { font-weight: 600; } .grid .label.quiet { align-content: start; padding-top: 2px; color: var(--quiet); font-size: 12px; }
.grid .tick, .grid .user, .grid .fault { justify-self: start; width: 0; overflow: visible; border-left: 1px solid var(--line); line-height: 18px; }
.grid .tick { margin-top: 4px; padding-left: 3px; color: var(--quiet); font-size: 11px; font-variant-numeric: tabular-nums; }
.grid .band { background: var(--band); }
.grid .stretch { align-self: center; z-index: 1; height: 26px; line-height: 26px; margin-right: 2px; padding-left: 7px; border-radius: 5px; overflow: hidden; text-overflow: ellipsis; font-weight: 600; color: var(--on-version); }
.grid .stretch.moving { background-image: repeating-linear-gradient(135deg, var(--stripe) 0 4px, transparent 4px 8px); }
.grid .v0 { background-color: var(--v0); } .grid .v1 { background-color: var(--v1); } .grid .v2 { background-color: var(--v2); } .grid .v3 { background-color: var(--v3); } .grid .v4 { background-color: var(--v4); } .grid .v5 { background-color: var(--v5); }
.grid .good { background: var(--good-soft); color: var(--good); } .grid .bad { background: var(--bad-soft); color: var(--bad); } .grid .busy { background: var(--busy-soft); color: var(--busy); }
.grid .mark { align-self: center; justify-self: start; z-index: 2; margin-left: -8px; display: flex; gap: 5px; color: var(--quiet); font-size: 11px; text-decoration: none; }
.grid .mark i { width: 16px; height: 16px; border-radius: 50%; font: 700 11px/16px sans-serif; text-align: center; color: var(--sign); }
.grid .mark span { line-height: 16px; padding-right: 4px; background: var(--paper); }
.grid .mark.passed i { background: var(--good); } .grid .mark.blocked i { background: var(--wait); border-radius: 4px; }
.grid .mark.failed i { background: var(--bad); border-radius: 2px; transform: rotate(45deg); } .grid .mark.ignored i { box-shadow: inset 0 0 0 2px var(--off); color: var(--off); }
.grid .mark:hover i, .grid .mark:focus i { outline: 2px solid var(--ink); }
.grid .wait { align-self: center; z-index: 1; border-top: 3px dotted; } .grid .wait.blocked { color: var(--wait); } .grid .wait.failed { color: var(--bad); }
.grid .pending { align-self: center; height: 10px; border-radius: 5px; background: var(--busy-soft); }
.grid .user { z-index: 1; margin-top: 26px; border-left: 2px dashed var(--user); padding-left: 4px; color: var(--user); font-weight: 600; }
.grid .fault { z-index: 1; margin-top: 32px; border-left: 1px dashed var(--bad); }
.grid .fault::before { content: ''; display: block; margin-left: -6px; border: 6px solid transparent; border-top: 10px solid var(--bad); border-bottom: 0; width: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--quiet); font-weight: 600; font-size: 12.5px; } th, td { padding: 5px 12px 5px 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.time { font-variant-numeric: tabular-nums; color: var(--quiet); white-space: nowrap; width: 76px; }
.event td { color: var(--quiet); } .event.user td { color: var(--user); font-weight: 600; } .event.fault td, .event.finding td { color: var(--bad); }
.event.control-plane td, .event.worker td { color: var(--ink); }
.message { white-space: pre-wrap; } tr:target td { background: var(--wait-soft); }
.diff { background: var(--band); border-radius: 8px; padding: 10px 14px; overflow-x: auto; font: 12.5px/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
.ins { color: var(--good); } .del { color: var(--bad); } .hunk { color: var(--busy); } ul.ignored li { color: var(--wait); } .note { color: var(--quiet); }
`;
