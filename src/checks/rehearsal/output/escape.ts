import { printable, withoutMarkup } from '../../../base/index.ts';

/** Untrusted text for HTML: printable lines without markup. */
export const escaped = (text: string): string => withoutMarkup(text.split('\n').map(printable).join('\n'));
