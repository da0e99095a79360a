import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Plugin } from 'rolldown';

const byUrl = /new URL\(\s*'(\.[^']*\.\w+)',\s*import\.meta\.url,?\s*\)/g;

/**
 * Files that a module names as `new URL('./file', import.meta.url)` come into the bundle: modules (of threads) as entries
 * of their own, other files as they are.
 */
export function filesByUrl(): Plugin {
  return {
    name: 'files-by-url',
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: /import\.meta\.url/ },
      handler(code, id) {
        const replaced = code.replaceAll(byUrl, (_all, path: string) => {
          const file = resolve(dirname(id), path);
          const reference = file.endsWith('.ts')
            ? this.emitFile({ type: 'chunk', id: file, name: basename(file, '.ts') })
            : this.emitFile({
                type: 'asset',
                name: basename(file),
                originalFileName: file,
                source: readFileSync(file),
              });
          return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
        });
        // Within their lines, so that the source map stays as it is.
        return { code: replaced, map: null };
      },
    },
    generateBundle(_options, files) {
      const code = Object.values(files).flatMap((file) => (file.type === 'chunk' ? [file.code] : []));
      for (const { fileName, type } of Object.values(files)) {
        // Named only by code that was left out.
        if (type === 'asset' && fileName.startsWith('assets/') && !code.some((text) => text.includes(fileName))) {
          delete files[fileName];
        }
      }
    },
  };
}
