import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openApiSchemaOf, versions } from '../../src/extensionconfig/index.ts';
import type { Schema } from '../../src/kubernetes/schema/index.ts';
import { mayHaveExpressions, readExpressions, superLinear } from '../../tools/architecture/regular-expressions.ts';

const { expressions, computed } = readExpressions(fileURLToPath(new URL('../../src/', import.meta.url)));

test.each([
  ['exponential', '^(a+)+$'],
  ['nested, with alternatives', '^([0-9]*\\.?[0-9]+s)+$'],
  ['adjacent repeats', '^[\\n]*={0,2}[\\n]*$'],
  ['retried at every start', '\\s+$'],
])('the analysis finds an expression that backtracks: %s', (_name, source) => {
  expect(superLinear({ source, flags: '' })).toContain(source);
});

test('the analysis accepts expressions that do not backtrack', () => {
  expect(
    ['^[a-z]*$', 'a{1,9}b', '[^-a-z]', '^[^/]+/[^/]+$'].map((source) => superLinear({ source, flags: '' })),
  ).toEqual([undefined, undefined, undefined, undefined]);
});

test.each([
  'const a = /a/;',
  'const a =\n  /a/;',
  '/a/.test(b);',
  'f(b, /a/)',
  'f(/a/)',
  'if (b) /a/.test(b);',
  'if (b) { /a/.test(b) }',
  'return /a/.test(b)',
  'for (const a of /a/.exec(b) ?? []) {}',
  'const a = b ? /a/ : /b/;',
  'const a = b ?? /a/;',
  'const a = [/a/];',
  'const a = { b: /a/ };',
  'const a = { ...(/a/) };',
  'const a = () => /a/;',
  'const a = /* b */ /a/;',
  'const a = b * /a/;',
  `const a = \`\${/a/}\`;`,
  'new RegExp(a)',
  "const a = { pattern: 'a' };",
  "const a = { 'pattern': 'a' };",
])('a file with an expression is not left out: %s', (text) => {
  expect(mayHaveExpressions(text)).toBe(true);
});

test.each([
  "import { a } from '../b/c.ts';",
  '/** A comment. */\nconst a = b / c; // Another, and https://example.com/\n',
  `const a = \`\${b}/\${c}\`;`,
  'const a = (b + c) / 2;',
])('a file without one is: %s', (text) => {
  expect(mayHaveExpressions(text)).toBe(false);
});

test('no regular expression of the program backtracks over its input', () => {
  expect(expressions.length).toBeGreaterThan(50);
  expect(
    expressions.map((one) => (superLinear(one) ? `${one.file}: ${superLinear(one)}` : '')).filter(Boolean),
  ).toEqual([]);
});

test('regular expressions are only created from schemas and tables of this project', () => {
  // Those of ExtensionConfig compile patterns of a CustomResourceDefinition, which are checked below (the sandbox, which
  // also gets patterns of other definitions, runs them on an engine of its own); those of topology join constants, and
  // that of alike.ts the escaped name of a Cluster.
  expect([...new Set(computed)]).toEqual([
    'extensionconfig/api/formats.ts',
    'topology/alike.ts',
    'topology/templates/functions/paths.ts',
    'topology/templates/functions/strings.ts',
    'topology/templates/functions/versions.ts',
    'topology/templates/language/tokens.ts',
    'topology/templates/read-yaml.ts',
    'topology/world/names.ts',
  ]);
});

function patternsOf(schema: Schema): string[] {
  const { pattern, items, properties = {}, additionalProperties } = schema;
  return [
    ...(pattern === undefined ? [] : [pattern]),
    ...[items, ...Object.values(properties)].flatMap((of) => (of === undefined ? [] : patternsOf(of))),
    ...(typeof additionalProperties === 'object' ? patternsOf(additionalProperties) : []),
  ];
}

test.each(versions)('no pattern of the CustomResourceDefinition backtracks, %s', (version) => {
  const patterns = patternsOf(openApiSchemaOf(version));
  expect(patterns.length).toBeGreaterThan(0);
  expect(patterns.map((source) => superLinear({ source, flags: 'u' })).filter(Boolean)).toEqual([]);
});
