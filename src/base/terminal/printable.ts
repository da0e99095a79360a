import { truncated } from './truncated.ts';

/**
 * What untrusted text must not bring to a terminal or a log: control characters and line breaks, and characters that
 * change the direction of text (embeddings, overrides, isolates, and the marks U+061C, U+200E and U+200F, which move
 * adjacent punctuation), so that one name reads as another.
 */
const harmful = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** What the runner of a workflow takes for a command anywhere in a line: `##[group]`, in GitHub Actions and Azure. */
const commandStart = /##(?=\[|vso\[)/g;

/** Text of JSON that is printed, without the beginning of a runner's command. */
export function jsonWithoutCommands(json: string): string {
  return json.replaceAll(commandStart, '#\\u0023');
}

/**
 * Untrusted text of any length, with control characters and direction marks as escapes (`\u001b`), and without commands
 * to the runner of a workflow.
 */
export function withoutControls(text: string): string {
  return text
    .replaceAll(harmful, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll(commandStart, '#\\u0023');
}

/** Longest untrusted text that is shown, in characters. */
const maxShownLength = 1000;

/** The same for text that is part of a line: truncated after 1,000 characters. */
export function printable(text: string): string {
  return withoutControls(truncated(text, maxShownLength));
}
