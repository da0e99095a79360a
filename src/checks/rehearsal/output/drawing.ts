import type { CallEntry, Entry } from '../record.ts';
import { countWidth, type Drawing, layOut, type Mark, maxDrawn, type Stretch, size } from './layout.ts';
import { answerText, argumentsText, type CallVerdict, clockText, escaped } from './words.ts';

/** Preferred width of a drawing, and how much it may be stretched to reach that. */
const wanted = 1170;
const mostScale = 2;

/** The mark for a verdict. Shapes differ, so that marks can be distinguished without colours. */
function markShape({ x, verdict, entry, count }: Mark, y: number): string {
  const at = (dx: number, dy: number) => `${(x + dx).toFixed(1)} ${(y + dy).toFixed(1)}`;
  const shapes: Record<CallVerdict, string> = {
    passed: `<circle cx="${x.toFixed(1)}" cy="${y}" r="8"/><path class="sign" d="M${at(-3.6, 0.4)}L${at(-1, 3)}L${at(3.8, -2.8)}"/>`,
    blocked: `<rect x="${(x - 8).toFixed(1)}" y="${y - 8}" width="16" height="16" rx="4"/><path class="sign" d="M${at(-2.4, -3.4)}V${y + 3.4}M${at(2.4, -3.4)}V${y + 3.4}"/>`,
    failed: `<path d="M${at(0, -9.5)}L${at(9.5, 0)}L${at(0, 9.5)}L${at(-9.5, 0)}Z"/><path class="sign" d="M${at(-2.6, -2.6)}L${at(2.6, 2.6)}M${at(2.6, -2.6)}L${at(-2.6, 2.6)}"/>`,
    ignored: `<circle cx="${x.toFixed(1)}" cy="${y}" r="7" /><path class="sign" d="M${at(-3, 0)}H${(x + 3).toFixed(1)}"/>`,
  };
  const title = `${clockText(entry.at)} ${entry.hook} ${argumentsText(entry)}\n${entry.call.handler}: ${answerText(entry)}`;
  return `<a href="#${callId(entry)}" class="mark ${verdict}"><title>${escaped(title)}</title>${shapes[verdict]}${count > 1 ? `<text x="${(x + 12).toFixed(1)}" y="${y + 4}">×${count}</text>` : ''}</a>`;
}

/** The anchor of a call in the table. */
export const callId = ({ cluster, number }: CallEntry): string => `call-${encodeURIComponent(cluster)}-${number}`;

const stretchShape = ({ from, to, label, kind, title }: Stretch, y: number, height: number): string => {
  const width = Math.max(to - from - 2, 3);
  const fits = width > label.length * 7.4 + 10;
  return [
    `<g class="stretch ${kind}"><title>${escaped(title)}</title>`,
    `<rect x="${from.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height}" rx="5"/>`,
    kind.endsWith('moving')
      ? `<rect class="hatch" x="${from.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height}" rx="5"/>`
      : '',
    fits ? `<text x="${(from + 7).toFixed(1)}" y="${y + height / 2 + 4}">${escaped(label)}</text>` : '',
    '</g>',
  ].join('');
};

/** Times along the top edge, as many as fit. */
function axisShape({ ticks }: Drawing, height: number): string {
  let free = 0;
  return ticks
    .map(({ x, text }) => {
      const hasRoom = x >= free;
      free = hasRoom ? x + text.length * 6.4 + 12 : free;
      const label = hasRoom ? `<text class="tick" x="${x.toFixed(1)}" y="16">${text}</text>` : '';
      return `<line class="grid" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="22" y2="${height}"/>${label}`;
    })
    .join('');
}

/** The user's actions and the faults, as vertical lines. */
function userShape({ users, faults }: Drawing, height: number): string {
  const line = (x: number, from: number) =>
    `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${from}" y2="${height}"/>`;
  return [
    ...users.map(
      ({ x, text, title }) =>
        `<g class="user"><title>${escaped(title)}</title>${line(x, 26)}<text x="${(x + 5).toFixed(1)}" y="36">${escaped(text.slice(0, 40))}</text></g>`,
    ),
    ...faults.map(
      ({ x, text }) =>
        `<g class="fault"><title>${escaped(text)}</title>${line(x, 40)}<path d="M${x.toFixed(1)} 42l6 -10h-12z"/></g>`,
    ),
  ].join('');
}

/** The drawn timeline of a simulation: lanes for control plane and workers, the condition, and a row for each hook. */
export function drawingOf(entries: readonly Entry[]): string {
  const narrow = layOut(entries, 1);
  const drawing = narrow.width < wanted ? layOut(entries, Math.min(wanted / narrow.width, mostScale)) : narrow;
  const { lanes, rows, conditions, width, isCut } = drawing;
  const labels: string[] = [];
  const shapes: string[] = [];
  const bands: string[] = [];
  const label = (y: number, text: string, kind: string) =>
    labels.push(`<div class="label ${kind}" style="top:${y}px" title="${escaped(text)}">${escaped(text)}</div>`);
  let y: number = size.axis;
  label(y - 24, 'simulated time', 'quiet');
  label(y, 'TopologyReconciled', 'lane');
  shapes.push(...conditions.map((condition) => stretchShape(condition, y + 2, size.strip + 8)));
  y += size.lane;
  for (const { title, stretches } of lanes.values()) {
    label(y, title, 'lane');
    shapes.push(...stretches.map((stretch) => stretchShape(stretch, y + 1, size.bar)));
    y += size.lane;
  }
  y += 6;
  let isOdd = false;
  for (const [hook, { marks, pending }] of rows) {
    label(y, hook, 'hook');
    const middle = y + size.row / 2;
    if (isOdd) {
      bands.push(`<rect class="band" x="0" y="${y}" width="${width.toFixed(0)}" height="${size.row}"/>`);
    }
    isOdd = !isOdd;
    for (const { from, to } of pending) {
      shapes.push(
        `<rect class="pending" x="${from.toFixed(1)}" y="${middle - 5}" width="${Math.max(to - from, 2).toFixed(1)}" height="10" rx="5"><title>pending</title></rect>`,
      );
    }
    for (const [index, mark] of marks.entries()) {
      const next = marks[index + 1];
      if (next !== undefined && (mark.verdict === 'blocked' || mark.verdict === 'failed')) {
        shapes.push(
          `<line class="wait ${mark.verdict}" x1="${(mark.x + (mark.count > 1 ? countWidth : 0)).toFixed(1)}" x2="${next.x.toFixed(1)}" y1="${middle}" y2="${middle}"/>`,
        );
      }
    }
    shapes.push(...marks.map((mark) => markShape(mark, middle)));
    y += size.row;
  }
  const height = y + 8;
  return `<div class="drawing">
<div class="labels" style="height:${height}px">${labels.join('')}</div>
<div class="scroll" tabindex="0" role="region" aria-label="timeline"><svg width="${width.toFixed(0)}" height="${height}" viewBox="0 0 ${width.toFixed(0)} ${height}" role="img" aria-label="Timeline of the Cluster: control plane, workers and hooks">
<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe" width="4" height="8"/></pattern></defs>
${bands.join('')}${axisShape(drawing, height)}${userShape(drawing, height)}${shapes.join('')}
</svg></div></div>${isCut ? `<p class="note">The drawing ends after ${maxDrawn} calls; the table has more.</p>` : ''}`;
}
