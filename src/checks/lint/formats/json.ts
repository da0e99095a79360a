import { printableJson } from '../../../base/index.ts';
import type { Format, LintError } from '../result.ts';

/** One JSON object: `findings` (with file, line, column, object, rule …), `errors`, `summary`. */
export function jsonFormat(): Format {
  const errors: LintError[] = [];
  let separator = '\n';
  return {
    begin: () => '{"findings":[',
    object: ({ name, apiVersion, findings }) =>
      findings
        .map((finding) => {
          const text = `${separator}${printableJson({ ...finding, object: { apiVersion, name } })}`;
          separator = ',\n';
          return text;
        })
        .join(''),
    error(error) {
      errors.push(error);
      return '';
    },
    end: (summary) => `\n],\n"errors":${printableJson(errors)},\n"summary":${printableJson(summary)}}\n`,
  };
}
