import type { ExtensionFinding } from '../../../runtimehooks/client/index.ts';
import { suitesBegin, suitesEnd, suiteXml, type TestCase } from '../../output/junit.ts';
import { discoveryValid } from '../checks/discovery.ts';
import type { CheckResult, ConformanceReport } from '../report.ts';

const lineOf = ({ handler, message }: ExtensionFinding) => `${handler === undefined ? '' : `${handler}: `}${message}`;

function testCase(extension: string, result: CheckResult): TestCase {
  const { id, group, status, problems, requirement, reason, remedy, skipReason, ms } = result;
  const text = [...problems.map(lineOf), `why: ${reason}`, `do: ${remedy}`].join('\n');
  const message = problems[0] === undefined ? '' : lineOf(problems[0]);
  return {
    classname: `${extension}.${group}`,
    name: `${id}: ${requirement}`,
    ms,
    problem: status === 'failed' ? { as: 'failure', type: id, message, text } : undefined,
    skipped: status === 'skipped' ? (skipReason ?? '') : undefined,
    output: status === 'warning' ? text : '',
  };
}

/** Why an extension failed although none of its checks did: without such a test case, CI would take it for passed. */
function untested({ extensionConfig: classname, verdict, checks, discoveryProblem }: ConformanceReport): TestCase[] {
  if (verdict === 'passed' || checks.some(({ status }) => status === 'failed')) {
    return [];
  }
  const message = discoveryProblem ?? 'the time limit has passed (--time-limit)';
  const remedy = discoveryProblem === undefined ? 'raise --time-limit' : discoveryValid.remedy;
  const problem = { as: 'failure', type: 'not-tested', message, text: `${message}\ndo: ${remedy}` } as const;
  return [{ classname, name: 'all checks can be run', problem }];
}

/** JUnit XML: a test suite for each extension, a test case for each check. Warnings are output of their test case. */
export function reportsAsJunit(reports: readonly ConformanceReport[]): string {
  const suites = reports.map((report) => {
    const { extensionConfig: name, checks, ms } = report;
    return suiteXml(name, [...untested(report), ...checks.map((result) => testCase(name, result))], ms);
  });
  return `${suitesBegin('conformance')}${suites.join('')}${suitesEnd}`;
}
