import { count, withoutControls } from '../../../base/index.ts';
import type { Format, LintError } from '../result.ts';

const escapeData = (text: string) =>
  text.split('\n').map(withoutControls).join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A');
const escapeProperty = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

function command(
  name: string,
  { file, line, column }: Omit<LintError, 'message'>,
  title: string,
  message: string,
): string {
  const properties = Object.entries({ file, line, col: column, title })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${escapeProperty(String(value))}`);
  return `::${name} ${properties.join(',')}::${escapeData(message)}\n`;
}

/** Workflow commands of GitHub Actions, which become annotations of lines. */
export function githubFormat(): Format {
  return {
    begin: () => '',
    object: ({ findings }) =>
      findings
        .map(({ ruleId, severity, message, ...place }) =>
          command(severity === 'deny' ? 'error' : 'warning', place, ruleId, message),
        )
        .join(''),
    error: (error) => command('error', error, 'unreadable', error.message),
    end: ({ objects, denials, warnings }) =>
      `${count(objects, 'ExtensionConfig')}: ${count(denials, 'error')}, ${count(warnings, 'warning')}\n`,
  };
}
