import type { ExtensionFinding } from '../../../runtimehooks/client/index.ts';
import { suitesBegin, suitesEnd, suiteXml, type TestCase } from '../../output/junit.ts';
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

/** JUnit XML: a test suite for each extension, a test case for each check. Warnings are output of their test case. */
export function reportsAsJunit(reports: readonly ConformanceReport[]): string {
  const suites = reports.map((report) => {
    const { extensionConfig: name, checks, ms } = report;
    return suiteXml(
      name,
      checks.map((result) => testCase(name, result)),
      ms,
    );
  });
  return `${suitesBegin('conformance')}${suites.join('')}${suitesEnd}`;
}
