import { withoutControls } from './printable.ts';

/** `1 warning`, `2 warnings`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** The first few of a list of names, and how many more there are: `a, b and 3 more`. */
export function shortList(names: readonly string[], maxNamed: number): string {
  const shown = names.slice(0, maxNamed).join(', ');
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown;
}

/** Number of characters as the API server counts them: code points. */
export function charactersIn(text: string): number {
  let count = 0;
  for (const _character of text) {
    count++;
  }
  return count;
}

/** Width of text for people, in columns: that of most terminals. */
const usualWidth = 80;

/**
 * A paragraph in lines of at most `width` columns, unless a word is longer. The first line begins with `start`, others with
 * `margin`.
 */
export function paragraph(start: string, text: string, margin: string, width = usualWidth): string[] {
  const lines: string[] = [];
  let line = start;
  for (const word of withoutControls(text).split(' ')) {
    if (line.length + word.length > width && line.length > margin.length) {
      lines.push(line.trimEnd());
      line = margin;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

/** An error's message without Node.js' hint at `--use-system-ca`, wrong where a caBundle says whom to trust. */
export function withoutNodeHint(message: string): string {
  return message.split('; if the root CA is installed locally', 1)[0] as string;
}
