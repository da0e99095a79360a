import { xmlText as xml } from '../../../base/index.ts';
import type { CheckProblem } from '../check.ts';
import { check as discoveryValid } from '../checks/discovery-valid.ts';
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

/** Why an extension failed although none of its checks did: without such a test case, CI would take it for passed. */
function untestedCase({ extensionConfig: name, verdict, checks, discoveryProblem }: Conduct): string | undefined {
  if (verdict === 'passed' || checks.some(({ status }) => status === 'failed')) {
    return undefined;
  }
  const because = discoveryProblem ?? 'the time limit has passed (--time-limit)';
  const remedy = discoveryProblem === undefined ? 'raise --time-limit' : discoveryValid.remedy;
  return `<testcase classname="${xml(name)}" name="all checks can be made" time="0"><failure type="not-tested" message="${xml(because)}">${xml(`${because}\ndo: ${remedy}`)}</failure></testcase>`;
}

/**
 * JUnit XML: a test suite for each extension, a test case for each check. Warnings are written as output of their test
 * case.
 */
export function conductAsJunit(conducts: readonly Conduct[]): string {
  const suites = conducts.map((conduct) => {
    const { extensionConfig, checks, ms } = conduct;
    const of = (status: CheckResult['status']) => checks.filter((result) => result.status === status).length;
    const untested = untestedCase(conduct);
    const cases = checks.map((result) => testCase(extensionConfig, result));
    const [all, more] = untested === undefined ? [cases, 0] : [[untested, ...cases], 1];
    return `<testsuite name="${xml(extensionConfig)}" tests="${all.length}" failures="${of('failed') + more}" errors="0" skipped="${of('skipped')}" time="${ms / 1000}">\n${all.join('\n')}\n</testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="extensionconfig-webhook conformance">\n${suites.join('')}</testsuites>\n`;
}
