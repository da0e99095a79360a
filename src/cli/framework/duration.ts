import { type Flag, FlagError } from './flags.ts';

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const maxTextLength = 64;

/** Parses a duration in Go's syntax, plus days: `30s`, `1h30m`, `90d`. Returns ms, or undefined for anything else. */
function parseDuration(text: string): number | undefined {
  if (text === '0') {
    return 0;
  }
  const parts = text.length > maxTextLength ? [] : [...text.matchAll(/(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) {
    return undefined;
  }
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitMs[unit as string] as number), 0);
}

function millisecondsOf(text: string): number {
  return parseDuration(text) ?? Number.NaN;
}

export function durationFlag(min: string, max: string, defaultText: string, summary: string): Flag<number> {
  return {
    summary,
    placeholder: 'DURATION',
    default: millisecondsOf(defaultText),
    defaultText,
    parse: (text) => {
      const value = parseDuration(text);
      if (value === undefined) {
        throw new FlagError('it must be a duration like 30s, 1h30m or 90d');
      }
      if (value < millisecondsOf(min) || value > millisecondsOf(max)) {
        throw new FlagError(`it must be from ${min} to ${max}`);
      }
      return value;
    },
  };
}
