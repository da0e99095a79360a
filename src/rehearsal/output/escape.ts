import { printable } from '../../terminal/index.ts';

/** Untrusted text for HTML: printable lines without markup. */
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
