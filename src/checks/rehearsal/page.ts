import { type Style, withoutMarkup } from '../../base/index.ts';
import { escaped, page } from '../output/page.ts';
import type { CallEntry, EndEntry, Entry, EventEntry } from './events.ts';
import { answerOf, argumentsText, clockText, createTimeline, eventText } from './timeline.ts';

/** Maximum number of timelines that are shown, those that could not be completed first, and of lines in one. */
const maxTimelines = 20;
const maxLines = 2000;
/** Maximum number of Clusters that are listed. */
const maxListed = 1000;

/** Sizes of drawings in pixels. */
const row = 30;
const labels = 230;
const callWidth = 42;
const maxWidth = 12_000;

/** Width of a period: logarithmic, so that an hour does not hide what happens in a minute. */
const widthOf = (ms: number) => Math.round(Math.min(42 + 26 * Math.log10(1 + ms / 1000), 150));

const style = `
.drawing { display: flex; border: 1px solid var(--line); border-radius: 10px; margin-top: 12px; } .drawing svg { display: block; flex: none; } .drawing .wide { min-width: 0; }
.drawing text { fill: var(--ink); font-size: 13px; } .drawing .lane { font-weight: 600; } .drawing .time { fill: var(--quiet); font-size: 11px; }
.band { fill: var(--band); } .tick { stroke: var(--line); } .bar { fill: var(--off-soft); } .bar.moving, .bar.cyan { fill: var(--busy-soft); }
.bar.green { fill: var(--good-soft); } .bar.red { fill: var(--bad-soft); } .wait { stroke-width: 3; stroke-dasharray: 3 3; }
.wait.yellow { stroke: var(--wait); } .wait.red { stroke: var(--bad); } .mark.green { fill: var(--good); } .mark.yellow { fill: var(--wait); }
.mark.red { fill: var(--bad); } .mark.dim { fill: var(--off); } .drawing .mark text { fill: var(--paper); font-weight: 700; font-size: 12px; text-anchor: middle; }
span.green { color: var(--good); } span.yellow { color: var(--wait); } span.red { color: var(--bad); } span.cyan { color: var(--busy); }
span.dim { color: var(--quiet); } span.bold { font-weight: 700; } .key span { font-weight: 700; }
`;

const signs: Readonly<Record<string, string>> = { green: '✓', yellow: 'Ⅱ', red: '✕', dim: '–' };

/** A row of a drawing, at y = 0. What is `open` goes on until the next moment at which the row changes. */
interface Lane {
  shapes: string[];
  open?: ((to: number) => string) | undefined;
}

/** Draws control plane, workers and hooks over time: a moment is a place on the x-axis. */
function createDrawing() {
  const lanes = new Map<string, Lane>();
  const hooks = new Map<string, Lane>();
  const ticks: string[] = [];
  let [x, at, free, lastMark] = [20, -1, 0, -1];

  function moveTo(time: number): void {
    if (time === at) {
      return;
    }
    x += at < 0 ? 0 : widthOf(time - at);
    at = time;
    const text = clockText(time);
    ticks.push(`<line class="tick" x1="${x}" x2="${x}" y1="8" y2="100%"/>`);
    if (x >= free) {
      ticks.push(`<text class="time" x="${x + 4}" y="18">${text}</text>`);
      free = x + 7 * text.length + 8;
    }
  }

  /** The row with this name, in which what was open ends. */
  function laneOf(all: Map<string, Lane>, name: string): Lane {
    const lane: Lane = all.get(name) ?? { shapes: [] };
    all.set(name, lane);
    lane.shapes.push(lane.open?.(x) ?? '');
    lane.open = undefined;
    return lane;
  }

  /** A bar with a text, which is cut off at its end. */
  function begin(name: string, kind: string, text: string, title: string): void {
    const from = x;
    laneOf(lanes, name).open = (to) =>
      `<svg x="${from}" y="3" width="${Math.max(to - from - 2, 6)}" height="24"><title>${escaped(title)}</title><rect class="bar ${kind}" width="100%" height="100%" rx="4"/><text x="7" y="17">${escaped(text)}</text></svg>`;
  }

  function addMark(all: Map<string, Lane>, name: string, kind: string, title: string): void {
    x += lastMark === x ? callWidth : 0;
    lastMark = x;
    const from = x + 11;
    const lane = laneOf(all, name);
    lane.shapes.push(
      `<g class="mark ${kind}"><title>${escaped(title)}</title><circle cx="${x}" cy="15" r="9"/><text x="${x}" y="19">${signs[kind]}</text></g>`,
    );
    if (kind === 'yellow' || kind === 'red') {
      lane.open = (to) => `<line class="wait ${kind}" x1="${from}" x2="${Math.max(to - 11, from)}" y1="15" y2="15"/>`;
    }
  }

  function addCall(entry: CallEntry): void {
    const { text, style: kind } = answerOf(entry);
    const title = `${clockText(entry.at)} ${entry.hook} ${argumentsText(entry)}\n${entry.call.handler}: ${text}`;
    addMark(hooks, entry.hook, kind, title);
  }

  function addEvent({ event }: EventEntry): void {
    const title = eventText(event);
    if (event.kind === 'user') {
      begin('user', '', event.text, title);
    } else if (event.kind === 'fault') {
      addMark(lanes, 'faults', 'dim', title);
    } else if (event.kind === 'condition') {
      const kind = event.status === 'True' ? 'green' : event.reason === 'ReconcileFailed' ? 'red' : 'cyan';
      begin('TopologyReconciled', kind, event.reason, `${title}\n${event.message}`);
    } else if (event.kind === 'control-plane' || event.kind === 'worker') {
      const name = event.kind === 'worker' ? `workers ${event.group}` : 'control plane';
      // Workers are ready as soon as they are created.
      const isMoving = event.state === 'upgrading' || (event.state === 'creating' && event.kind === 'control-plane');
      if (event.state === 'gone') {
        laneOf(lanes, name);
      } else {
        begin(name, isMoving ? 'moving' : '', event.version, `${event.name}: ${title}`);
      }
    }
  }

  return {
    /** Adds an entry, if there is room left. */
    add(entry: Entry): void {
      if (x > maxWidth) {
        return;
      }
      moveTo(entry.at);
      if (entry.type === 'call') {
        addCall(entry);
      } else if (entry.type === 'event') {
        addEvent(entry);
      }
    },
    /** Empty for timelines without a Cluster. */
    html(): string {
      if (lanes.size === 0) {
        return '';
      }
      const all = [...lanes, ...hooks];
      const height = row * (all.length + 1);
      const width = x + 60;
      const names = all.map(
        ([name], index) =>
          `<text class="${index < lanes.size ? 'lane' : 'hook'}" x="14" y="${row * (index + 1) + 20}">${escaped(name)}</text>`,
      );
      const rows = all.map(([, { shapes, open }], index) => {
        const band = index % 2 === 0 ? `<rect class="band" width="${width}" height="${row}"/>` : '';
        return [band, `${shapes.join('')}${open?.(width) ?? ''}`].map((part) =>
          part === '' ? '' : `<g transform="translate(0 ${row * (index + 1)})">${part}</g>`,
        );
      });
      const part = (at: 0 | 1) => rows.map((both) => both[at]).join('');
      return `<div class="drawing"><svg width="${labels}" height="${height}">${names.join('')}</svg><div class="wide" tabindex="0" role="region" aria-label="control plane, workers and hooks over time"><svg width="${width}" height="${height}">${part(0)}${ticks.join('')}${part(1)}</svg></div></div>${x > maxWidth ? '<p class="note">The drawing ends here: the text has more.</p>' : ''}`;
    },
  };
}

