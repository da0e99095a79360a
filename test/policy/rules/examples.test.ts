import { expect, test } from 'vitest';
import { rules } from '../../../src/policy/index.ts';
import { exampleOf, exampleReports, ruleExamples } from './example-reports.ts';

test('each rule has an example, and no other', () => {
  expect(Object.keys(ruleExamples).toSorted()).toEqual(rules.map(({ id }) => id).toSorted());
});

test.each(rules.map(({ id }) => id))('the examples of %s', (id) => {
  const { bad, good } = exampleOf(id);
  const found = exampleReports(id, bad);
  expect(found.map((report) => report.rule.id)).toContain(id);
  expect(exampleReports(id, good).map((report) => `${report.rule.id}: ${report.message}`)).toEqual([]);
});
