import { expect, test } from 'vitest';
import { exampleReports, rules } from '../../../src/policy/index.ts';

test.each(rules.map((rule) => [rule.id, rule] as const))('the examples of %s', (id, rule) => {
  const found = exampleReports(rule, rule.example.bad);
  expect(found.map((report) => report.rule.id)).toContain(id);
  expect(exampleReports(rule, rule.example.good).map((report) => `${report.rule.id}: ${report.message}`)).toEqual([]);
});
