import { showPlace } from '../../../kubernetes/manifests/index.ts';
import { suitesBegin, suitesEnd, suiteXml } from '../../output/junit.ts';
import type { Format, LintFinding } from '../result.ts';

const lineOf = (finding: LintFinding) => `${showPlace(finding)}: ${finding.message} (${finding.ruleId})`;

/**
 * JUnit XML: one test suite per ExtensionConfig with one test case, so that the counts are known when the suite is
 * written. The test case fails if there are denials; warnings are its output.
 */
export function junitFormat(): Format {
  return {
    begin: () => suitesBegin('lint'),
    object({ file, line, name, findings }) {
      const denials = findings.filter(({ severity }) => severity === 'deny');
      const warnings = findings.filter(({ severity }) => severity === 'warn');
      const [first] = denials;
      const text = denials.map(lineOf).join('\n');
      return suiteXml(file, [
        {
          classname: file,
          name: `ExtensionConfig ${name === '' ? `in line ${line}` : name}`,
          problem: first && { as: 'failure', type: first.ruleId, message: first.message, text },
          output: warnings.map(lineOf).join('\n'),
        },
      ]);
    },
    error(error) {
      const { file, line, message } = error;
      const problem = { as: 'error', type: 'unreadable', message, text: `${showPlace(error)}: ${message}` } as const;
      return suiteXml(file, [{ classname: file, name: line === undefined ? 'file' : `line ${line}`, problem }]);
    },
    end: () => suitesEnd,
  };
}
