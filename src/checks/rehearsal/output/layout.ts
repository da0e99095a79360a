import type { CallEntry, Entry, EventEntry } from '../record.ts';
import { type CallVerdict, clockText, eventText, Runs, verdictOf } from './words.ts';

/** Sizes in the drawing, in pixels. */
export const size = {
  /** Distance between calls at the same time. */
  call: 30,
  /** Minimum and maximum width of a period between events. */
  gap: 14,
  longestGap: 84,
  axis: 46,
  bar: 26,
  lane: 36,
  strip: 14,
  row: 26,
  margin: 24,
} as const;

/** Width of the number next to a mark that represents several calls. */
export const countWidth = 40;

/** Maximum number of calls that are drawn; the table has them all. */
export const maxDrawn = 400;
/** Number of shades for versions, which are reused in turn. */
const tints = 6;

/** An item in the drawing, in one of its columns. */
export interface Mark {
  x: number;
  entry: CallEntry;
  verdict: CallVerdict;
  /**
   * Number of calls that the mark represents: in a run of identical calls, the second mark represents all but the
   * first.
   */
  count: number;
}

/** A section of a lane. */
export interface Stretch {
  from: number;
  to: number;
  label: string;
  kind: string;
  title: string;
}

/** The parts of a drawing, computed in one pass over the entries of a simulation. */
export interface Drawing {
  width: number;
  ticks: { x: number; text: string }[];
  users: { x: number; text: string; title: string }[];
  faults: { x: number; text: string }[];
  lanes: Map<string, { title: string; stretches: Stretch[] }>;
  conditions: Stretch[];
  rows: Map<string, { marks: Mark[]; pending: { from: number; to: number }[] }>;
  isCut: boolean;
}

/** Width of a period: logarithmic, so that an hour does not hide what happens in a minute. */
const gapOf = (ms: number) => Math.min(size.gap + 14 * Math.log10(1 + ms / 1000), size.longestGap);

type SimulatedEvent = EventEntry['event'];
type LaneEvent = Extract<SimulatedEvent, { state: string; version: string }>;

/** Ends the last section of a lane. */
function endLast(stretches: readonly Stretch[], x: number): void {
  const last = stretches.at(-1);
  if (last !== undefined) {
    last.to = x;
  }
}

/** Events that only the table shows. */
const notDrawn: ReadonlySet<string> = new Set(['plan', 'templates', 'object-condition', 'machine']);

/** One pass over the entries of a simulation. */
class Layout {
  readonly drawing: Drawing = {
    width: 0,
    ticks: [],
    users: [],
    faults: [],
    lanes: new Map(),
    conditions: [],
    rows: new Map(),
    isCut: false,
  };
  readonly #scale: number;
  /** Position of the next item, and its time. */
  #x: number = size.margin;
  #at = -1;
  /** Position of the last mark, and the number of marks there. */
  #lastMark = -1;
  #drawn = 0;
  /** The current run of identical calls. */
  #run: { calls: number; mark: Mark } | undefined;
  readonly #runs = new Runs();
  readonly #pendingFrom = new Map<string, number>();
  readonly #tints = new Map<string, number>();

  constructor(scale: number) {
    this.#scale = scale;
  }

