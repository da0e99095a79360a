import { xmlText as xml } from '../../base/index.ts';

/** A test case of JUnit XML. The first line of what went wrong is its message. */
export interface TestCase {
  classname: string;
  name: string;
  ms?: number;
  problem?: { as: 'failure' | 'error'; type: string; message: string; text: string } | undefined;
  /** Why it was not run. */
  skipped?: string | undefined;
  /** What is worth knowing all the same. */
  output?: string;
}

function caseXml({ classname, name, ms = 0, problem, skipped, output = '' }: TestCase): string {
  const body = [
    problem &&
      `<${problem.as} type="${xml(problem.type)}" message="${xml(problem.message)}">${xml(problem.text)}</${problem.as}>`,
    skipped !== undefined && `<skipped message="${xml(skipped)}"/>`,
    output !== '' && `<system-out>${xml(output)}</system-out>`,
  ].filter(Boolean);
  return `<testcase classname="${xml(classname)}" name="${xml(name)}" time="${ms / 1000}">${body.join('')}</testcase>`;
}

/** A test suite, with the counts of its cases. */
export function suiteXml(name: string, cases: readonly TestCase[], ms?: number): string {
  const having = (as: 'failure' | 'error') => cases.filter(({ problem }) => problem?.as === as).length;
  const skipped = cases.filter((one) => one.skipped !== undefined).length;
  const time = ms === undefined ? '' : ` time="${ms / 1000}"`;
  return `<testsuite name="${xml(name)}" tests="${cases.length}" failures="${having('failure')}" errors="${having('error')}" skipped="${skipped}"${time}>${cases.map(caseXml).join('\n')}</testsuite>\n`;
}

/** The beginning and the end of a report, around its suites. */
export const suitesBegin = (name: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="extensionconfig-webhook ${name}">\n`;
export const suitesEnd = '</testsuites>\n';
