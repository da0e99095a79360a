import { readdirSync, readFileSync } from 'node:fs';

/** The folder of the project. */
export const root = new URL('../../', import.meta.url);

/** The pages of the documentation, in reading order. */
export const pages: readonly string[] = [
  'README.md',
  ...readdirSync(new URL('docs', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'certs/README.md',
];

/** The text of a page. */
export function readPage(page: string): string {
  return readFileSync(new URL(page, root), 'utf8');
}
