import type { Format, FormatContext } from '../result.ts';
import { githubFormat } from './github.ts';
import { jsonFormat } from './json.ts';
import { junitFormat } from './junit.ts';
import { sarifFormat } from './sarif.ts';
import { textFormat } from './text.ts';

/** The formats of a report, by the name that --output takes. */
export const formats = {
  text: textFormat,
  json: jsonFormat,
  sarif: sarifFormat,
  github: githubFormat,
  junit: junitFormat,
} satisfies Record<string, (context: FormatContext) => Format>;
