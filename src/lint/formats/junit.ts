import type { LintFinding } from '../result.ts';
import { type Format, showPlace } from './format.ts';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Text for XML 1.0: markup is escaped, characters that XML does not allow (controls, lone surrogates) are dropped. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll(/[&<>"']/g, (character) => entities[character] as string)
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const lineOf = (finding: LintFinding) => `${showPlace(finding)}: ${finding.message} (${finding.ruleId})`;

function suite(file: string, name: string, failed: 'failures' | 'errors' | undefined, body: string): string {
  const failures = failed === 'failures' ? 1 : 0;
  const errors = failed === 'errors' ? 1 : 0;
  return `<testsuite name="${xml(file)}" tests="1" failures="${failures}" errors="${errors}"><testcase classname="${xml(file)}" name="${xml(name)}" time="0">${body}</testcase></testsuite>\n`;
}

/**
 * JUnit's XML: one test suite with one test case for each ExtensionConfig, so that its counts are known when it is
 * printed. The test case fails if there are denials; warnings are its output.
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
