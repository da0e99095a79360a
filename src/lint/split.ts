/** One document of a YAML stream as text. */
export interface DocumentText {
  text: string;
  /** Line of the stream on which the text begins, from 1. */
  firstLine: number;
}

/** Why a stream cannot be split. */
export class SplitError extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/**
 * Largest document, in characters (16 Mi). An object of Kubernetes has at most 3 MiB; a List of thousands of them is one
 * document. The parser takes some 30 times the size in memory.
 */
export const maxDocumentLength = 16 * 1024 * 1024;

const startMarker = /^---(?=[\s]|$)/;
const endMarker = /^\.\.\.(?=[\s]|$)/;
/** Blank, comment or directive: nothing that makes a document. */
const isPrologue = /^\s*$|^\s*#|^%/;

/**
 * Splits a YAML stream at its document boundaries, line by line: a `---` or `...` in the first column ends a document
 * wherever it stands (YAML 1.2, 9.1.2: inside a block scalar it would be indented, and quoted scalars may not hold it).
 * JSON documents have no such lines, and come in one piece. At most one document and one chunk are held.
 *
 * @throws {SplitError} for bytes that are no UTF-8, and for documents over `limit` characters.
 */
export async function* splitDocuments(
  chunks: AsyncIterable<Uint8Array | string>,
  limit: number = maxDocumentLength,
): AsyncGenerator<DocumentText> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let lines: string[] = [];
  let length = 0;
  let firstLine = 1;
  let line = 0;
  let isBegun = false;
  let rest: string[] = [];
  let restLength = 0;

  function take(): DocumentText | undefined {
    const document = isBegun ? { text: lines.join(''), firstLine } : undefined;
    lines = [];
    length = 0;
    isBegun = false;
    return document;
  }

  function checkLength(more: number): void {
    if (length + more > limit) {
      throw new SplitError(
        `a document is larger than ${limit} characters; split it with "---" lines`,
        lines.length === 0 ? line + 1 : firstLine,
      );
    }
  }

  function* add(text: string): Generator<DocumentText> {
    line++;
    const isStart = startMarker.test(text);
    if (isStart && isBegun) {
      yield take() as DocumentText;
    }
    if (lines.length === 0) {
      firstLine = line;
    }
    checkLength(text.length);
    lines.push(text);
    length += text.length;
    if (endMarker.test(text)) {
      const document = take();
      if (document !== undefined) {
        yield document;
      }
    } else if (isStart || !isPrologue.test(text)) {
      isBegun = true;
    }
  }

  function decode(chunk?: Uint8Array | string): string {
    if (typeof chunk === 'string') {
      return chunk;
    }
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new SplitError('is not valid UTF-8', line + 1);
    }
  }

  function* addText(text: string): Generator<DocumentText> {
    let from = 0;
    for (let newline = text.indexOf('\n'); newline !== -1; newline = text.indexOf('\n', from)) {
      const end = text.slice(from, newline + 1);
      yield* add(rest.length === 0 ? end : rest.join('') + end);
      rest = [];
      restLength = 0;
      from = newline + 1;
    }
    if (from < text.length) {
      rest.push(text.slice(from));
      restLength += text.length - from;
      checkLength(restLength);
    }
  }

  for await (const chunk of chunks) {
    yield* addText(decode(chunk));
  }
  yield* addText(decode());
  if (rest.length > 0) {
    yield* add(rest.join(''));
  }
  const last = take();
  if (last !== undefined) {
    yield last;
  }
}
