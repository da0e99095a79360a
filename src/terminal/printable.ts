/**
 * What untrusted text must not bring to a terminal or a log: control characters and line breaks; and what turns the
 * direction of text or belongs to it (embeddings, overrides, isolates, and the marks U+061C, U+200E and U+200F, which move the
 * punctuation beside them), so that a name reads as another.
 */
const harmful = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Untrusted text of any length, with control characters and what turns the direction of text as escapes (`\u001b`). */
export function withoutControls(text: string): string {
  return text.replaceAll(harmful, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Longest untrusted text that is shown, in characters. */
const maxShownLength = 1000;

/** The same for text that is only part of a line: it ends after 1,000 characters. */
export function printable(text: string): string {
  return withoutControls(text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text);
}
