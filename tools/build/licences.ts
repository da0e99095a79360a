import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/** The folder of the package that a module belongs to; undefined for our own. */
const packageOf = (id: string) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];

/** Name, version and licence of a package, and the texts that its folder has. */
function licenceOf(folder: string): { heading: string; text: string } {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const texts = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return {
    heading: `Name: ${name}\nVersion: ${version}\nLicence: ${license ?? 'see below'}\n`,
    text: texts.join('\n'),
  };
}

/** Adds THIRD-PARTY-LICENSES.txt: the licence of each package of which the bundle has code or files. */
export function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, output) {
      const modules = Object.values(output).flatMap((file) =>
        file.type === 'chunk' ? file.moduleIds : file.originalFileNames,
      );
      const folders = new Set(modules.flatMap((id) => packageOf(id) ?? []));
      const all = [...folders].filter((folder) => existsSync(join(folder, 'package.json'))).map(licenceOf);
      // A text that several packages have, such as the Apache License, is there once.
      const texts = [...Map.groupBy(all, ({ text }) => text)].map(([text, of]) =>
        [...of.map(({ heading }) => heading).toSorted(), text].join('\n'),
      );
      this.emitFile({
        type: 'asset',
        fileName: 'THIRD-PARTY-LICENSES.txt',
        source: `${texts.toSorted().join(`\n\n${'-'.repeat(80)}\n\n`)}\n`,
      });
    },
  };
}
