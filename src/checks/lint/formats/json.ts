import { jsonWithoutCommands } from '../../../base/index.ts';
import type { LintError } from '../result.ts';
import type { Format } from './format.ts';

const toJson = (value: unknown) => jsonWithoutCommands(JSON.stringify(value));

/** One JSON object: `findings` (with file, line, column, object, rule …), `errors`, `summary`. */
export function jsonFormat(): Format {
  const errors: LintError[] = [];
  let separator = '\n';
  return {
    begin: () => '{"findings":[',
    object: ({ name, apiVersion, findings }) =>
      findings
        .map((finding) => {
          const text = `${separator}${toJson({ ...finding, object: { apiVersion, name } })}`;
          separator = ',\n';
          return text;
        })
        .join(''),
    error(error) {
      errors.push(error);
      return '';
    },
    end: (summary) => `\n],\n"errors":${toJson(errors)},\n"summary":${toJson(summary)}}\n`,
  };
}
