import { count, type Paint, printable, printableJson } from '../../../base/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import { diffLines } from '../../output/diff.ts';
import type { TemplateChange } from '../cluster/effects.ts';
import type { CallEntry, EndEntry, Entry, EventEntry } from '../record.ts';
import { answerText, argumentsText, clockText, eventText, Runs, stepsText, verdictOf } from './words.ts';

const styleOf = { passed: 'green', blocked: 'yellow', failed: 'red', ignored: 'dim' } as const;

const hookWidth = Math.max(...Object.keys(hooks).map((name) => name.length));
/** Width of the column for versions. */
const argumentWidth = 19;

/** Indentation of lines without a time. */
const indent = ' '.repeat(11);

function line(at: number, text: string): string {
  return `  ${clockText(at).padStart(7)}  ${text}\n`;
}

/** A template that was changed by patches, with its diff. */
function templateLines(change: TemplateChange, paint: Paint): string {
  const { holder, template, before, after, ignored } = change;
  return [
    `${indent}${printable(template)} (${printable(holder)})\n`,
    ...diffLines(before, after).map((text) => {
      const style = text.startsWith('+') ? 'green' : text.startsWith('-') ? 'red' : 'dim';
      return `${indent}  ${paint(style, text)}\n`;
    }),
    ...ignored.map(
      (path) => `${indent}  ${paint('yellow', `! Cluster API ignores the change to ${printable(path)}`)}\n`,
    ),
  ].join('');
}

function eventLines({ event, at }: EventEntry, paint: Paint): string {
  const text = eventText(event);
  switch (event.kind) {
    case 'condition': {
      const style = event.reason === 'ReconcileFailed' ? 'red' : 'cyan';
      const [first = '', ...more] = event.message.split('\n').map(printable);
      const lines = [`${text}${first === '' ? '' : `: ${first}`}`, ...more];
      return lines.map((one) => `${indent}${paint(style, one)}\n`).join('');
    }
    case 'pending-hooks':
    case 'plan':
      return `${indent}${paint('dim', text)}\n`;
    case 'templates':
      return [line(at, text), ...event.changes.map((change) => templateLines(change, paint))].join('');
    case 'finding':
      return line(at, paint(event.severity === 'error' ? 'red' : 'yellow', text));
    default:
      return line(at, event.kind === 'fault' ? paint('yellow', text) : text);
  }
}

/**
 * A timeline of one Cluster to read: a line per call, and below it what changed. Identical calls in a row are counted.
 */
export function createTimeline(paint: Paint) {
  const runs = new Runs();
  /** How many repetitions of the last call were omitted, and until when. */
  let omitted = { repeats: 0, until: 0 };
  const counts = new Map<string, number>();
  let steps = '';

  function repeats(): string {
    const { repeats: more, until } = omitted;
    omitted = { repeats: 0, until };
    return more === 0 ? '' : `${indent}${paint('dim', `… and ${more} more like it, until ${clockText(until)}`)}\n`;
  }

  function callText(entry: CallEntry): string {
    const { hook, call, at } = entry;
    counts.set(hook, (counts.get(hook) ?? 0) + 1);
    const run = runs.of(entry);
    if (run !== 'new') {
      omitted = run === 'again' ? { repeats: omitted.repeats + 1, until: at } : omitted;
      return '';
    }
    const before = repeats();
    const list = stepsText(entry);
    const shownSteps = list === '' || list === steps ? '' : `${indent}${paint('dim', `still to come: ${list}`)}\n`;
    steps = list === '' ? steps : list;
    const verdict = verdictOf(entry);
    return [
      before,
      line(
        at,
        `${paint('bold', hook.padEnd(hookWidth))} ${argumentsText(entry).padEnd(argumentWidth)} ${paint(styleOf[verdict], answerText(entry))}${paint('dim', `  (${printable(call.handler)})`)}`,
      ),
      shownSteps,
    ].join('');
  }

  function endText({ isComplete, reason, at, calls }: EndEntry): string {
    const list = [...counts].map(([hook, number]) => `${number} ${hook}`).join(', ');
    const length = `${clockText(at)} of simulated time, ${count(calls, 'call')}`;
    return [
      repeats(),
      isComplete
        ? `  ${paint('green', 'The lifecycle completed')}: ${length}\n`
        : `  ${paint('red', 'The lifecycle could not be completed')}: ${printable(reason)}\n  ${length}\n`,
      list === '' ? '' : `  ${paint('dim', list)}\n`,
    ].join('');
  }

  return {
    add(entry: Entry): string {
      if (entry.type === 'call') {
        return callText(entry);
      }
      if (entry.type === 'end') {
        return endText(entry);
      }
      return repeats() + eventLines(entry, paint);
    },
  };
}

/**
 * An entry as a line of JSON: a record for each call, one for each change of the condition TopologyReconciled, and one
 * with `end` for each Cluster. Undefined for other entries.
 */
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
