import { escaped } from '../../output/page.ts';
import type { CallEntry, Entry, EventEntry } from '../record.ts';
import {
  answerText,
  argumentsText,
  type CallVerdict,
  callId,
  clockText,
  eventText,
  type Shown,
  shownEntries,
  verdictOf,
} from './words.ts';

/** Widths in pixels. */
const size = {
  label: 226,
  margin: 24,
  /** Distance between calls at the same time. */
  call: 30,
  /** The number next to a mark that represents several calls. */
  count: 40,
  /** Minimum and maximum of a period between events. */
  gap: 14,
  longestGap: 84,
} as const;

/** Width that a drawing has without scrolling, and how much it may be stretched to reach that. */
const wanted = 1170;
const mostScale = 2;

/** Maximum number of calls that are drawn; the table has them all. */
const maxDrawn = 400;
/** Number of shades for versions, which are reused in turn. */
const tints = 6;

/** Width of a period: logarithmic, so that an hour does not hide what happens in a minute. */
const gapOf = (ms: number) => Math.min(size.gap + 14 * Math.log10(1 + ms / 1000), size.longestGap);

type SimulatedEvent = EventEntry['event'];

/** Events that only the table shows. */
const onlyInTable: ReadonlySet<string> = new Set(['plan', 'templates', 'object-condition', 'machine']);

/** Signs of marks, besides their shapes, so that they can be distinguished without colours. */
const signs: Record<CallVerdict, string> = { passed: '✓', blocked: 'Ⅱ', failed: '+', ignored: '–' };

const cell = (row: string, from: number, to: number | string, kind: string, title: string, text = '') =>
  `<div class="${kind}" style="grid-area:${row}/${from}/auto/${to}" title="${escaped(title)}">${escaped(text)}</div>`;

/** A line through all rows, with a text at its top. */
const line = (column: number, kind: string, title: string, text = '') =>
  `<div class="${kind}" style="grid-area:axis/${column}/-1/auto" title="${escaped(title)}">${escaped(text)}</div>`;

function markOf(row: string, column: number, entry: CallEntry, count: number): string {
  const verdict = verdictOf(entry);
  const title = `${clockText(entry.at)} ${entry.hook} ${argumentsText(entry)}\n${entry.call.handler}: ${answerText(entry)}`;
  return `<a href="#${callId(entry)}" class="mark ${verdict}" style="grid-area:${row}/${column}" title="${escaped(title)}"><i>${signs[verdict]}</i>${count > 1 ? `<span>×${count}</span>` : ''}</a>`;
}

/**
 * A grid with a column for each moment, and rows for the condition, the control plane, groups of workers and hooks. A
 * moment is the line at which its column begins.
 */
class Drawing {
  #at = -1;
  /** Widths of the columns: of the labels, the margin, and the periods between moments; and of all but the labels. */
  readonly #columns: number[] = [size.label, size.margin];
  #width: number = size.margin;
  /** The names of rows by their titles, in the order of the drawing: first lanes, then hooks. */
  readonly #lanes = new Map([['TopologyReconciled', 'condition']]);
  readonly #hooks = new Map<string, string>();
  readonly #cells: string[] = [];
  readonly #ticks: { column: number; x: number; text: string }[] = [];
  /** What has not ended: where it began, and its cell once that is known, by row. */
  readonly #open = new Map<string, { from: number; cellTo: (to: number) => string }>();
  /** The last mark of each hook. */
  readonly #last = new Map<string, { column: number; entry: CallEntry }>();
  readonly #tints = new Map<string, number>();
  /** Column of the last mark, and the number of those drawn. */
  #lastMark = -1;
  #drawn = 0;
  isCut = false;

