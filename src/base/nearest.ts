/** Number of single-character changes that turn one word into the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** Up to three names that are most similar to a word; those that contain it come first. */
export function nearestTo(word: string, names: readonly string[]): string[] {
  const text = word.slice(0, 64).toLowerCase();
  const rank = (name: string) => (text !== '' && name.includes(text) ? -1 : distance(text, name));
  return names
    .map((name) => ({ name, rank: rank(name) }))
    .filter((candidate) => candidate.rank <= Math.max(3, text.length / 2))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** A question about the names that are most similar to a word: `did you mean A or B?`. Without any, `otherwise`. */
export function didYouMean(word: string, names: readonly string[], otherwise: string): string {
  const nearest = nearestTo(word, names);
  return nearest.length === 0 ? otherwise : `did you mean ${nearest.join(' or ')}?`;
}
