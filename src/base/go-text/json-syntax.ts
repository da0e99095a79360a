import { type Bytes, quotedRune, textOf } from './bytes.ts';

/** What Go's encoding/json says of a text that does not begin as JSON, or (`end`) ends too early; undefined for other mistakes. */
export function jsonSyntaxError(text: Bytes, end: string): string | undefined {
  const first = text.charAt(text.search(/[^ \t\r\n]|$/));
  if (first !== '' && !/[{["0-9tfn-]/.test(first)) {
    return `invalid character ${textOf(quotedRune(first.charCodeAt(0)))} looking for beginning of value`;
  }
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const [, at] = /position (\d+)/.exec(message) ?? [];
    return /end of JSON/.test(message) || Number(at) >= text.length ? end : undefined;
  }
}
