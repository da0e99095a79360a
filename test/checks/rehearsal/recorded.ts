import { readdirSync, readFileSync } from 'node:fs';
import type { UserEdit } from '../../../src/checks/rehearsal/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** A folder with recordings of Cluster API. */
export const recordings = new URL('../../support/fixtures/runtime-sdk/', import.meta.url);

const textOf = (path: string) => readFileSync(new URL(path, recordings), 'utf8');

/** A line of `conditions.jsonl`: a mark, a condition, or annotations of an object. */
export interface RecordedChange {
  at: string;
  mark?: string;
  kind?: string;
  name?: string;
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
  annotations?: Record<string, string>;
}

/** The changes that Cluster API wrote, in order. */
export const recordedChanges = (path: string): RecordedChange[] =>
  textOf(path)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedChange);

/** The changes between two marks; the first ones and the last ones without them. */
export function changesBetween(changes: readonly RecordedChange[], from?: string, to?: string): RecordedChange[] {
  const start = from === undefined ? 0 : changes.findIndex(({ mark }) => mark?.startsWith(from)) + 1;
  const rest = changes.slice(start);
  const end = to === undefined ? -1 : rest.findIndex(({ mark }) => mark?.startsWith(to));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The text of a recorded file. */
export const recordedText = textOf;

/** The recorded calls of a folder, by their names. */
export function recordedCallsIn(folder: string): Map<string, { url: string; body: JsonObject; answer: JsonObject }> {
  const url = new URL(`${folder}/`, recordings);
  return new Map(
    readdirSync(url).map((file) => [
      file.replace(/\.json$/, ''),
      JSON.parse(readFileSync(new URL(file, url), 'utf8')) as { url: string; body: JsonObject; answer: JsonObject },
    ]),
  );
}

/** Generated letters at the end of names, and what else differs between two runs by chance. */
export const withoutSuffixes = (text: string): string =>
  text.replaceAll(/\b([a-z]\d(?:-m[dp]-\d)?)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-SUFFIX');

/** Fields that an API server fills in. */
const chance = new Set([
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'generation',
  'ownerReferences',
  'uid',
  'port',
]);

/** A request without what differs between two runs by chance. */
export function normalized(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(normalized);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !chance.has(name))
        .map(([name, field]) => [name, normalized(field)]),
    );
  }
  return typeof value === 'string' ? withoutSuffixes(value) : value;
}

interface Edit {
  text: string;
  apply: (topology: JsonObject) => void;
  before?: string | undefined;
}

/** An edit of the Cluster's topology. */
export const editTopology = (text: string, apply: Edit['apply'], before?: string): Edit => ({ text, apply, before });

/** Makes edits, each once. */
export function makingEdits(...edits: Edit[]): UserEdit {
  let waiting = edits;
  return (spec, hook) => {
    const edit = waiting.find(({ before }) => before === hook);
    waiting = waiting.filter((one) => one !== edit);
    edit?.apply(spec.topology as JsonObject);
    return edit?.text;
  };
}
