import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { isPatchEnabled, renderValueTemplate, type Variables, variableValue } from '../../../src/topology/index.ts';
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
    return { error: (error as Error).message };
  }
}

/** Of errors in YAML only that they are errors is the same, and of a number that JSON.parse has read as infinite. */
function isWordedAlike(error: string): boolean {
  return !error.includes('error converting YAML to JSON') && !error.includes('1e400');
}

const cases = all.filter(({ name }) => !unlike.has(name)).map((recorded) => [recorded.name, recorded] as const);

testRows('templates and paths give what Cluster API made of them', cases, (recorded) => {
  const { enabled, value, error } = recorded.result;
  if (error === undefined) {
    expect(outcome(recorded)).toStrictEqual(recorded.kind === 'enabledIf' ? { enabled } : { value });
  } else {
    expect(outcome(recorded)).toEqual({ error: isWordedAlike(error) ? error : expect.any(String) });
  }
});

test('all recorded templates are compared', () => {
  expect(all).toHaveLength(1_897);
});
