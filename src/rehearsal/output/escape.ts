import { printable } from '../../terminal/index.ts';

/** Text from outside as HTML shows it: each line printable, and nothing that a browser would obey. */
export const escaped = (text: string): string =>
  text
    .split('\n')
    .map(printable)
    .join('\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