/** A character that printable text does not have: it ends the parts of text, their styles, and painted text. */
const mark = '\u0000';
const marked = (kind: Style, text: string) => `${mark}${kind}${mark}${text}${mark}`;

/** The HTML of text in which parts are `marked`. */
const textHtml = (text: string): string =>
  withoutMarkup(text)
    .split(mark)
    .map((part, index) => [part, `<span class="${part}">`, `${part}</span>`][index % 3])
    .join('');

interface Timeline {
  name: string;
  entries: Entry[];
  end: EndEntry | undefined;
}

const badgeOf = (end: EndEntry | undefined) =>
  end === undefined ? '' : `<span class="badge ${end.isComplete ? 'low">complete' : 'high">incomplete'}</span>`;

function timelineHtml({ name, entries, end }: Timeline): string {
  const timeline = createTimeline(marked);
  const drawing = createDrawing();
  const lines: string[] = [];
  for (const entry of entries) {
    const text = timeline.add(entry);
    // Of identical calls, the text has the first and counts the others.
    if (text !== '') {
      drawing.add(entry);
    }
    if (lines.length < maxLines) {
      lines.push(text);
    } else if (entry.type === 'end') {
      lines.push('  … and more: the text output has all of it\n', text);
    }
  }
  const reason = end === undefined || end.isComplete ? '' : `<p class="reason">${escaped(end.reason)}</p>`;
  return `<section><h2>${escaped(name || 'extensions')} ${badgeOf(end)}</h2>${reason}${drawing.html()}<pre>${textHtml(lines.join(''))}</pre></section>`;
}

const legend = Object.entries({ green: 'passed', yellow: 'blocked', red: 'failed', dim: 'ignored' })
  .map(([kind, word]) => `<span class="key"><span class="${kind}">${signs[kind]}</span> ${word}</span>`)
  .join('');

/** A rehearsal as an HTML page: each timeline is drawn, and below it there is what the text says. */
export function createPage() {
  const timelines = new Map<string, Timeline>();
  let complete = 0;
  return {
    add(entry: Entry): string {
      const name = entry.cluster;
      const timeline: Timeline = timelines.get(name) ?? { name, entries: [], end: undefined };
      timelines.set(name, timeline);
      timeline.entries.push(entry);
      if (entry.type === 'end') {
        timeline.end = entry;
        if (entry.isComplete && ++complete > maxTimelines) {
          // It will not be shown.
          timeline.entries = [];
        }
      }
      return '';
    },
    end(): string {
      const all = [...timelines.values()];
      const rank = ({ end }: Timeline) => (end === undefined ? 1 : end.isComplete ? 2 : 0);
      const shown = all
        .filter(({ entries }) => entries.length > 0)
        .toSorted((a, b) => rank(a) - rank(b))
        .slice(0, maxTimelines);
      const listed = all.filter(({ end }) => end !== undefined);
      const list = listed
        .slice(0, maxListed)
        .map(({ name, end }) => `<p class="cause">${escaped(name)} ${badgeOf(end)}</p>`);
      const more =
        listed.length > maxListed ? `<p>and ${listed.length - maxListed} more: the JSON output has all</p>` : '';
      const rest =
        shown.length === all.length
          ? ''
          : `<details class="list"><summary>${listed.length} Clusters, of which not all are drawn</summary>${list.join('')}${more}</details>`;
      return page(
        'Rehearsal',
        style,
        `<header><h1>Rehearsal of a Cluster’s lifecycle</h1><p class="legend">${legend}</p></header>
<main>${shown.map(timelineHtml).join('\n')}${rest}</main>`,
      );
    },
  };
}
