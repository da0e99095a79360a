import { xmlText as xml } from '../../terminal/index.ts';
import type { CheckProblem } from '../check.ts';
import type { CheckResult, Conduct } from '../run.ts';

const lineOf = ({ handler, message }: CheckProblem) => `${handler === undefined ? '' : `${handler}: `}${message}`;

function testCase(name: string, { id, group, status, problems, asks, why, remedy, because, ms }: CheckResult): string {
  const text = [...problems.map(lineOf), `why: ${why}`, `do: ${remedy}`].join('\n');
  const body = {
    passed: '',
    failed: `<failure type="${xml(id)}" message="${xml(problems[0] === undefined ? '' : lineOf(problems[0]))}">${xml(text)}</failure>`,
    warning: `<system-out>${xml(text)}</system-out>`,
    skipped: `<skipped message="${xml(because ?? '')}"/>`,
  };
  const classname = `${name}.${group}`;
  return `<testcase classname="${xml(classname)}" name="${xml(`${id}: ${asks}`)}" time="${ms / 1000}">${body[status]}</testcase>`;
}

/**
 * JUnit XML: a test suite for each extension, a test case for each check. Warnings are written as output of their test
 * case.
 */
export function conductAsJunit(conducts: readonly Conduct[]): string {
  const suites = conducts.map(({ extensionConfig, checks, ms }) => {
    const of = (status: CheckResult['status']) => checks.filter((result) => result.status === status).length;
    const cases = checks.map((result) => testCase(extensionConfig, result)).join('\n');
    return `<testsuite name="${xml(extensionConfig)}" tests="${checks.length}" failures="${of('failed')}" errors="0" skipped="${of('skipped')}" time="${ms / 1000}">\n${cases}\n</testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="extensionconfig-webhook conformance">\n${suites.join('')}</testsuites>\n`;
}
