import { apiVersionOf, hubVersion } from '../../api/index.ts';
import { count, type Format, type FormatContext, printable, showPlace } from './format.ts';

const label = { deny: 'error', warn: 'warning' } as const;
const color = { deny: 31, warn: 33 } as const;

/** How to fix a deprecated API version: the warning itself is the API server's, word for word. */
const hint = `To rewrite files in ${apiVersionOf(hubVersion)}: extensionconfig-webhook convert --to ${hubVersion} --write PATH\n`;

/** One line per finding, for people and editors: `file:line:column: error: message (rule)`. Errors are printed elsewhere. */
export function textFormat({ useColor }: FormatContext): Format {
  const paint = (text: string, code: number) => (useColor ? `\u001b[${code}m${text}\u001b[0m` : text);
  let isDeprecated = false;
  return {
    begin: () => '',
    object: ({ findings }) => {
      isDeprecated ||= findings.some(({ ruleId }) => ruleId === 'api-version-deprecated');
      return findings
        .map(
          (finding) =>
            `${showPlace(finding)}: ${paint(label[finding.severity], color[finding.severity])}: ${printable(finding.message)} (${finding.ruleId})\n`,
        )
        .join('');
    },
    error: () => '',
    end: ({ files, objects, denials, warnings, errors }) =>
      `${count(objects, 'ExtensionConfig')} in ${count(files, 'file')}: ${count(denials, 'error')}, ${count(warnings, 'warning')}${errors === 0 ? '' : `, ${count(errors, 'read error')}`}\n${isDeprecated ? hint : ''}`,
  };
}
