/** Longest untrusted text that is shown, in characters. */
const maxShownLength = 1000;

/**
 * Text from outside as it may be shown on a terminal or in a log: control characters, line breaks and what turns the
 * direction of text are written as escapes (`\u001b`), and it ends after 1,000 characters.
 */
export function printable(text: string): string {
  const shown = text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
  return shown.replaceAll(
    /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Untrusted text of any length, with control characters and what turns the direction of text replaced by U+FFFD. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}
