import { count, printable, shortList, withoutMarkup } from '../../base/index.ts';
import type { Cause, ClusterPlan, GroupPlan, Plan, Problem } from '../../topology/index.ts';
import {
  causeText,
  changesOf,
  detailTexts,
  groupText,
  isUnchanged,
  meanings,
  peakText,
  type Section,
  sectionsOf,
  severityOf,
  sumText,
  valueLines,
  verdictText,
} from './describe.ts';

/** Maximum number of Clusters that are drawn one by one, and of the Machines of a group. */
const maxClusters = 300;
const maxMachines = 60;
const maxCauses = 100;
const maxNamed = 50;
/** Longest difference that is open at first, in lines. */
const maxOpen = 12;

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
.legend { margin: 0; } .key { display: inline-block; margin-right: 16px; color: var(--quiet); } .key .m { margin-right: 6px; vertical-align: -3px; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 9px; font-size: 12px; font-weight: 600; vertical-align: 1px; }
.badge.none { background: var(--off-soft); color: var(--quiet); } .badge.low { background: var(--good-soft); color: var(--good); }
.badge.medium { background: var(--wait-soft); color: var(--wait); } .badge.high { background: var(--bad-soft); color: var(--bad); }
pre { background: var(--band); border-radius: 8px; padding: 10px 14px; overflow-x: auto; font: 12.5px/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
.wide { overflow-x: auto; } table { border-collapse: collapse; table-layout: fixed; width: 100%; font-size: 14px; }
th { text-align: left; color: var(--quiet); font-weight: 600; font-size: 12.5px; } th, td { padding: 5px 12px 5px 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.ins { color: var(--good); } .del { color: var(--bad); } .hunk { color: var(--busy); }
.sum { font-size: 17px; } .machines { line-height: 0; }
.m { display: inline-block; width: 14px; height: 14px; margin: 2px; border-radius: 3px; background: var(--off-soft); border: 1px solid var(--line); }
.m.replaced { background: var(--bad); border-color: var(--bad); } .m.inPlace { background: var(--busy); border-color: var(--busy); }
.m.created { background: none; border: 2px dashed var(--good); } .m.deleted { background: none; border: 2px solid var(--bad); }
.m.onDelete { background: repeating-linear-gradient(135deg, var(--bad) 0 3px, transparent 3px 6px); border-color: var(--bad); }
.m.unknown { background: repeating-linear-gradient(45deg, var(--wait) 0 2px, transparent 2px 5px); border-color: var(--wait); }
header .facts { width: 100%; margin: 0; }
.filter { border: 0; margin: 0; padding: 0; } .filter label { margin-right: 16px; white-space: nowrap; }
${['high', 'medium', 'low'].map((severity) => `body:has(#only-${severity}:checked) section:not(.${severity})`).join(', ')} { display: none; }
@media print {
  body { background: none; font-size: 11px; } header, main { max-width: none; padding: 0; } .filter { display: none; }
  section { padding: 8px 0; border: 0; } tr { break-inside: avoid; } .m, .badge, .reason { print-color-adjust: exact; } pre { white-space: pre-wrap; }
}
@media (max-width: 640px) {
  header, main { padding: 0 12px; } section, .list { padding: 12px; } .wide { overflow-x: visible; }
  thead { display: none; } tr { display: block; border-bottom: 1px solid var(--line); padding: 8px 0; } td { display: block; border: 0; padding: 2px 0; }
}
th { white-space: nowrap; width: 20%; } th:last-child { width: 40%; } tr.none td { color: var(--quiet); } .cause code { overflow-wrap: anywhere; }
`;

/** Untrusted text for HTML: printable lines without markup. */
export const escaped = (text: string): string => withoutMarkup(text.split('\n').map(printable).join('\n'));

function diffHtml(lines: readonly string[]): string {
  const coloured = lines.map((line) => {
    const kind = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : line.startsWith('@') ? 'hunk' : 'same';
    return `<span class="${kind}">${escaped(line)}</span>\n`;
  });
  return lines.length === 0 ? '' : `<pre>${coloured.join('')}</pre>`;
}

type Machine = 'kept' | 'replaced' | 'inPlace' | 'created' | 'deleted' | 'onDelete' | 'unknown';

const machineWords: Readonly<Record<Machine, string>> = {
  kept: 'stays',
  replaced: 'is replaced',
  inPlace: 'is updated in place',
  created: 'is new',
  deleted: 'goes',
  onDelete: 'is replaced when you delete it',
  unknown: 'not known',
};

function machinesOf({ verdict, machines, replaces }: GroupPlan): Machine[] {
  const { before, after, replaced, inPlace } = machines;
  const some = (number: number, what: Machine) => new Array<Machine>(Math.max(0, number)).fill(what);
  if (verdict === 'unknown') {
    return some(before, 'unknown');
  }
  const removed = Math.max(0, before - after);
  const waiting = verdict === 'onDelete' ? (replaces?.length ?? before - removed) : 0;
  return [
    ...some(waiting, 'onDelete'),
    ...some(replaced, 'replaced'),
    ...some(inPlace, 'inPlace'),
    ...some(removed, 'deleted'),
    ...some(before - waiting - replaced - inPlace - removed, 'kept'),
    ...some(after - before, 'created'),
  ];
}

function machinesHtml(plan: GroupPlan): string {
  const all = machinesOf(plan);
  const drawn = all
    .slice(0, maxMachines)
    .map((machine) => `<i class="m ${machine}" title="${machineWords[machine]}"></i>`);
  return `<div class="machines">${drawn.join('')}</div>${all.length > maxMachines ? `<small>and ${all.length - maxMachines} more</small>` : ''}`;
}

function causesHtml(causes: readonly Cause[]): string {
  const listed = causes.slice(0, maxCauses).map((cause) => {
    const lines = valueLines(cause);
    const line = `<code>${escaped(causeText(cause))}</code>`;
    return lines.length === 0
      ? `<p class="cause">${line}</p>`
      : `<details${lines.length <= maxOpen ? ' open' : ''}><summary>${line}</summary>${diffHtml(lines)}</details>`;
  });
  return `${listed.join('')}${causes.length > maxCauses ? `<p>and ${count(causes.length - maxCauses, 'more field')}</p>` : ''}`;
}

const problemHtml = ({ text, remedy, causes = [] }: Problem): string =>
  `<p class="reason">${escaped(text)}${remedy === undefined ? '' : `<br><small>${escaped(remedy)}</small>`}</p>${causesHtml(causes)}`;

function groupRow(plan: GroupPlan): string {
  const { kind, name, verdict, problems = [] } = plan;
  const severity = severityOf[verdict];
  const details = detailTexts(plan).map((text) => `<p class="note">${escaped(text)}</p>`);
  return `<tr class="${severity}"><td><b>${escaped(groupText(plan))}</b><br><small>${escaped(`${kind} ${name}`)}</small></td><td>${machinesHtml(plan)}</td><td class="verdict"><span class="badge ${severity}">${escaped(verdictText(plan))}</span></td><td>${problems.map(problemHtml).join('')}${causesHtml(changesOf(plan))}${details.join('')}</td></tr>`;
}

const table = (groups: readonly GroupPlan[]) =>
  `<div class="wide"><table><thead><tr><th>group</th><th>Machines</th><th>what happens</th><th>why</th></tr></thead><tbody>${groups.map(groupRow).join('')}</tbody></table></div>`;

function worstOf({ groups, problems }: ClusterPlan): string {
  const all: string[] = groups.map(({ verdict }) => severityOf[verdict]);
  return ['high', 'medium'].find((severity) => all.includes(severity)) ?? (problems.length > 0 ? 'medium' : 'low');
}

const filter = `<fieldset class="filter">${[
  ['all', 'all Clusters'],
  ['high', 'replaced, deleted or refused'],
  ['medium', 'not known or waiting'],
  ['low', 'other changes'],
]
  .map(
    ([id, label]) =>
      `<label><input type="radio" name="only" id="only-${id}"${id === 'all' ? ' checked' : ''}> ${label}</label>`,
  )
  .join('')}</fieldset>`;

function sectionHtml({ title, names, plan }: Section): string {
  const alike =
    names.length === 0 ? '' : `<p class="facts">${escaped(shortList(names, maxNamed))}; each as the first:</p>`;
  const { groups, peak, problems } = plan;
  const pace = peak === undefined ? '' : `<p class="note">${escaped(peakText(peak))}</p>`;
  return `<section class="${worstOf(plan)}"><h2>${escaped(title)}</h2>${alike}${problems.map(problemHtml).join('')}${pace}${table(groups)}</section>`;
}

const machineLegend = (['replaced', 'onDelete', 'inPlace', 'created', 'deleted', 'unknown', 'kept'] as const)
  .map((machine) => `<span class="key"><i class="m ${machine}"></i>${machineWords[machine]}</span>`)
  .join(' ');

const verdictLegend = (['refused', 'stopped', 'unknown'] as const)
  .map(
    (verdict) =>
      `<span class="key"><span class="badge ${severityOf[verdict]}">${verdict}</span> ${escaped(meanings[verdict])}</span>`,
  )
  .join(' ');

export interface PageFacts {
  /** The subject of the plan: `-f clusters on top of --from ../before`. */
  inputs: string;
  /** Of Cluster API: `v1.14`. */
  release: string;
  madeAt: Date;
}

/** The plan as one HTML file without scripts; its content security policy lets a browser load nothing. */
export function planPage(
  plan: Plan,
  classOf: ReadonlyMap<string, string>,
  { inputs, release, madeAt }: PageFacts,
): string {
  const changed = plan.clusters.filter((cluster) => !isUnchanged(cluster));
  const unchanged = plan.clusters.filter(isUnchanged);
  const all = sectionsOf(changed, classOf);
  const left = all.length - maxClusters;
  const rest = `${left > 0 ? `<p>and ${count(left, 'more Cluster')}: the JSON output has all of them</p>` : ''}${
    unchanged.length === 0
      ? ''
      : `<details class="list"><summary>${count(unchanged.length, 'Cluster')} unchanged</summary><p>${escaped(
          shortList(
            unchanged.map(({ cluster }) => cluster),
            1000,
          ),
        )}</p></details>`
  }`;
  const sections = all.slice(0, maxClusters).map(sectionHtml);
  const facts = `${inputs}; Cluster API ${release}; ${madeAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Plan</title>
<style>${style}</style>
</head>
<body>
<header><h1>Which Machines will this change replace?</h1><p class="facts">${escaped(facts)}</p><p class="legend">${machineLegend} ${verdictLegend}</p></header>
<main><p class="sum"><b>${escaped(sumText(plan))}</b></p>${sections.length > 3 ? filter : ''}${sections.join('\n')}${rest}</main>
</body>
</html>
`;
}
