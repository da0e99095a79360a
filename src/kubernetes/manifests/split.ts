/** One document of a stream as text. */
export interface DocumentText {
  text: string;
  /** Line of the stream on which the text begins, counted from 1, and its offset in the stream. */
  firstLine: number;
  start: number;
  /** Line of the stream with its first content. */
  contentLine: number;
  /** How kubectl reads it: a stream that begins with `{` is JSON only. */
  form: 'yaml' | 'json';
}

/** A part of a stream without a document, and the reason. */
interface SplitError {
  error: string;
  line: number;
}

/**
 * Largest document, in characters (8 Mi). A Kubernetes object has at most 3 MiB; a List of ten thousand
 * ExtensionConfigs (6 Mi) is one document. At worst (a list of single letters) the parser takes some 85 times as much
 * memory, which should fit into a small container.
 */
const maxDocumentLength = 8 * 1024 * 1024;

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const hash = 0x23;
const dash = 0x2d;
const dot = 0x2e;
const brace = 0x7b;
const byteOrderMark = 0xfeff;

/** Offset of the first character of a line that is not blank, at most `end`. */
function contentStart(text: string, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code !== space && code !== tab && code !== carriageReturn && code !== byteOrderMark) {
      break;
    }
    at++;
  }
  return at;
}

function isThrice(text: string, at: number, code: number): boolean {
  return text.charCodeAt(at) === code && text.charCodeAt(at + 1) === code && text.charCodeAt(at + 2) === code;
}

const tooLarge = (limit: number) => `a document is larger than ${limit} characters; split it with "---" lines`;

/**
 * The documents of a YAML stream. As in kubectl, a line that begins with `---` ends a document wherever it is, and may
 * be followed only by a comment; after a `...` only the next `---` may follow. Documents that contain only comments are
 * skipped.
 */
function* yamlDocuments(text: string, limit: number): Generator<DocumentText | SplitError> {
  let start = 0;
  let firstLine = 1;
  let line = 0;
  /** Line of the document's first content; 0 before it. */
  let contentLine = 0;
  let isEnded = false;
  let isSkipped = false;

  function* take(end: number): Generator<DocumentText | SplitError> {
    if (contentLine > 0 && !isSkipped) {
      yield end - start > limit
        ? { error: tooLarge(limit), line: firstLine }
        : { text: text.slice(start, end), firstLine, start, contentLine, form: 'yaml' };
    }
    start = end;
    firstLine = line;
    contentLine = 0;
    isEnded = false;
    isSkipped = false;
  }

  for (let at = 0; at < text.length; ) {
    line++;
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found + 1;
    const stop = found === -1 ? text.length : found;
    if (isThrice(text, at, dash)) {
      yield* take(at);
      // The marker is not part of a document: what follows it is parsed separately, like a file.
      start = end;
      firstLine = line + 1;
      const behind = contentStart(text, at + 3, stop);
      if (behind < stop && text.charCodeAt(behind) !== hash) {
        const error = 'kubectl accepts only a comment after "---"; begin the document on the next line';
        yield { error, line };
        isSkipped = true;
      }
    } else if (isThrice(text, at, dot) && (at + 3 === stop || contentStart(text, at + 3, stop) > at + 3)) {
      isEnded = true;
    } else {
      const first = contentStart(text, at, stop);
      if (first < stop && text.charCodeAt(first) !== hash) {
        if (isEnded && !isSkipped) {
          yield* take(at);
          yield { error: 'kubectl ignores what follows "..."; write "---" before it', line };
          isSkipped = true;
        }
        contentLine ||= line;
      }
    }
    at = end;
  }
  yield* take(text.length);
}

/** Offset after the JSON value that begins at `start`: its closing bracket, or the end of the text. */
function jsonEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) {
        if (text.charCodeAt(at) === 0x5c) {
          at++;
        }
      }
    } else if (code === brace || code === 0x5b) {
      depth++;
    } else if ((code === 0x7d || code === 0x5d) && --depth === 0) {
      return at + 1;
    }
  }
  return text.length;
}

/** The objects of a JSON stream, one after the other. */
function* jsonDocuments(text: string, limit: number): Generator<DocumentText | SplitError> {
  let line = 1;
  let start = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === newline || code === space || code === tab || code === carriageReturn) {
      line += code === newline ? 1 : 0;
      at++;
      continue;
    }
    if (code !== brace) {
      const error = 'kubectl reads a file that begins with "{" as JSON and accepts only a sequence of objects in it';
      yield { error, line };
      return;
    }
    const end = jsonEnd(text, at);
    start = at;
    yield end - start > limit
      ? { error: tooLarge(limit), line }
      : { text: text.slice(start, end), firstLine: line, start, contentLine: line, form: 'json' };
    for (let next = at; next < end; next++) {
      line += text.charCodeAt(next) === newline ? 1 : 0;
    }
    at = end;
  }
}

/**
 * Splits a stream into its documents, as kubectl does.
 *
 * @param limit largest document, in characters
 */
export function splitDocuments(text: string, limit: number = maxDocumentLength): Generator<DocumentText | SplitError> {
  // White space as in Go, which does not include the byte order mark.
  return /[^\t-\r \u0085\u00a0]/.exec(text)?.[0] === '{' ? jsonDocuments(text, limit) : yamlDocuments(text, limit);
}
