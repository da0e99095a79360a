import { UsageError } from './program.ts';

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads a duration in Go's syntax, and days: `30s`, `1h30m`, `90d`. Returns ms; `flag` names it in the error. */
export function parseDuration(text: string, flag: string): number {
  const parts = [...text.matchAll(/(\d{1,15}(?:\.\d{1,15})?)(ms|s|m|h|d)/g)];
  if (text !== '0' && (parts.length === 0 || parts.map(([part]) => part).join('') !== text)) {
    throw new UsageError(`${flag}: ${JSON.stringify(text)} is no duration: write one like 30s, 1h30m or 90d`);
  }
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitMs[unit as string] as number), 0);
}
