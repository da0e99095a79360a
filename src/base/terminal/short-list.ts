/** The first few of a list of names, and how many more there are: `a, b and 3 more`. */
export function shortList(names: readonly string[], maxNamed: number): string {
  const shown = names.slice(0, maxNamed).join(', ');
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown;
}