  moveTo(time: number): void {
    if (time !== this.#at) {
      this.#x += this.#at < 0 ? 0 : gapOf(time - this.#at) * this.#scale;
      this.#at = time;
      this.drawing.ticks.push({ x: this.#x, text: clockText(time) });
    }
  }

  /** Adds a call, unless it repeats the previous answer. */
  addCall(entry: CallEntry): void {
    const kind = entry.hook === 'Discovery' ? 'hidden' : this.#runs.of(entry);
    if (kind === 'hidden') {
      return;
    }
    const calls = kind === 'again' && this.#run !== undefined ? this.#run.calls + 1 : 1;
    if (this.#run !== undefined && calls > 2) {
      this.#run.calls++;
      this.#run.mark.count++;
      this.#at = entry.at;
      return;
    }
    if (this.#run !== undefined && this.#run.mark.count > 1) {
      // Leaves room for the number next to the mark.
      this.#x += countWidth;
    }
    if (this.#drawn === maxDrawn) {
      this.drawing.isCut = true;
      return;
    }
    this.#drawn++;
    this.moveTo(entry.at);
    this.#stepAside(size.call);
    this.#lastMark = this.#x;
    const mark: Mark = { x: this.#x, entry, verdict: verdictOf(entry), count: 1 };
    this.#rowOf(entry.hook).marks.push(mark);
    this.#run = { calls, mark };
  }

  addEvent(event: SimulatedEvent, at: number): void {
    if (notDrawn.has(event.kind)) {
      return;
    }
    this.moveTo(at);
    const title = eventText(event);
    switch (event.kind) {
      case 'user':
        this.#stepAside(size.call);
        this.drawing.users.push({ x: this.#x, text: event.flag, title });
        break;
      case 'fault':
      case 'finding':
        this.#stepAside(size.call / 2);
        this.drawing.faults.push({ x: this.#x, text: title });
        break;
      case 'condition':
        this.#addCondition(event);
        break;
      case 'pending-hooks':
        this.#setPending(event.hooks === '' ? [] : event.hooks.split(','));
        break;
      case 'control-plane':
      case 'worker':
        this.#addState(event, title);
        break;
    }
  }

  /** @param isGone whether the Cluster had been deleted when the simulation ended: otherwise its lanes extend to the end. */
  finish(isGone: boolean): Drawing {
    const end = this.#x + size.margin + 10;
    this.#setPending([]);
    for (const { stretches } of isGone ? [] : this.drawing.lanes.values()) {
      endLast(stretches, end);
    }
    endLast(this.drawing.conditions, isGone ? this.#x : end);
    this.drawing.width = end + size.margin;
    return this.drawing;
  }

  /** Makes room where the last mark is. */
  #stepAside(width: number): void {
    if (this.#lastMark === this.#x) {
      this.#x += width * this.#scale;
    }
  }

  #rowOf(hook: string) {
    const row = this.drawing.rows.get(hook) ?? { marks: [], pending: [] };
    this.drawing.rows.set(hook, row);
    return row;
  }

  #setPending(hooks: readonly string[]): void {
    for (const hook of hooks) {
      if (!this.#pendingFrom.has(hook)) {
        this.#pendingFrom.set(hook, this.#x);
      }
    }
    for (const [hook, from] of this.#pendingFrom) {
      if (!hooks.includes(hook)) {
        this.#rowOf(hook).pending.push({ from, to: this.#x });
        this.#pendingFrom.delete(hook);
      }
    }
  }

  #addCondition({ status, reason, message }: Extract<SimulatedEvent, { kind: 'condition' }>): void {
    endLast(this.drawing.conditions, this.#x);
    const kind = status === 'True' ? 'good' : reason === 'ReconcileFailed' ? 'bad' : 'busy';
    const title = `TopologyReconciled ${status} ${reason}\n${message}`;
    this.drawing.conditions.push({ from: this.#x, to: this.#x, label: reason, kind, title });
  }

  /** A new state of the control plane, or of a group of workers. */
  #addState(event: LaneEvent, title: string): void {
    const lane = this.drawing.lanes.get(event.name) ?? {
      title: event.kind === 'control-plane' ? 'Control plane' : `Workers ${event.group}`,
      stretches: [],
    };
    this.drawing.lanes.set(event.name, lane);
    endLast(lane.stretches, this.#x);
    if (event.state !== 'gone') {
      const isMoving = event.state === 'upgrading' || (event.state === 'creating' && event.kind === 'control-plane');
      const kind = `${this.#tintOf(event.version)}${isMoving ? ' moving' : ''}`;
      lane.stretches.push({ from: this.#x, to: this.#x, label: event.version, kind, title });
    }
  }

  #tintOf(version: string): string {
    const tint = this.#tints.get(version) ?? this.#tints.size % tints;
    this.#tints.set(version, tint);
    return `v${tint}`;
  }
}

/**
 * Computes the layout of a simulation: x grows with each call, and with the time that passes.
 *
 * @param scale factor by which the drawing is wider than its minimum.
 */
export function layOut(entries: readonly Entry[], scale: number): Drawing {
  const layout = new Layout(scale);
  for (const entry of entries) {
    if (entry.type === 'call') {
      layout.addCall(entry);
    } else if (entry.type === 'event') {
      layout.addEvent(entry.event, entry.at);
    } else {
      layout.moveTo(entry.at);
    }
    if (layout.drawing.isCut) {
      break;
    }
  }
  const isGone = entries.some(
    (entry) => entry.type === 'event' && entry.event.kind === 'control-plane' && entry.event.state === 'gone',
  );
  return layout.finish(isGone);
}
