import { count, type Paint, printable } from '../../../base/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import type { CallEntry, EndEntry, Entry } from '../record.ts';
import { eventLines, indent, line } from './event-lines.ts';
import { answerText, argumentsText, clockText, Runs, stepsText, verdictOf } from './words.ts';

const styleOf = { passed: 'green', blocked: 'yellow', failed: 'red', ignored: 'dim' } as const;

/** Width of the column for the hook. */
const hookWidth = Math.max(...Object.keys(hooks).map((name) => name.length));
/** Width of the column for versions. */
const argumentWidth = 19;

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
        `${paint('bold', hook.padEnd(hookWidth))} ${argumentsText(entry).padEnd(argumentWidth)} ${paint(styleOf[verdict], answerText(entry))}${paint('dim', `  (${printable(call.handler)}${call.isMadeUp ? ', made up' : ''})`)}`,
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
    /** The lines for one more entry. */
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
