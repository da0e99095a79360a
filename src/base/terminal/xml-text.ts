import { printableXml } from './printable.ts';

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for HTML and XML, in which nothing is markup. */
export function withoutMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] as string);
}

/** Text for XML 1.0: markup is escaped, characters that XML does not allow (controls, lone surrogates) are dropped. */
export function xmlText(text: string): string {
  const allowed = text.toWellFormed().replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');
  return printableXml(withoutMarkup(allowed));
}
