import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import {
  type Entry,
  type InputObject,
  type RehearsalOptions,
  readInput,
  rehearse,
} from '../../../src/checks/rehearsal/index.ts';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

const folder = new URL('../../support/fixtures/rehearsal/', import.meta.url);

/** The objects of YAML, each with the place `given:NUMBER`. */
export function objectsOf(yaml: string): InputObject[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS())
    .map((object, index) => ({
      object: object as JsonObject,
      where: () => `given:${index + 1}`,
    }));
}

type HandlerCall = Extract<Entry, { type: 'call' }>['call'];

/** The call of a handler, by default a success without a message. */
export const handlerCall = (handler: string, more: Partial<HandlerCall>): HandlerCall => ({
  ...{ handler, status: 'Success', message: '', retryAfterSeconds: 0, error: '' },
  ...more,
});

/** The text of a fixture. */
export const fixture = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

/** Rehearses clusters without real waits, and returns what happened. Objects may be given as YAML. */
export async function played(
  configs: readonly ExtensionConfig[],
  given: string | readonly InputObject[],
  options: Partial<Omit<RehearsalOptions, 'scenario' | 'limits'>> & {
    upgrades?: readonly string[];
    isDeleted?: boolean;
    updatesInPlace?: boolean;
    maxCalls?: number;
    maxFailures?: number;
  } = {},
) {
  const {
    upgrades = [],
    isDeleted = false,
    updatesInPlace = false,
    maxCalls = 300,
    maxFailures = 5,
    ...more
  } = options;
  const entries: Entry[] = [];
  const { subjects, namespaces } = readInput(typeof given === 'string' ? objectsOf(given) : given, upgrades[0]);
  let uids = 0;
  const result = await rehearse({
    configs,
    subjects,
    scenario: { upgrades, isDeleted, updatesInPlace },
    limits: { maxCalls, maxFailures },
    namespaceLabels: async (name) => ({ 'kubernetes.io/metadata.name': name, ...namespaces.get(name) }),
    onEntry: (entry) => entries.push(entry),
    signal: new AbortController().signal,
    start: new Date('2026-08-21T10:00:00Z'),
    newUid: () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`,
    sleep: async () => {},
    ...more,
  });
  return {
    ...result,
    entries,
    calls: entries.filter((entry) => entry.type === 'call'),
    events: entries.filter((entry) => entry.type === 'event').map(({ event }) => event),
    end: entries.filter((entry) => entry.type === 'end').at(-1),
  };
}
