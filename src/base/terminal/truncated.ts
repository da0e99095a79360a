/** A text of at most so many characters, and an ellipsis if it was longer. */
export function truncated(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}
