import { relative, resolve, sep } from 'node:path';
import { isJsonObject, type Json } from '../../kubernetes/index.ts';
import type { LintedObject, LintFinding } from './result.ts';

/** Findings that agree in all of this, wherever they are in their file. */
interface Entry {
  /** The path from the folder of the baseline, with `/`. */
  file: string;
  /** The name of the ExtensionConfig. */
  object: string;
  rule: string;
  field: string;
  count: number;
}

/** Why a text is not a baseline. */
export class BaselineError extends Error {}

const keyOf = ({ file, object, rule, field }: Omit<Entry, 'count'>) => JSON.stringify([file, object, rule, field]);

function isEntry(value: Json): value is Json & Entry {
  return (
    isJsonObject(value) &&
    ['file', 'object', 'rule', 'field'].every((key) => typeof value[key] === 'string') &&
    Number.isInteger(value.count)
  );
}

/**
 * Creates a baseline: findings of an earlier run that are not reported again, or those of this run.
 *
 * @param folder the folder of its file, from which the paths in it start.
 * @param text the content of its file; absent for an empty one.
 * @throws {BaselineError} for a text that `format` did not write.
 */
export function createBaseline(folder: string, text = '{"findings":[]}') {
  let content: Json;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new BaselineError(`is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  const recorded = isJsonObject(content) ? content.findings : undefined;
  if (!Array.isArray(recorded) || !recorded.every(isEntry)) {
    throw new BaselineError('is not a baseline: --write-baseline writes one');
  }
  const entries = new Map<string, Entry>();
  let size = 0;
  function change(entry: Omit<Entry, 'count'>, by: number): void {
    const key = keyOf(entry);
    const count = (entries.get(key)?.count ?? 0) + by;
    const { file, object, rule, field } = entry;
    entries.set(key, { file, object, rule, field, count });
    size += by;
  }
  const entryOf = ({ name }: LintedObject, { file, ruleId, field }: LintFinding) => ({
    file: file === '<stdin>' ? file : relative(folder, resolve(file)).replaceAll(sep, '/'),
    object: name,
    rule: ruleId,
    field,
  });
  for (const entry of recorded) {
    change(entry, entry.count);
  }
  return {
    add: (object: LintedObject, finding: LintFinding) => change(entryOf(object, finding), 1),
    /** Removes a finding; false if it is not (or no longer) in the baseline. */
    remove(object: LintedObject, finding: LintFinding): boolean {
      const entry = entryOf(object, finding);
      const isIn = (entries.get(keyOf(entry))?.count ?? 0) > 0;
      if (isIn) {
        change(entry, -1);
      }
      return isIn;
    },
    get size(): number {
      return size;
    },
    /** The text of the file, with the entries in the order of their fields. */
    format(): string {
      const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => JSON.stringify(entry));
      return `{"findings":[\n${sorted.join(',\n')}\n]}\n`;
    },
  };
}
