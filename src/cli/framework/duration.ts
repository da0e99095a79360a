import { goDurationMs } from '../../kubernetes/index.ts';
import { type Flag, FlagError } from './flags.ts';

/** Milliseconds of a duration in Go's syntax, plus days: `30s`, `1h30m`, `90d`; NaN for anything else. */
const millisecondsOf = (text: string) => goDurationMs(text, { d: 86_400_000 }) ?? Number.NaN;

export function durationFlag(min: string, max: string, defaultText: string, summary: string): Flag<number> {
  return {
    summary,
    placeholder: 'DURATION',
    default: millisecondsOf(defaultText),
    defaultText,
    parse: (text) => {
      const value = millisecondsOf(text);
      if (Number.isNaN(value)) {
        throw new FlagError('it must be a duration like 30s, 1h30m or 90d');
      }
      if (value < millisecondsOf(min) || value > millisecondsOf(max)) {
        throw new FlagError(`it must be from ${min} to ${max}`);
      }
      return value;
    },
  };
}
