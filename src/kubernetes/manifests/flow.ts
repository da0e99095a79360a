const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;

const isBlank = (code: number) => code === space || code === tab;
const isBreak = (code: number) => code === newline || code === carriageReturn;

function lineEnd(text: string, at: number): number {
  const lineBreak = text.indexOf('\n', at);
  return lineBreak === -1 ? text.length : lineBreak;
}

function blankEnd(text: string, at: number): number {
  let end = at;
  while (isBlank(text.charCodeAt(end))) {
    end++;
  }
  return end;
}

/** Offset after a quoted scalar that begins at `at`. */
function quotedEnd(text: string, at: number): number {
  const quote = text.charCodeAt(at);
  for (let next = at + 1; next < text.length; next++) {
    const code = text.charCodeAt(next);
    if (code === 0x5c && quote === 0x22) {
      next++;
    } else if (code === quote) {
      if (quote === 0x22 || text.charCodeAt(next + 1) !== quote) {
        return next + 1;
      }
      next++;
    }
  }
  return text.length;
}

/** Replaces a range of the text with blanks: its line breaks and tabs, or (for comments) all of it. */
type Blank = (from: number, to: number, isWhole: boolean) => void;

/** Offset after a flow collection that begins at `start`. */
function flowEnd(text: string, start: number, blank: Blank): number {
  let depth = 0;
  let before = space;
  let from = start;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isApart =
      isBlank(before) || isBreak(before) || before === 0x2c || before === 0x3a || before === 0x5b || before === 0x7b;
    if ((code === 0x22 || code === 0x27) && isApart) {
      blank(from, at, false);
      from = at;
      at = quotedEnd(text, at) - 1;
      blank(from, at + 1, false);
      from = at + 1;
    } else if (code === 0x23 && (isBlank(before) || isBreak(before))) {
      blank(from, at, false);
      from = lineEnd(text, at);
      blank(at, from, true);
      at = from - 1;
    } else if (code === 0x5b || code === 0x7b) {
      depth++;
    } else if ((code === 0x5d || code === 0x7d) && --depth === 0) {
      blank(from, at + 1, false);
      return at + 1;
    }
    before = text.charCodeAt(at);
  }
  blank(from, text.length, false);
  return text.length;
}

/** Offset after the lines of a block scalar: those that are blank, or indented deeper than `indent`. */
function blockEnd(text: string, start: number, indent: number): number {
  let at = start;
  while (at < text.length) {
    let first = at;
    while (text.charCodeAt(first) === space) {
      first++;
    }
    if (!isBreak(text.charCodeAt(first)) && first < text.length && first - at <= indent) {
      break;
    }
    at = lineEnd(text, at) + 1;
  }
  return Math.min(at, text.length);
}

/**
 * The text with each flow collection and quoted scalar on one line: line breaks, tabs and comments in them become
 * blanks, and so do tabs before them. All offsets stay the same. kubectl's parser ignores how such lines are indented (`}`
 * in the first column is common); YAML 1.2 and our parser do not.
 */
export function flattenFlow(text: string): string {
  const pieces: string[] = [];
  let done = 0;
  const blank: Blank = (from, to, isWhole) => {
    const part = text.slice(from, to);
    const flat = isWhole ? ' '.repeat(part.length) : part.replaceAll(/[\n\r\t]/g, ' ');
    pieces.push(text.slice(done, from), flat);
    done = to;
  };
  let lineStart = 0;
  /** Column of the last key or dash of the line. */
  let indent = -1;
  let isValue = true;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === newline) {
      at++;
      lineStart = at;
      indent = -1;
      isValue = true;
    } else if (isBlank(code) || code === carriageReturn) {
      at++;
    } else if (code === 0x23) {
      at = lineEnd(text, at);
    } else if (isValue && (code === 0x2d || code === 0x3f) && isBlank(text.charCodeAt(at + 1))) {
      indent = at - lineStart;
      at++;
    } else if (isValue && (code === 0x5b || code === 0x7b)) {
      at = flowEnd(text, at, blank);
      isValue = false;
    } else if (isValue && (code === 0x22 || code === 0x27)) {
      const end = quotedEnd(text, at);
      blank(at, end, false);
      indent = text.charCodeAt(end) === 0x3a ? at - lineStart : indent;
      at = end;
      isValue = false;
    } else if (isValue && (code === 0x7c || code === 0x3e)) {
      at = blockEnd(text, lineEnd(text, at) + 1, indent);
      lineStart = at;
      indent = -1;
    } else if (isValue && (code === 0x26 || code === 0x21 || code === 0x2a)) {
      while (at < text.length && !isBlank(text.charCodeAt(at)) && !isBreak(text.charCodeAt(at))) {
        at++;
      }
    } else if (code === 0x3a && (isBlank(text.charCodeAt(at + 1)) || at + 1 === text.length)) {
      const end = blankEnd(text, at + 1);
      blank(at + 1, end, true);
      at = end;
      isValue = true;
    } else {
      // Plain text, up to a character that may end it.
      indent = isValue ? at - lineStart : indent;
      isValue = false;
      at++;
      while (at < text.length) {
        const next = text.charCodeAt(at);
        if (
          isBreak(next) ||
          (next === 0x3a && isBlank(text.charCodeAt(at + 1))) ||
          (next === 0x23 && isBlank(text.charCodeAt(at - 1)))
        ) {
          break;
        }
        at++;
      }
    }
  }
  return pieces.join('') + text.slice(done);
}
