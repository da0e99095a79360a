/** Why a text is not YAML, as go-yaml words it. */
export class YamlError extends Error {}

/** A place in a text: both count from 0. */
export interface Mark {
  at: number;
  line: number;
  column: number;
}

/** An error of the scanner or the parser. Go names lines from the second on. */
export function problemAt(problem: string, at: Mark, context: Mark | undefined, isScanner: boolean): YamlError {
  const line = at.line > 0 ? at.line + (isScanner ? 1 : 0) : (context?.line ?? 0);
  return new YamlError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${problem}`);
}