  get #now(): number {
    return this.#columns.length + 1;
  }

  #advance(width: number): void {
    this.#columns.push(Math.round(width));
    this.#width += width;
  }

  moveTo(time: number): void {
    if (time !== this.#at) {
      if (this.#at >= 0) {
        this.#advance(gapOf(time - this.#at));
      }
      this.#at = time;
      this.#ticks.push({ column: this.#now, x: this.#width, text: clockText(time) });
    }
  }

  /** Makes room where the last mark is. */
  #stepAside(width: number): void {
    if (this.#lastMark === this.#now) {
      this.#advance(width);
    }
  }

  /** Adds a call, or all repetitions of one. */
  addCall(entry: CallEntry, { count, until }: Shown): void {
    if (this.#drawn === maxDrawn) {
      this.isCut = true;
      return;
    }
    this.#drawn++;
    this.moveTo(entry.at);
    this.#stepAside(size.call);
    const [row, column] = [this.#rowOf(entry.hook), this.#now];
    this.#lastMark = column;
    const before = this.#last.get(row);
    const verdict = before && verdictOf(before.entry);
    if (before !== undefined && (verdict === 'blocked' || verdict === 'failed')) {
      this.#cells.push(cell(row, before.column, column, `wait ${verdict}`, ''));
    }
    this.#last.set(row, { column, entry });
    this.#cells.push(markOf(row, column, entry, count));
    if (count > 1) {
      this.#advance(size.count);
      this.#at = until;
    }
  }

  addEvent(event: SimulatedEvent, at: number): void {
    if (onlyInTable.has(event.kind)) {
      return;
    }
    this.moveTo(at);
    const title = eventText(event);
    switch (event.kind) {
      case 'user':
        this.#stepAside(size.call);
        this.#cells.push(line(this.#now, 'user', title, event.flag.slice(0, 40)));
        break;
      case 'fault':
      case 'finding':
        this.#stepAside(size.call / 2);
        this.#cells.push(line(this.#now, 'fault', title));
        break;
      case 'condition': {
        const kind = event.status === 'True' ? 'good' : event.reason === 'ReconcileFailed' ? 'bad' : 'busy';
        this.#begin('condition', `stretch ${kind}`, `${title}\n${event.message}`, event.reason);
        break;
      }
      case 'pending-hooks':
        this.#setPending(event.hooks === '' ? [] : event.hooks.split(','));
        break;
      case 'control-plane':
        this.#addState(event, 'Control plane', title, event.state === 'creating');
        break;
      case 'worker':
        this.#addState(event, `Workers ${event.group}`, title, false);
        break;
    }
  }

  #rowOf(hook: string): string {
    const row = this.#hooks.get(hook) ?? `hook-${this.#hooks.size}`;
    this.#hooks.set(hook, row);
    return row;
  }

  /** Ends what is open in a row, and begins something else. */
  #begin(row: string, kind: string, title: string, text: string): void {
    this.#end(row);
    const from = this.#now;
    this.#open.set(row, { from, cellTo: (to) => cell(row, from, to, kind, title, text) });
  }

  #end(row: string, to = this.#now): void {
    const open = this.#open.get(row);
    // What had no time is drawn all the same, up to the next moment.
    this.#cells.push(...(open === undefined ? [] : [open.cellTo(Math.max(to, open.from + 1))]));
    this.#open.delete(row);
  }

  #setPending(hooks: readonly string[]): void {
    for (const hook of hooks) {
      const key = `${hook} pending`;
      if (!this.#open.has(key)) {
        const from = this.#now;
        this.#open.set(key, { from, cellTo: (to) => cell(this.#rowOf(hook), from, to, 'pending', 'pending') });
      }
    }
    for (const key of this.#open.keys()) {
      if (key.endsWith(' pending') && !hooks.includes(key.slice(0, -' pending'.length))) {
        this.#end(key);
      }
    }
  }

  /** A new state of the control plane, or of a group of workers. */
  #addState(
    { name, state, version }: { name: string; state: string; version: string },
    lane: string,
    title: string,
    isCreating: boolean,
  ): void {
    const row = this.#lanes.get(lane) ?? `lane-${this.#lanes.size}`;
    this.#lanes.set(lane, row);
    if (state === 'gone') {
      this.#end(row);
      return;
    }
    const tint = this.#tints.get(version) ?? this.#tints.size % tints;
    this.#tints.set(version, tint);
    const isMoving = state === 'upgrading' || isCreating;
    this.#begin(row, `stretch v${tint}${isMoving ? ' moving' : ''}`, `${name}: ${title}`, version);
  }

  /** @param isGone whether the Cluster had been deleted when the simulation ended: otherwise its lanes extend to the end. */
  html(isGone: boolean): string {
    this.#setPending([]);
    const now = this.#now;
    this.#advance(size.margin);
    this.#advance(size.margin);
    for (const row of this.#open.keys()) {
      this.#end(row, isGone ? now : now + 1);
    }
    const scale = Math.min(Math.max(wanted / this.#width, 1), mostScale);
    let free = 0;
    const ticks = this.#ticks.map(({ column, x, text }) => {
      const hasRoom = x * scale >= free;
      free = hasRoom ? x * scale + text.length * 6.4 + 12 : free;
      return line(column, 'tick', '', hasRoom ? text : '');
    });
    const labels = [...this.#lanes, ...this.#hooks].map(([title, row]) =>
      cell(row, 1, 'auto', `label ${row.startsWith('hook') ? 'hook' : 'lane'}`, title, title),
    );
    const bands = [...this.#hooks.values()].filter((_, index) => index % 2 === 1);
    const rows = [
      '[axis] 46px',
      ...[...this.#lanes.values()].map((row) => `[${row}] 36px`),
      '[gap] 6px',
      ...[...this.#hooks.values()].map((row) => `[${row}] 26px`),
    ];
    const columns = this.#columns.slice(1).map((width) => `minmax(${width}px,${width}fr)`);
    const template = `${rows.join(' ')} / ${size.label}px ${columns.join(' ')}`;
    const widest = size.label + Math.round(this.#width * mostScale);
    return `<div class="drawing" tabindex="0" role="region" aria-label="timeline of control plane, workers and hooks"><div class="grid" style="grid-template:${template};max-width:${widest}px">
${bands.map((row) => cell(row, 2, -1, 'band', '')).join('')}${ticks.join('')}${this.#cells.join('')}${cell('axis', 1, 'auto', 'label quiet', '', 'simulated time')}${labels.join('')}
</div></div>${this.isCut ? `<p class="note">The drawing ends after ${maxDrawn} calls; the table has more.</p>` : ''}`;
  }
}

/** The drawn timeline of a simulation. Its width grows with each call, and with the time that passes. */
export function drawingOf(entries: readonly Entry[]): string {
  const drawing = new Drawing();
  for (const shown of shownEntries(entries)) {
    const { entry } = shown;
    if (drawing.isCut) {
      break;
    }
    if (entry.type === 'event') {
      drawing.addEvent(entry.event, entry.at);
    } else if (entry.type === 'end') {
      drawing.moveTo(entry.at);
    } else if (entry.hook !== 'Discovery') {
      drawing.addCall(entry, shown);
    }
  }
  return drawing.html(
    entries.some(
      (entry) => entry.type === 'event' && entry.event.kind === 'control-plane' && entry.event.state === 'gone',
    ),
  );
}
