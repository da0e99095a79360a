import { printable, withoutMarkup } from '../../base/index.ts';

const style = `
:root { --ground: #f6f7f9; --paper: #ffffff; --ink: #1c2230; --quiet: #667085; --line: #e3e7ee; --band: #f4f6fa;
  --good: #1a7f4b; --wait: #b76a00; --bad: #c4314b; --busy: #3566c4;
  --good-soft: #d9f0e3; --wait-soft: #fdeacb; --bad-soft: #fbdde2; --off-soft: #e9ecf2; }
@media (prefers-color-scheme: dark) { :root { --ground: #12151b; --paper: #1a1e26; --ink: #e7eaf0; --quiet: #98a2b5; --line: #2b313d; --band: #1e232c;
  --good: #4cc38a; --wait: #f0a53a; --bad: #ff7a8a; --busy: #86aefc;
  --good-soft: #173828; --wait-soft: #402d10; --bad-soft: #47212a; --off-soft: #2a303b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif; }
header, main { max-width: 1500px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 28px; display: flex; flex-wrap: wrap; gap: 4px 28px; align-items: baseline; }
h1 { font-size: 24px; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 19px; margin: 0; }
small { color: var(--quiet); font-weight: 400; font-size: 12.5px; }
section, .list { background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; margin: 20px 0; }
.list { padding: 12px 22px; } summary { cursor: pointer; }
.note { color: var(--quiet); } .cause { margin: 4px 0; }
.facts { margin: 2px 0 14px; color: var(--quiet); }
.reason { border-left: 4px solid var(--bad); background: var(--bad-soft); padding: 8px 12px; border-radius: 0 6px 6px 0; overflow-wrap: anywhere; }
.legend { margin: 0; } .key { margin-right: 16px; color: var(--quiet); white-space: nowrap; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 9px; font-size: 12px; font-weight: 600; vertical-align: 1px; }
.badge.none { background: var(--off-soft); color: var(--quiet); } .badge.low { background: var(--good-soft); color: var(--good); }
.badge.medium { background: var(--wait-soft); color: var(--wait); } .badge.high { background: var(--bad-soft); color: var(--bad); }
pre { background: var(--band); border-radius: 8px; padding: 10px 14px; overflow-x: auto; font: 12.5px/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--quiet); font-weight: 600; font-size: 12.5px; } th, td { padding: 5px 12px 5px 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
`;

/** Untrusted text for HTML: printable lines without markup. */
export const escaped = (text: string): string => withoutMarkup(text.split('\n').map(printable).join('\n'));

/**
 * An HTML page: a single file that works without a network and without scripts; its content security policy lets a browser
 * load nothing.
 *
 * @param body HTML in which all text from outside is `escaped`.
 */
export function page(title: string, ownStyle: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}${ownStyle}</style>
</head>
<body>
${body}
</body>
</html>
`;
}
