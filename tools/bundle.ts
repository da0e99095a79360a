import { globSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/** `new URL('./name', import.meta.url)`, and with the extension of the module that says it: another module. */
const neighbours =
  /new URL\(\s*['`]\.\/([\w./-]+)(\$\{extname\(import\.meta\.url\)\})?['`],\s*import\.meta\.url,?\s*\)/g;
/** Stands for the bundle's folder until the place of a chunk is known. */
const bundleFolder = 'bundle-folder:/';

/**
 * Has `import.meta.url` in a chunk be what it would be in a file of the module's own, so that the sources find their
 * neighbours and what is in the package in both; and brings those neighbours: modules that threads and the module loader
 * start with become entries, other files are copied.
 */
function keepPlaces(sources: string, elsewhere: Readonly<Record<string, string>>): Plugin {
  const root = realpathSync(sources);
  return {
    name: 'keep-places',
    transform: {
      filter: { code: 'import.meta' },
      handler(code, id) {
        const other = /import\.meta\.(?!url\b)\w+/.exec(code)?.[0];
        if (other !== undefined) {
          this.error(`${other} would be that of a chunk in the bundle: use import.meta.url`);
        }
        const place = relative(root, id).replaceAll('\\', '/');
        for (const [, name = '', isModule] of code.matchAll(neighbours)) {
          const path = join(place, '..', name).replaceAll('\\', '/');
          if (isModule) {
            this.emitFile({ type: 'chunk', id: join(root, `${path}.ts`), fileName: `${path}.js` });
          } else {
            const source = readFileSync(elsewhere[path] ?? join(root, path));
            this.emitFile({ type: 'asset', source, fileName: path });
          }
        }
        const url = `new URL(${JSON.stringify(bundleFolder + place.replace(/ts$/, 'js'))}, import.meta.url).href`;
        return { code: code.replaceAll('import.meta.url', url), map: null };
      },
    },
    renderChunk(code, { fileName }) {
      const folder = '../'.repeat(fileName.split('/').length - 1) || './';
      return code.includes(bundleFolder) ? { code: code.replaceAll(bundleFolder, folder), map: null } : null;
    },
  };
}

/**
 * Bundles the program and the library: a start reads some 30 files instead of 200 and more. Both are one graph of chunks, so that nothing is there twice. What a command imports when it is called stays a
 * chunk of its own. Dependencies stay packages: their versions, licences and fixes are those that npm installs and audits.
 *
 * @param sources the folder of the sources.
 * @param target the folder to write to.
 * @param elsewhere files that a module names beside it in the bundle, by their path there: where they are before.
 * @throws {Error} which says what is wrong with the sources.
 */
export async function bundle(
  sources: string,
  target: string,
  elsewhere: Readonly<Record<string, string>> = {},
): Promise<void> {
  const entries = ['main.ts', ...globSync('library/*.ts', { cwd: sources })].map((file) => file.replaceAll('\\', '/'));
  await using build = await rolldown({
    input: Object.fromEntries(entries.map((file) => [file.replace(/\.ts$/, ''), join(sources, file)])),
    platform: 'node',
    // Whatever is not named by a path.
    external: /^(?![./]|[a-z]:[/\\])/i,
    tsconfig: false,
    plugins: [keepPlaces(sources, elsewhere)],
    // How long it took depends on what else the machine does; every other warning is about a mistake.
    checks: { bundlerTimings: false },
    onwarn(warning) {
      throw new Error(warning.message);
    },
  });
  await build.write({
    dir: target,
    format: 'esm',
    chunkFileNames: 'chunks/[name].js',
    minify: false,
    minifyInternalExports: false,
  });
}
