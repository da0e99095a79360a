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
