import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { rules } from '../../../src/policy/index.ts';
import { exampleOf, exampleReports } from './example-reports.ts';
import { lineOf, linesWith, ruleOf } from './lines.ts';
import { ruleCases } from './rule-cases.ts';

test('every rule has cases', () => {
  expect(Object.keys(ruleCases).sort()).toEqual(rules.map(({ id }) => id).sort());
});

test.each(Object.entries(ruleCases))('%s', (id, { valid, invalid }) => {
  const rule = ruleOf(id);
  const found = (object: JsonObject) =>
    exampleReports(id, object)
      .filter((report) => report.rule.id === id)
      .map((report) => {
        expect(report.severity).toBe(rule.severity);
        return lineOf(report);
      });
  expect(valid.flatMap(found)).toEqual([]);
  expect(invalid.map(([object]) => found(object))).toEqual(invalid.map(([_, ...lines]) => lines));
});

test.each(Object.keys(ruleCases))('no rule finds anything in the fixed example of %s', (id) => {
  const { good } = exampleOf(id);
  expect(exampleReports(id, good).map(({ rule, message }) => `${rule.id}: ${message}`)).toEqual([]);
});

test.each([
  'api-version-unknown',
  'api-group',
  'metadata',
  'unknown-field',
  'not-rendered',
])('%s reports nothing that the API server has seen to', (id) => {
  expect(linesWith(id, exampleOf(id).bad, { isPruned: false })).not.toEqual([]);
  expect(linesWith(id, exampleOf(id).bad, { isPruned: true })).toEqual([]);
});

test('no message names something that does not exist', () => {
  const messages = Object.entries(ruleCases).flatMap(([id, { valid, invalid }]) =>
    [...valid, ...invalid.map(([object]) => object)].flatMap((object) =>
      exampleReports(id, object).map(({ message }) => message),
    ),
  );
  expect(messages.length).toBeGreaterThan(100);
  expect(messages.filter((message) => /undefined|\[object|NaN/.test(message))).toEqual([]);
});
