import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { NotKnown } from '../../../src/topology/index.ts';
import {
  isPatchEnabled,
  renderValueTemplate,
  type Variables,
  variableValue,
} from '../../../src/topology/templates/index.ts';
import { testRows } from '../../support/rows.ts';

interface Recorded {
  name: string;
  kind: 'enabledIf' | 'template' | 'variable';
  expression: string;
  variables: Variables;
  result: { enabled?: boolean; value?: Json; error?: string };
}

/** What Cluster API made of templates and paths. */
const all = readFileSync(new URL('../../support/fixtures/go-templates/recorded.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded);

/** An object has one value for a key here: of equal keys in a variable's JSON, a path would name the first one. */
const unlike = new Set(["variable/'dup.a'"]);

/** Cases whose result is not known: functions that are not computed, and YAML that `yaml` may read differently from go-yaml. */
const notKnown: readonly string[] = [
  'sprig/kindOf (toDate "2006-01-02" "2024-01-02")',
  'sprig/typeOf (toDate "2006-01-02" "2024-01-02")',
  'sprig/date duration 95',
  'sprig/date duration "x"',
  'sprig/date duration (int64 3661)',
  'sprig/date duration "0"',
  'sprig/date durationRound (int64 61000000000)',
  'sprig/date durationRound "800h"',
  'sprig/mustToDate-bad-error',
  'sprig/must_date_modify',
  'sprig/derivePassword',
  'sprig/derivePassword-pin',
  'sprig/decryptAES-bad-error',
  'sprig/htpasswd-colon-is-error-text',
  'sprig/genSelfSignedCertWithKey-bad-key-error',
  'sprig/bcrypt-is-in-the-map',
  'sprig/genPrivateKey-is-in-the-map',
  'lang/lit-number-imaginary',
  'lang/lit-number-complex',
  'lang/lit-number-typed',
  'lang/printf %v 1i',
  'sprig/quote-several',
  'sprig/squote-apostrophe-not-escaped-yaml-drops-the-rest',
  "yaml/map-value '!x'",
  `yaml/scalar '"a'`,
  "yaml/scalar 'a\\u2028b'",
  `yaml/scalar '!!int "1"'`,
  "yaml/scalar '!!'",
  "yaml/scalar '!!null x'",
  "yaml/scalar '!!binary /w=='",
  "yaml/scalar '!!timestamp x'",
  "yaml/scalar '!!set {a, b}'",
  "yaml/scalar '!!omap [a: 1]'",
  "yaml/scalar '!!map [a]'",
  "yaml/scalar '!custom a'",
  "yaml/scalar '!!unknown a'",
  "yaml/scalar '!<tag:yaml.org,2002:str> 1'",
  "yaml/scalar '!!merge <<'",
  "yaml/flow-key '!!str 1'",
  "yaml/flow-key '!!binary aGk='",
  'yaml/tab-only-line-between',
  'yaml/block-literal-indent-indicator',
  'yaml/block-literal-indicator-order',
  'yaml/block-literal-indicator-zero-error',
  'yaml/block-literal-indicator-nine',
  'yaml/block-literal-root-not-indented',
  'yaml/block-folded-indent-indicator',
  'yaml/double-quoted-not-indented',
  'yaml/double-quoted-document-marker',
  'yaml/flow-not-indented-inside-block',
  'yaml/doc-yaml-directive',
  'yaml/doc-tag-directive',
  'yaml/doc-block-scalar-then-map',
  'yaml/number-out -0.0',
  "enabledIf/text '! true'",
  "enabledIf/text '\\u2028true'",
];

function outcome({ kind, expression, variables }: Recorded): unknown {
  try {
    switch (kind) {
      case 'enabledIf':
        return { enabled: isPatchEnabled(expression, variables) };
      case 'template':
        return { value: renderValueTemplate(expression, variables) };
      default:
        return { value: variableValue(expression, variables) };
    }
  } catch (error) {
    if (error instanceof NotKnown) {
      return 'not known';
    }
    return { error: (error as Error).message };
  }
}

/** Of errors in YAML only that they are errors is the same, and of a number that JSON.parse has read as infinite. */
function isWordedAlike(error: string): boolean {
  return !error.includes('error converting YAML to JSON') && !error.includes('1e400');
}

const cases = all.filter(({ name }) => !unlike.has(name)).map((recorded) => [recorded.name, recorded] as const);

testRows(
  'templates and paths give what Cluster API made of them, but for those that are not known',
  cases,
  (recorded) => {
    const { enabled, value, error } = recorded.result;
    if (notKnown.includes(recorded.name)) {
      expect(outcome(recorded)).toBe('not known');
    } else if (error === undefined) {
      expect(outcome(recorded)).toStrictEqual(recorded.kind === 'enabledIf' ? { enabled } : { value });
    } else {
      expect(outcome(recorded)).toEqual({ error: isWordedAlike(error) ? error : expect.any(String) });
    }
  },
);

test('all recorded templates are compared, and at most 3 % are not known', () => {
  expect(all).toHaveLength(1_897);
  expect(notKnown.filter((name) => !all.some((recorded) => recorded.name === name))).toEqual([]);
  expect(notKnown.length / all.length).toBeLessThanOrEqual(0.03);
});
