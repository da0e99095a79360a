import { xmlText as xml } from '../../../base/index.ts';
import type { ExtensionFinding } from '../../../runtimehooks/client/index.ts';
import { discoveryValid } from '../checks/discovery.ts';
import type { CheckResult, ConformanceReport } from '../report.ts';

const lineOf = ({ handler, message }: ExtensionFinding) => `${handler === undefined ? '' : `${handler}: `}${message}`;

function testCase(name: string, result: CheckResult): string {
  const { id, group, status, problems, requirement, reason, remedy, skipReason, ms } = result;
  const text = [...problems.map(lineOf), `why: ${reason}`, `do: ${remedy}`].join('\n');
  const body = {
    passed: '',
    failed: `<failure type="${xml(id)}" message="${xml(problems[0] === undefined ? '' : lineOf(problems[0]))}">${xml(text)}</failure>`,
    warning: `<system-out>${xml(text)}</system-out>`,
    skipped: `<skipped message="${xml(skipReason ?? '')}"/>`,
  };
  const classname = `${name}.${group}`;
  return `<testcase classname="${xml(classname)}" name="${xml(`${id}: ${requirement}`)}" time="${ms / 1000}">${body[status]}</testcase>`;
}

/** Why an extension failed although none of its checks did: without such a test case, CI would take it for passed. */
function untestedCase({
  extensionConfig: name,
  verdict,
  checks,
  discoveryProblem,
}: ConformanceReport): string | undefined {
  if (verdict === 'passed' || checks.some(({ status }) => status === 'failed')) {
    return undefined;
  }
  const reason = discoveryProblem ?? 'the time limit has passed (--time-limit)';
  const remedy = discoveryProblem === undefined ? 'raise --time-limit' : discoveryValid.remedy;
  return `<testcase classname="${xml(name)}" name="all checks can be run" time="0"><failure type="not-tested" message="${xml(reason)}">${xml(`${reason}\ndo: ${remedy}`)}</failure></testcase>`;
}

/**
 * JUnit XML: a test suite for each extension, a test case for each check. Warnings are written as output of their test
 * case.
 */
export function reportsAsJunit(reports: readonly ConformanceReport[]): string {
  const suites = reports.map((report) => {
    const { extensionConfig, checks, ms } = report;
    const of = (status: CheckResult['status']) => checks.filter((result) => result.status === status).length;
    const untested = untestedCase(report);
    const cases = checks.map((result) => testCase(extensionConfig, result));
    const [all, more] = untested === undefined ? [cases, 0] : [[untested, ...cases], 1];
    return `<testsuite name="${xml(extensionConfig)}" tests="${all.length}" failures="${of('failed') + more}" errors="0" skipped="${of('skipped')}" time="${ms / 1000}">\n${all.join('\n')}\n</testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="extensionconfig-webhook conformance">\n${suites.join('')}</testsuites>\n`;
}
