import { xmlText as xml } from '../../../base/index.ts';
import { showPlace } from '../../../kubernetes/manifests/index.ts';
import type { LintFinding } from '../result.ts';
import type { Format } from './format.ts';

const lineOf = (finding: LintFinding) => `${showPlace(finding)}: ${finding.message} (${finding.ruleId})`;

function suite(file: string, name: string, failed: 'failures' | 'errors' | undefined, body: string): string {
  const failures = failed === 'failures' ? 1 : 0;
  const errors = failed === 'errors' ? 1 : 0;
  return `<testsuite name="${xml(file)}" tests="1" failures="${failures}" errors="${errors}"><testcase classname="${xml(file)}" name="${xml(name)}" time="0">${body}</testcase></testsuite>\n`;
}

/**
 * JUnit XML: one test suite per ExtensionConfig with one test case, so that the counts are known when the suite is
 * written. The test case fails if there are denials; warnings are its output.
 */
export function junitFormat(): Format {
  return {
    begin: () => '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="extensionconfig-webhook lint">\n',
    object({ file, line, name, findings }) {
      const denials = findings.filter(({ severity }) => severity === 'deny');
      const warnings = findings.filter(({ severity }) => severity === 'warn');
      const failure =
        denials.length === 0
          ? ''
          : `<failure type="${xml(denials[0]?.ruleId ?? '')}" message="${xml(denials[0]?.message ?? '')}">${xml(denials.map(lineOf).join('\n'))}</failure>`;
      const output = warnings.length === 0 ? '' : `<system-out>${xml(warnings.map(lineOf).join('\n'))}</system-out>`;
      const title = `ExtensionConfig ${name === '' ? `in line ${line}` : name}`;
      return suite(file, title, denials.length > 0 ? 'failures' : undefined, failure + output);
    },
    error: (error) =>
      suite(
        error.file,
        error.line === undefined ? 'file' : `line ${error.line}`,
        'errors',
        `<error type="unreadable" message="${xml(error.message)}">${xml(`${showPlace(error)}: ${error.message}`)}</error>`,
      ),
    end: () => '</testsuites>\n',
  };
}
