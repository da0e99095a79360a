// Texts as Go writes them: users know the errors of calls from the conditions that Cluster API writes.

/** The valid sequences of UTF-8 (Unicode, table 3-7), and any other byte, in a text with one character a byte. */
const sequences =
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|./gs;

const escapes = new Map(
  Object.entries({
    '\x07': 'a',
    '\b': 'b',
    '\f': 'f',
    '\n': 'n',
    '\r': 'r',
    '\t': 't',
    '\v': 'v',
    '"': '"',
    '\\': '\\',
  }),
);

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');

/** A character as in Go's quoted texts: escaped unless it is printable. */
function quotedCharacter(character: string): string {
  const letter = escapes.get(character);
  if (letter !== undefined) {
    return `\\${letter}`;
  }
  if (/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
    return character;
  }
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? `\\x${hex(code, 2)}` : code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

/** Bytes as Go's `%q` shows them: in quotes, on one line, and with everything escaped that is not printable. */
export function goQuoted(bytes: Buffer): string {
  const characters = bytes
    .toString('latin1')
    .replaceAll(sequences, (sequence) =>
      sequence.length === 1 && sequence > '\x7f'
        ? `\\x${hex(sequence.charCodeAt(0), 2)}`
        : quotedCharacter(Buffer.from(sequence, 'latin1').toString('utf8')),
    );
  return `"${characters}"`;
}

/** What Go says about a byte at which a JSON text is wrong: after a comma or a bracket, and within a value. */
const atKey = 'looking for beginning of object key string';
const atValue = 'looking for beginning of value';

/** What may follow in a JSON text. */
type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'more';

/** The parts of a number, as far as it goes: sign, whole part, fraction and exponent. */
const number = /(-?)(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d*)?/y;

/** Reads a string, number, true, false or null from `text` at `start`: where it ends, and what is wrong there. */
function scanScalar(text: string, start: number): { at: number; wrong?: string } {
  let at = start;
  const isNext = (pattern: RegExp) => pattern.test(text[at] ?? '');
  if (text[at] === '"') {
    for (at++; text[at] !== '"'; at++) {
      if ((text[at] ?? '') < ' ') {
        return { at, wrong: 'in string literal' };
      }
      if (text[at] !== '\\') {
        continue;
      }
      at++;
      if (!isNext(/["\\/bfnrtu]/)) {
        return { at, wrong: 'in string escape code' };
      }
      for (const end = text[at] === 'u' ? at + 4 : at; at < end; ) {
        at++;
        if (!isNext(/[0-9A-Fa-f]/)) {
          return { at, wrong: 'in \\u hexadecimal character escape' };
        }
      }
    }
    return { at: at + 1 };
  }
  const literal = ['true', 'false', 'null'].find((word) => word[0] === text[at]);
  if (literal !== undefined) {
    for (const expected of literal) {
      if (text[at] !== expected) {
        return { at, wrong: `in literal ${literal} (expecting '${expected}')` };
      }
      at++;
    }
    return { at };
  }
  number.lastIndex = start;
  const [all = '', sign = '', whole, fraction, exponent] = number.exec(text) ?? [];
  if (whole === undefined) {
    return { at: start + sign.length, wrong: sign === '' ? atValue : 'in numeric literal' };
  }
  if (fraction === '.') {
    return { at: start + sign.length + whole.length + 1, wrong: 'after decimal point in numeric literal' };
  }
  const end = start + all.length;
  return exponent === undefined || /\d$/.test(exponent)
    ? { at: end }
    : { at: end, wrong: 'in exponent of numeric literal' };
}

/** Why Go's encoding/json cannot read the first value of a JSON text; undefined if it can. */
export function goSyntaxError(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1');
  const open: string[] = [];
  let at = 0;
  let next: Next = 'value';
  const invalid = (place: string) => {
    const character = text[at];
    if (character === undefined) {
      return text.trim() === '' ? 'EOF' : 'unexpected EOF';
    }
    const shown = character === "'" ? "\\'" : character === '"' ? '"' : quotedCharacter(character);
    return `invalid character '${shown}' ${place}`;
  };
  do {
    while (' \t\r\n'.includes(text[at] ?? '-')) {
      at++;
    }
    const character = text[at] ?? '';
    const isInObject = open.at(-1) === '{';
    if (
      (character === '}' && isInObject && (next === 'key or }' || next === 'more')) ||
      (character === ']' && !isInObject && (next === 'value or ]' || (next === 'more' && open.length > 0)))
    ) {
      open.pop();
      at++;
      next = 'more';
    } else if (next === 'more') {
      if (character !== ',') {
        return invalid(isInObject ? 'after object key:value pair' : 'after array element');
      }
      at++;
      next = isInObject ? 'key' : 'value';
    } else if (next === ':') {
      if (character !== ':') {
        return invalid('after object key');
      }
      at++;
      next = 'value';
    } else if ((next === 'value' || next === 'value or ]') && (character === '{' || character === '[')) {
      open.push(character);
      at++;
      next = character === '{' ? 'key or }' : 'value or ]';
    } else {
      const isKey: boolean = next === 'key' || next === 'key or }';
      if (isKey && character !== '"') {
        return invalid(atKey);
      }
      const scalar = scanScalar(text, at);
      at = scalar.at;
      if (scalar.wrong !== undefined) {
        return invalid(scalar.wrong);
      }
      next = isKey ? ':' : 'more';
    }
  } while (open.length > 0 || next !== 'more');
  return undefined;
}
