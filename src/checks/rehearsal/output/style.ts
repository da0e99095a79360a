/** The CSS of the drawing and the table, besides what all pages have. */
export const style = `
.dot { display: inline-block; width: 11px; height: 11px; margin-right: 6px; border-radius: 50%; vertical-align: -1px; }
.dot.passed { background: var(--good); } .dot.blocked { background: var(--wait); border-radius: 3px; }
.dot.failed { background: var(--bad); border-radius: 1px; transform: rotate(45deg) scale(.85); } .dot.ignored { border: 2px solid var(--off); }
.dot.pending { background: var(--busy-soft); border: 1px solid var(--busy); width: 18px; border-radius: 6px; }
.dot.fault { width: 0; height: 0; border: 6px solid transparent; border-top: 10px solid var(--bad); border-bottom: 0; border-radius: 0; }
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
.time { font-variant-numeric: tabular-nums; color: var(--quiet); white-space: nowrap; width: 76px; }
.event td { color: var(--quiet); } .event.user td { color: var(--user); font-weight: 600; } .event.fault td, .event.finding td { color: var(--bad); }
.event.control-plane td, .event.worker td { color: var(--ink); }
.message { white-space: pre-wrap; } tr:target td { background: var(--wait-soft); }
`;
