import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { readDocument, splitDocuments } from '../../../src/kubernetes/manifests/index.ts';
import { needs } from '../../support/needs.ts';
import { testRows } from '../../support/rows.ts';
import { corpus, type KubectlReading, startKubectl } from './kubectl-yaml.ts';

const recorded: KubectlReading[] = JSON.parse(
  readFileSync(new URL('../../support/fixtures/kubectl-yaml.json', import.meta.url), 'utf8'),
);

/** Texts that we reject although kubectl reads them, each with a reason. */
const stricter: Record<string, RegExp> = {
  // Kubectl silently takes the last one.
  'value: keys of many kinds': /duplicate key/,
  'value: keys 1 and "1"': /duplicate key/,
  'value: keys twice': /duplicate key/,
  'value: keys twice in flow': /duplicate key/,
  'value: keys twice, quoted': /duplicate key/,
  'value: keys twice, nested': /duplicate key/,
  // kubectl silently drops the rest.
  'file: an end marker and another document without a marker': /follows "\.\.\."/,
  // Line breaks in YAML 1.1 only.
  'scalar "\u2028"': /line break/,
  'scalar "\u2028" in a list': /line break/,
  'scalar "a\u2028b" in a list': /line break/,
  'scalar "a\u0085b" in a list': /line break/,
  'file: NEL in quotes': /line break/,
  'file: a line separator in quotes': /line break/,
  // Neither YAML 1.1 nor 1.2: kubectl's parser is lenient.
  'value: double-quoted quote': /Invalid escape/,
  'value: double-quoted at column 0': /Missing closing/,
  'value: double-quoted with a glued comment': /Comments must be separated/,
  'value: literal with a glued comment': /Comments must be separated/,
  'value: flow list over lines at column 0': /must be sufficiently indented/,
  'file: flow in the first column': /must be sufficiently indented/,
  'scalar "-" in a list': /not allowed within flow collections/,
  'value: flow list with dashes': /not allowed within flow collections/,
  'file: CR': /not allowed in compact mappings/,
  // Tags other than those of JSON's types.
  ...Object.fromEntries(
    [
      ...['value: merge with its tag', 'value: tag binary', 'value: tag binary over lines', 'value: tag set'],
      ...['value: tag binary that is not text'],
      ...['value: tag map of a list', 'value: tag omap', 'value: tag pairs', "value: tag of one's own"],
      ...[
        "value: tag of one's own on a number",
        "value: tag of one's own on a map",
        "value: tag of one's own on a list",
      ],
      ...['value: tag unknown of YAML', 'value: tag unknown of YAML on a number', "value: tag verbatim of one's own"],
    ].map((name) => [name, /Unresolved tag: .*: remove the tag/]),
  ),
  // Other parsers read these differently from kubectl.
  'value: double-quoted escaped line end and a blank line': /a blank line follows a backslash; write the line break as/,
  'value: double-quoted escaped line end and a line of blanks': /a blank line follows a backslash/,
  'scalar "a:" in a list': /put it in quotes/,
  'scalar "?a" in a list': /put it in quotes/,
  'value: flow map with a colon before the brace': /put it in quotes/,
  'value: flow map with a colon before the brace, on another line': /put it in quotes/,
  'value: flow map with a colon before the comma': /put it in quotes/,
  'value: flow list with a colon before the bracket': /put it in quotes/,
  'file: flow in the first column, glued': /must be sufficiently indented/,
};

/**
 * Texts that we read although kubectl's parser rejects them: `kubectl apply` would report them, and they do no harm
 * here.
 */
const laxer = new Set([
  'scalar "!" in a list',
  'value: double-quoted slash',
  'value: double-quoted surrogates',
  'value: anchor with punctuation',
  'value: tag int of a float',
  'value: literal with a tab',
  'value: a line of only a tab',
]);

/** Whether kubectl could not parse the YAML; its other errors are about the parsed object. */
const isUnread = (error: string) => error.includes('error parsing') || error.includes('error converting YAML');

function read(text: string): { objects: Json[]; errors: string[] } {
  const objects: Json[] = [];
  const errors: string[] = [];
  for (const part of splitDocuments(text)) {
    const document = 'error' in part ? { errors: [{ message: part.error }] } : readDocument(part);
    if ('errors' in document) {
      errors.push(...document.errors.map(({ message }) => message));
    } else {
      objects.push(...document.objects.map(({ object }) => object));
    }
  }
  return { objects: JSON.parse(JSON.stringify(objects)), errors };
}

test('the corpus is the recorded one (else: record it again)', () => {
  expect(recorded.map(({ name, text }) => ({ name, text }))).toEqual(corpus());
});

const rows = recorded.map((reading) => [reading.name, reading] as const);

testRows('the corpus is read as by kubectl', rows, ({ name, text, objects: printed, error }) => {
  const objects = structuredClone(printed);
  const found = read(text);
  const reason = stricter[name];
  if (reason !== undefined) {
    expect(error).toBeUndefined();
    expect(found.errors[0]).toMatch(reason);
  } else if (laxer.has(name)) {
    expect(isUnread(error ?? '')).toBe(true);
    expect(found.errors).toEqual([]);
  } else if (error === undefined) {
    for (const { metadata } of objects as { metadata?: { namespace?: string } }[]) {
      // Filled in by kubectl; no text of the corpus contains this namespace.
      if (metadata?.namespace === 'default') {
        delete metadata.namespace;
      }
    }
    expect(found).toEqual({ objects, errors: [] });
  } else if (isUnread(error)) {
    expect(found.errors.length).toBeGreaterThan(0);
  } else {
    // It was parsed, but kubectl would not create it.
    expect(found.errors).toEqual([]);
  }
});

/** Of keys that become equal, kubectl picks a random one. */
const byChance = new Set(['value: keys of many kinds', 'value: keys 1 and "1"']);

test('kubectl still reads the corpus as recorded', { ...needs('kubectl'), timeout: 120_000 }, async () => {
  const kubectl = await startKubectl();
  try {
    // One kubectl reads them all, and reports which of them it cannot parse.
    const asked = recorded.filter(({ name, error }) => !byChance.has(name) && error?.includes('FILE') !== false);
    const now = await kubectl.askAll(asked.map(({ text }) => text));
    expect(asked.length).toBeGreaterThan(800);
    expect(now.objects).toEqual(asked.flatMap(({ objects }) => objects));
    expect(now.refused).toEqual(asked.flatMap(({ error }, index) => (error === undefined ? [] : [index])));
    // Each of these errors names no file, and stops kubectl.
    const [other] = recorded.filter(({ error }) => error?.includes('FILE') === false);
    expect(await kubectl.ask(other?.text ?? '')).toEqual({ objects: other?.objects, error: other?.error });
  } finally {
    kubectl.end();
  }
});
