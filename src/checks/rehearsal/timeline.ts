import { count, type Paint, printable, printableJson } from '../../base/index.ts';
import { goSecondsText } from '../../kubernetes/index.ts';
import { hooks } from '../../runtimehooks/index.ts';
import type { CallEntry, EndEntry, Entry, EventEntry } from './player.ts';

const hookWidth = Math.max(...Object.keys(hooks).map((name) => name.length));
const argumentWidth = 19;

const indent = ' '.repeat(11);

/** Simulated time since the simulation began, as `0:03:00`. */
function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const line = (at: number, text: string): string => `  ${clockText(at).padStart(7)}  ${text}\n`;

function argumentsText(entry: CallEntry): string {
  const { kubernetesVersion, fromKubernetesVersion: from, toKubernetesVersion: to, machine } = entry;
  const versions = from === undefined && to === undefined ? '' : `${from ?? ''} → ${to ?? ''}`;
  return printable(machine ?? kubernetesVersion ?? versions);
}

function answerOf({ call }: CallEntry): { text: string; style: 'green' | 'yellow' | 'red' | 'dim' } {
  const { status, message, retryAfterSeconds, error } = call;
  const after = (text: string) => printable(text === '' ? '' : `: ${text}`);
  if (status === 'Ignored') {
    return { text: `ignored by failurePolicy Ignore${after(error)}`, style: 'dim' };
  }
  if (status !== 'Success') {
    return { text: `failed${after(error)}`, style: 'red' };
  }
  return retryAfterSeconds === 0
    ? { text: `passed${after(message)}`, style: 'green' }
    : { text: `blocked for ${goSecondsText(retryAfterSeconds)}${after(message)}`, style: 'yellow' };
}

function eventLines({ event, at }: EventEntry, paint: Paint): string {
  switch (event.kind) {
    case 'condition': {
      const { status, reason, message } = event;
      const shown = `TopologyReconciled ${status} ${reason}${message === '' ? '' : `: ${message}`}`;
      const style = reason === 'ReconcileFailed' ? 'red' : 'cyan';
      const lines = shown.split('\n').map(printable);
      return lines.map((one) => `${indent}${paint(style, one)}\n`).join('');
    }
    case 'pending-hooks':
    case 'plan':
      return `${indent}${paint('dim', printable(event.text))}\n`;
    case 'finding': {
      const { severity, text, remedy } = event;
      return line(at, paint(severity === 'error' ? 'red' : 'yellow', printable(`${severity}: ${text}; ${remedy}`)));
    }
    default:
      return line(at, printable(event.text));
  }
}

/** Hooks that are called in every reconcile: only their first call, and one with another answer, is shown. */
const roundHooks: ReadonlySet<string> = new Set(['GeneratePatches', 'ValidateTopology']);

/** A timeline of one Cluster: a line per call, and below it what changed. Identical calls in a row are counted. */
export function createTimeline(paint: Paint) {
  let last = '';
  /** How many repetitions of the last call were omitted, and until when. */
  let omitted = { repeats: 0, until: 0 };
  const rounds = new Map<string, string>();

  function repeats(): string {
    const { repeats: more, until } = omitted;
    omitted = { repeats: 0, until };
    return more === 0 ? '' : `${indent}${paint('dim', `… and ${more} more like it, until ${clockText(until)}`)}\n`;
  }

  function callText(entry: CallEntry): string {
    const { hook, call, at } = entry;
    const { text, style } = answerOf(entry);
    const round = `${hook} ${call.handler}`;
    if (roundHooks.has(hook) && rounds.get(round) === text) {
      return '';
    }
    rounds.set(round, text);
    const key = JSON.stringify([round, argumentsText(entry), text]);
    if (key === last) {
      omitted = { repeats: omitted.repeats + 1, until: at };
      return '';
    }
    last = key;
    const before = repeats();
    const shown = `${paint('bold', hook.padEnd(hookWidth))} ${argumentsText(entry).padEnd(argumentWidth)} ${paint(style, text)}${paint('dim', `  (${printable(call.handler)})`)}`;
    return `${before}${line(at, shown)}`;
  }

  function endText({ isComplete, reason, at, calls }: EndEntry): string {
    const length = `${clockText(at)} of simulated time, ${count(calls, 'call')}`;
    return [
      repeats(),
      isComplete
        ? `  ${paint('green', 'The lifecycle completed')}: ${length}\n`
        : `  ${paint('red', 'The lifecycle could not be completed')}: ${printable(reason)}\n  ${length}\n`,
    ].join('');
  }

  return (entry: Entry): string => {
    if (entry.type === 'call') {
      return callText(entry);
    }
    return entry.type === 'end' ? endText(entry) : repeats() + eventLines(entry, paint);
  };
}

/** A line of JSON for each call, each change of the condition, and each Cluster (with `end`); undefined for other entries. */
export function jsonLine(entry: Entry): string | undefined {
  const { cluster, at } = entry;
  if (entry.type === 'event') {
    const { event } = entry;
    if (event.kind !== 'condition') {
      return undefined;
    }
    const { status, reason, message } = event;
    const condition = { type: 'TopologyReconciled', status, reason, message };
    return `${printableJson({ cluster, seconds: at / 1000, condition })}\n`;
  }
  if (entry.type === 'end') {
    const { isComplete, reason, calls } = entry;
    const end = isComplete ? 'complete' : 'incomplete';
    return `${printableJson({ cluster, seconds: at / 1000, end, ...(reason !== '' && { reason }), calls })}\n`;
  }
  const { type: _, number, hook, pendingHooks, call, cluster: _cluster, at: _at, ...about } = entry;
  const { status, message, retryAfterSeconds, error, handler } = call;
  const record = {
    ...{ cluster, call: number, seconds: at / 1000, hook, handler, ...about, status, retryAfterSeconds },
    message: message === '' ? undefined : message,
    error: error === '' ? undefined : error,
    pendingHooks,
  };
  return `${printableJson(record)}\n`;
}
