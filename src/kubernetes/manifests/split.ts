export interface DocumentText {
  text: string;
  /** Line of the stream on which the text begins, counted from 1, and its offset in the stream. */
  firstLine: number;
  start: number;
  contentLine: number;
  /** How kubectl reads it: a stream that begins with `{` is JSON only. */
  form: 'yaml' | 'json';
}

interface SplitError {
  error: string;
  line: number;
}

/** Largest YAML document, in characters: four hundred Clusters with their Machines. Parsing takes 20 times as much. */
const maxYamlLength = 16 * 1024 * 1024;
/** Largest JSON document, in characters (64 Mi), as `kubectl get -o json` writes a whole fleet. */
const maxJsonLength = 64 * 1024 * 1024;

const tooLarge = (most: number, remedy: string) => `a document is larger than ${most} characters; ${remedy}`;

const isEmpty = (rest: string) => /^[ \t\r\ufeff]*(?:#|\n?$)/.test(rest);

/** As in kubectl, a line that begins with `---` ends a document; after a `...` only the next `---` may follow. */
function* yamlDocuments(text: string): Generator<DocumentText | SplitError> {
  let start = 0;
  let firstLine = 1;
  let line = 0;
  let contentLine = 0;
  let isEnded = false;
  let isSkipped = false;

  function* take(end: number): Generator<DocumentText | SplitError> {
    if (contentLine > 0 && !isSkipped) {
      yield end - start > maxYamlLength
        ? { error: tooLarge(maxYamlLength, 'split it with "---" lines, or write it as JSON'), line: firstLine }
        : { text: text.slice(start, end), firstLine, start, contentLine, form: 'yaml' };
    }
    start = end;
    firstLine = line;
    contentLine = 0;
    isEnded = false;
    isSkipped = false;
  }

  for (const { 0: row, index: at } of text.matchAll(/[^\n]+\n?|\n/g)) {
    line++;
    if (row.startsWith('---')) {
      yield* take(at);
      // The marker is not part of a document: what follows it is parsed separately, like a file.
      start = at + row.length;
      firstLine = line + 1;
      if (!isEmpty(row.slice(3))) {
        const error = 'kubectl accepts only a comment after "---"; begin the document on the next line';
        yield { error, line };
        isSkipped = true;
      }
    } else if (/^\.{3}(?:[ \t\r\ufeff]|\n?$)/.test(row)) {
      isEnded = true;
    } else if (!isEmpty(row)) {
      if (isEnded && !isSkipped) {
        yield* take(at);
        yield { error: 'kubectl ignores what follows "..."; write "---" before it', line };
        isSkipped = true;
      }
      contentLine ||= line;
    }
  }
  yield* take(text.length);
}

/** The first of several JSON values, or the whole text if it is one, or none that can be read. */
function firstJson(text: string): string {
  try {
    JSON.parse(text);
    return text.trimEnd();
  } catch (error) {
    const end = / after JSON at position (\d+)/.exec((error as Error).message)?.[1];
    return text.slice(0, end === undefined ? undefined : Number(end)).trimEnd();
  }
}

const linesIn = (text: string) => text.split('\n').length - 1;

function* jsonDocuments(text: string): Generator<DocumentText | SplitError> {
  const blanks = /[ \t\r\n]*/y;
  let line = 1;
  for (let at = 0; at < text.length; ) {
    blanks.lastIndex = at;
    const start = at + (blanks.exec(text)?.[0].length ?? 0);
    line += linesIn(text.slice(at, start));
    if (start === text.length) {
      return;
    }
    if (text[start] !== '{') {
      const error = 'kubectl reads a file that begins with "{" as JSON and accepts only a sequence of objects in it';
      yield { error, line };
      return;
    }
    const part = firstJson(text.slice(start));
    at = start + part.length;
    yield part.length > maxJsonLength
      ? { error: tooLarge(maxJsonLength, 'write its items as documents of their own'), line }
      : { text: part, firstLine: line, start, contentLine: line, form: 'json' };
    line += linesIn(part);
  }
}

/** Splits a stream into its documents, as kubectl does. */
export function splitDocuments(text: string): Generator<DocumentText | SplitError> {
  // White space as in Go, which does not include the byte order mark.
  return /[^\t-\r \u0085\u00a0]/.exec(text)?.[0] === '{' ? jsonDocuments(text) : yamlDocuments(text);
}
