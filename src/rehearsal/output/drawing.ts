import type { CallEntry, Entry } from '../record.ts';
import { escaped } from './escape.ts';
import { answerText, argumentsText, type CallVerdict, clockText, eventText, isRoundHook, verdictOf } from './words.ts';

/** Pixels of the drawing. */
const size = {
  /** Distance between calls at the same time. */
  call: 30,
  /** Least and largest width of passing time. */
  gap: 14,
  longestGap: 84,
  axis: 46,
  bar: 26,
  lane: 36,
  strip: 14,
  row: 26,
  margin: 24,
} as const;

/** Preferred width of a drawing, and how much one may be stretched for it. */
const wanted = 1170;
const mostScale = 2;

/** Width of the number next to a mark that represents several calls. */
const countWidth = 40;

/** Maximum number of calls that are drawn; the table has them all. */
const maxDrawn = 400;
/** Number of tints that versions alternate between. */
const tints = 6;

/** One thing in the drawing, by its column. */
interface Mark {
  x: number;
  entry: CallEntry;
  verdict: CallVerdict;
  /**
   * Number of calls that the mark represents: in a run of equal calls, the second mark represents all but the first.
   */
  count: number;
}

/** A section of a lane. */
interface Stretch {
  from: number;
  to: number;
  label: string;
  kind: string;
  title: string;
}

/** The parts of a drawing, made in one pass over the entries of a life. */
interface Drawing {
  width: number;
  ticks: { x: number; text: string }[];
  users: { x: number; text: string; title: string }[];
  faults: { x: number; text: string }[];
  lanes: Map<string, { title: string; stretches: Stretch[] }>;
  conditions: Stretch[];
  rows: Map<string, { marks: Mark[]; pending: { from: number; to: number }[] }>;
  isCut: boolean;
}

/**
 * Width of passing time: logarithmic, so that an hour does not hide what happens in a minute.
 */
const gapOf = (ms: number) => Math.min(size.gap + 14 * Math.log10(1 + ms / 1000), size.longestGap);

/** Lays a life out: x grows with each call, and with passing time. */
function layOut(entries: readonly Entry[], scale: number): Drawing {
  const drawing: Drawing = {
    width: 0,
    ticks: [],
    users: [],
    faults: [],
    lanes: new Map(),
    conditions: [],
    rows: new Map(),
    isCut: false,
  };
  const versions = new Map<string, number>();
  const tintOf = (version: string) => {
    const known = versions.get(version);
    const tint = known ?? versions.size % tints;
    versions.set(version, tint);
    return `v${tint}`;
  };
  const rounds = new Map<string, string>();
  const pendingFrom = new Map<string, number>();
  let x: number = size.margin;
  let at = -1;
  let drawn = 0;
  /** Position of the last mark. */
  let last = -1;
  let run: { key: string; calls: number; mark: Mark } | undefined;
  const moveTo = (time: number) => {
    if (time !== at) {
      x += at < 0 ? 0 : gapOf(time - at) * scale;
      at = time;
      drawing.ticks.push({ x, text: clockText(time) });
    }
  };
  const rowOf = (hook: string) => {
    const row = drawing.rows.get(hook) ?? { marks: [], pending: [] };
    drawing.rows.set(hook, row);
    return row;
  };
  const setPending = (hooks: readonly string[]) => {
    for (const hook of hooks) {
      if (!pendingFrom.has(hook)) {
        pendingFrom.set(hook, x);
      }
    }
    for (const [hook, from] of pendingFrom) {
      if (!hooks.includes(hook)) {
        rowOf(hook).pending.push({ from, to: x });
        pendingFrom.delete(hook);
      }
    }
  };
  for (const entry of entries) {
    if (entry.type === 'end') {
      moveTo(entry.at);
      continue;
    }
    if (entry.type === 'call') {
      const answer = answerText(entry);
      const round = `${entry.hook} ${entry.call.handler}`;
      if (entry.hook === 'Discovery' || (isRoundHook(entry.hook) && rounds.get(round) === answer)) {
        continue;
      }
      rounds.set(round, answer);
      const key = JSON.stringify([entry.hook, entry.call.handler, argumentsText(entry), answer]);
      if (run?.key === key && run.calls >= 2) {
        run.calls++;
        run.mark.count++;
        at = entry.at;
        continue;
      }
      if (run !== undefined && run.mark.count > 1) {
        // Room for the number next to the mark.
        x += countWidth;
      }
      if (drawn === maxDrawn) {
        drawing.isCut = true;
        break;
      }
      drawn++;
      moveTo(entry.at);
      if (last === x) {
        x += size.call * scale;
      }
      last = x;
      const mark: Mark = { x, entry, verdict: verdictOf(entry), count: 1 };
      rowOf(entry.hook).marks.push(mark);
      run = { key, calls: run?.key === key ? run.calls + 1 : 1, mark };
      continue;
    }
    const { event } = entry;
    if (event.kind === 'plan' || event.kind === 'templates') {
      continue;
    }
    moveTo(entry.at);
    const title = eventText(event);
    switch (event.kind) {
      case 'user':
        if (last === x) {
          x += size.call * scale;
        }
        drawing.users.push({ x, text: event.flag, title });
        break;
      case 'fault':
      case 'finding':
        if (last === x) {
          x += (size.call * scale) / 2;
        }
        drawing.faults.push({ x, text: title });
        break;
      case 'condition': {
        const before = drawing.conditions.at(-1);
        if (before !== undefined) {
          before.to = x;
        }
        const kind = event.status === 'True' ? 'good' : event.reason === 'ReconcileFailed' ? 'bad' : 'busy';
        drawing.conditions.push({
          from: x,
          to: x,
          label: event.reason,
          kind,
          title: `TopologyReconciled ${event.status} ${event.reason}\n${event.message}`,
        });
        break;
      }
      case 'pending-hooks':
        setPending(event.hooks === '' ? [] : event.hooks.split(','));
        break;
      default: {
        const lane = drawing.lanes.get(event.name) ?? {
          title: event.kind === 'control-plane' ? 'Control plane' : `Workers ${event.group}`,
          stretches: [],
        };
        drawing.lanes.set(event.name, lane);
        const before = lane.stretches.at(-1);
        if (before !== undefined) {
          before.to = x;
        }
        if (event.state !== 'gone') {
          const isMoving =
            event.state === 'upgrading' || (event.state === 'creating' && event.kind === 'control-plane');
          lane.stretches.push({
            from: x,
            to: x,
            label: event.version,
            kind: `${tintOf(event.version)}${isMoving ? ' moving' : ''}`,
            title,
          });
        }
      }
    }
  }
  const end = x + size.margin + 10;
  setPending([]);
  const isGone = entries.some(
    (entry) => entry.type === 'event' && entry.event.kind === 'control-plane' && entry.event.state === 'gone',
  );
  for (const { stretches } of drawing.lanes.values()) {
    const open = stretches.at(-1);
    if (open !== undefined && !isGone) {
      open.to = end;
    }
  }
  const condition = drawing.conditions.at(-1);
  if (condition !== undefined) {
    condition.to = isGone ? x : end;
  }
  drawing.width = end + size.margin;
  return drawing;
}

/** The mark for a verdict; shapes differ, so that marks can be told apart without colours. */
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

/** Times along the top, as many as there is room for. */
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

/** What the user does and what goes wrong, as lines from top to bottom. */
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

/** The timeline of a life, drawn: lanes for control plane and workers, the condition, and a row for each hook. */
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
