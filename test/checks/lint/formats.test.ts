import { expect, test } from 'vitest';
import { coloured, plain } from '../../../src/base/index.ts';
import { type Format, formats, type LintedObject, type LintResult } from '../../../src/checks/lint/index.ts';
import { rules } from '../../../src/policy/index.ts';

type Context = Parameters<Format['end']>[2];

const context: Context = { version: '1.2.3', rules, paint: plain };

const file = 'a folder/x,y:50%.yaml';
const object: LintedObject = {
  file,
  line: 1,
  column: 1,
  name: '<x>&"\u0007\ud800',
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  findings: [
    {
      file,
      line: 3,
      column: 5,
      ruleId: 'url-query',
      severity: 'deny',
      field: 'spec.clientConfig.url',
      message: 'bad\u001b[31m 100%\n::error::x ]]> <&>',
    },
    {
      file,
      line: 4,
      column: 6,
      ruleId: 'ca-missing',
      severity: 'warn',
      field: 'spec.clientConfig.caBundle',
      message: 'missing',
    },
  ],
};
const good: LintedObject = { ...object, name: 'good', findings: [] };
const errors = [
  { file: 'broken.yaml', line: 7, column: 2, message: 'YAML: no' },
  { file: 'gone.yaml', message: 'cannot be read: no such file or folder' },
];
const summary = { files: 3, objects: 2, denials: 1, warnings: 1, errors: 2, skipped: 0 };

function printed(name: keyof typeof formats, results: readonly LintResult[], more: Partial<Context> = {}): string {
  const format: Format = formats[name];
  const all = { ...context, ...more };
  return [...results.map((result) => format.each?.(result, all) ?? ''), format.end(results, summary, all)].join('');
}

const render = (name: keyof typeof formats, more: Partial<Context> = {}) =>
  printed(name, [{ object }, { object: good }, { object }, ...errors.map((error) => ({ error }))], more);

test('text: one line per finding, without control characters', () => {
  const [first, second, ...rest] = render('text').split('\n');
  expect(first).toBe(`${file}:3:5: error: bad\\u001b[31m 100%\\u000a::error::x ]]> <&> (url-query)`);
  expect(second).toBe(`${file}:4:6: warning: missing (ca-missing)`);
  expect(rest.at(-2)).toBe('2 ExtensionConfigs in 3 files: 1 error, 1 warning, 2 read errors');
  expect(render('text', { paint: coloured })).toContain('\u001b[33mwarning\u001b[39m');
});

test('json: findings, errors, summary', () => {
  const report = JSON.parse(render('json'));
  expect(report.findings).toHaveLength(4);
  expect(report.findings[1]).toEqual({
    ...object.findings[1],
    object: { apiVersion: object.apiVersion, name: object.name },
  });
  expect(report.errors).toEqual(errors);
  expect(report.summary).toEqual(summary);
});

test('sarif: results refer to files, errors are notifications', () => {
  const report = JSON.parse(render('sarif'));
  expect(report.version).toBe('2.1.0');
  const [run] = report.runs;
  expect(run.tool.driver.version).toBe('1.2.3');
  expect(run.results).toHaveLength(4);
  for (const result of run.results) {
    expect(run.tool.driver.rules[result.ruleIndex].id).toBe(result.ruleId);
  }
  expect(run.results[0].level).toBe('error');
  expect(run.results[1].level).toBe('warning');
  const { artifactLocation, region } = run.results[0].locations[0].physicalLocation;
  expect(artifactLocation.uri).toBe('a%20folder/x%2Cy%3A50%25.yaml');
  expect(region).toEqual({ startLine: 3, startColumn: 5 });
  const [invocation] = run.invocations;
  expect(invocation.executionSuccessful).toBe(false);
  expect(
    invocation.toolExecutionNotifications.map(({ message }: { message: { text: string } }) => message.text),
  ).toEqual(errors.map(({ message }) => message));
  expect(invocation.toolExecutionNotifications[1].locations[0].physicalLocation.region).toBeUndefined();
});

test('github: commands that no text in them can end', () => {
  const lines = render('github').trimEnd().split('\n');
  expect(lines).toHaveLength(4 + errors.length + 1);
  expect(lines[0]).toBe(
    '::error file=a folder/x%2Cy%3A50%25.yaml,line=3,col=5,title=url-query::bad\\u001b[31m 100%25%0A::error::x ]]> <&>',
  );
  expect(lines[1]).toMatch(/^::warning .*title=ca-missing::missing$/);
  expect(lines[5]).toBe('::error file=gone.yaml,title=unreadable::cannot be read: no such file or folder');
});

test.each(Object.keys(formats) as (keyof typeof formats)[])('%s: is well-formed without findings, too', (name) => {
  const text = printed(name, []);
  if (name === 'json' || name === 'sarif') {
    expect(() => JSON.parse(text)).not.toThrow();
  }
  expect(text.endsWith('\n')).toBe(true);
});

test.each(
  Object.keys(formats) as (keyof typeof formats)[],
)('%s: nothing in it is a command to the runner of a workflow', (name) => {
  const bad = { file: '::stop-commands::x##[group]y.yaml', line: 1, column: 1 };
  const message = '##[error]x ##vso[task.complete]';
  const finding = { ...bad, ruleId: 'url-query', severity: 'deny', field: 'spec', message } as const;
  const text = printed(name, [
    { object: { ...bad, name: '##[add-mask]x', apiVersion: 'v1', findings: [finding] } },
    { error: { ...bad, message } },
  ]);
  const lines = text.split('\n').filter((line) => !/^::(error|warning) /.test(line));
  expect(lines.filter((line) => /^\s*::|##\[|##vso\[/.test(line))).toEqual([]);
  if (name === 'json') {
    expect(JSON.parse(text).errors[0]).toEqual({ ...bad, message });
  }
});
