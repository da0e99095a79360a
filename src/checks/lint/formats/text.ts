import { count, withoutControls } from '../../../base/index.ts';
import { apiVersionOf, hubVersion } from '../../../extensionconfig/index.ts';
import { showPlace } from '../../../kubernetes/manifests/index.ts';
import type { Format, FormatContext } from '../result.ts';

const label = { deny: 'error', warn: 'warning' } as const;
const style = { deny: 'red', warn: 'yellow' } as const;

/** How to fix a deprecated API version: the warning itself is the API server's, word for word. */
const hint = `To rewrite files in ${apiVersionOf(hubVersion)}: extensionconfig-webhook convert --to ${hubVersion} --write PATH\n`;

/** One line per finding: `file:line:column: error: message (rule)`. Errors are printed elsewhere. */
export function textFormat({ paint }: FormatContext): Format {
  let isDeprecated = false;
  return {
    begin: () => '',
    object: ({ findings }) => {
      isDeprecated ||= findings.some(({ ruleId }) => ruleId === 'api-version-deprecated');
      return findings
        .map(
          (finding) =>
            `${showPlace(finding)}: ${paint(style[finding.severity], label[finding.severity])}: ${withoutControls(finding.message)} (${finding.ruleId})\n`,
        )
        .join('');
    },
    error: () => '',
    end: ({ files, objects, denials, warnings, errors }) =>
      `${count(objects, 'ExtensionConfig')} in ${count(files, 'file')}: ${count(denials, 'error')}, ${count(warnings, 'warning')}${errors === 0 ? '' : `, ${count(errors, 'read error')}`}\n${isDeprecated ? hint : ''}`,
  };
}
