export const quote = 0x22;
const backslash = 0x5c;
const [openingBracket, closingBracket] = [0x5b, 0x5d];
const [openingBrace, closingBrace] = [0x7b, 0x7d];

/**
 * The index of the closing quote of a string, from a place within it.
 *
 * @returns without one the length of the bytes, or one more when the last byte escapes the next.
 */
export function closingQuote(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== quote) {
    at += json[at] === backslash ? 2 : 1;
  }
  return at;
}

/**
 * Whether arrays and objects nest deeper than a limit, judging by the brackets in the text, which need not be valid
 * JSON. Two nanoseconds a byte at worst, whatever the text contains.
 */
export function hasBracketsDeeperThan(levels: number, json: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) {
      at = closingQuote(json, at + 1);
    } else if (byte === openingBrace || byte === openingBracket) {
      depth++;
      if (depth > levels) {
        return true;
      }
    } else if (byte === closingBrace || byte === closingBracket) {
      depth--;
    }
  }
  return false;
}
